// What the chat consists of: a turn, the answer that is coming, a question left open, a segment, what waits, what it cost.

const badge = (outcome) => h("span", `badge ${outcome}`, outcome[0].toUpperCase() + outcome.slice(1));
const chip = (row, role, dirty) => h("span", `rc ${role}${dirty ? " dirty" : ""}`, String(row));
const sentence = (parts) => parts.map((part) => (typeof part === "string" ? part : chip(part.row, part.role)));
const sized = (cls, style) => Object.assign(h("i", cls), { style });
const said = (cls, text) => set(h("p", cls, text), { dir: "auto" });
const place = (taken) => h("i", taken ? "" : "free");

/** A button with an icon before its words; without words it needs a title. */
const iconed = (icon, cls, label, act, title = null) => set(button(`btn ic ic-${icon} ${cls}`, label, act), { title, "aria-label": label ? null : title });

function arithmetic({ time, place, score, time_share, place_share, where }) {
  const bars = h("span", "sb", sized("bt", `width:${time_share}`), sized("bp", `width:${place_share}`));
  const sum = h("span", "", h("span", "t", `time ${time}`), " + ", h("span", "p", `place ${place}`), " = ", h("b", "", score));
  return h("div", "arith", bars, sum, h("span", "dim", where));
}

function whyNode(turn, acts) {
  const guess = turn.guess && h("span", "dim", turn.guess === turn.outcome ? `you guessed ${turn.guess}: right` : `you guessed ${turn.guess}`);
  const play = set(iconed("player", "ghost", "Player", () => acts.play(turn.key)), { "data-turn": turn.key, title: `Turn ${turn.number}, step by step` });
  const whatIf = turn.failure ? null : set(iconed("undo", "ghost", "What if …", () => acts.whatIf(turn.key)), { title: `Turn ${turn.number} with other settings` });
  const meta = h("div", "meta", badge(turn.outcome), h("span", "", turn.seconds), h("b", "", turn.why.title), guess, acts.nine() ? h("span", "hand", whatIf, play) : null);
  const notes = turn.notes.map((note) => h("p", "alarm", note));
  return h("div", "why", meta, h("p", "said", sentence(turn.why.sentence)), turn.why.arithmetic && arithmetic(turn.why.arithmetic), notes);
}

function turnNode(turn, acts) {
  const failure = turn.failure && h("div", "fail", turn.failure, " ", button("btn retry", "Try again", acts.retry));
  return h("li", "talk", said("q", turn.question), turn.answer && said("answer", turn.answer), failure, whyNode(turn, acts));
}

/** An earlier turn on one line, which unfolds. */
function foldedNode(turn, acts) {
  const top = h("summary", "", badge(turn.outcome), said("cut", turn.question), h("span", "num dim", turn.seconds));
  const answer = turn.answer && said("answer", turn.answer);
  return h("li", "", h("details", "", top, h("div", "talk", said("q", turn.question), answer, turn.failure && h("div", "fail", turn.failure), whyNode(turn, acts))));
}

function liveNode(live, steps) {
  const done = new Set(live.steps);
  const pipes = steps.map((number) => h("i", done.has(number) ? "done" : "", String(number)));
  return h("li", "talk", said("q", live.question), live.answer && said("answer", live.answer), h("div", "pipes", pipes, h("span", "", live.doing)));
}

function openNode(open, acts) {
  const begun = open.answer && said("answer dim", `${open.answer} …`);
  const again = h("div", "open", h("span", "", open.words), button("btn retry", "Ask it again", acts.retry));
  return h("li", "talk", said("q", open.question), begun, again);
}

/** Where the conversation goes on: the last rows of the memory. */
function pastNode(view) {
  const rows = view.past.map(({ row, text, day }) => h("li", "", chip(row, ""), said("cut", text), h("span", "num dim", day)));
  return h("li", "past", h("p", "dim", view.invitation), rows.length ? h("p", "dim", "The memory ends with") : "", h("ul", "rows", rows));
}

function segment(card) {
  const tokens = set(h("span", "tok", card.tokens), { title: "tokens, estimated" });
  const top = h("div", "end", h("h3", "", card.label), h("span", "rule", card.rule), tokens);
  const rows = card.rows.map(([row, text, score]) => h("li", "", chip(row, card.role), said("cut", text), h("span", "num dim", score)));
  const queue = card.queue && h("div", "queue", card.queue.map((taken) => place(taken)), h("span", "", card.text));
  const text = card.text && (!rows.length || card.name === "forgotten") && said(`say${card.empty ? " dim" : ""}`, card.text);
  return h("div", `sg is-${card.name}${card.empty ? " empty" : ""}`, top, queue || text, rows.length ? h("ul", "rows", rows) : "");
}

function waitingCard(waiting, write) {
  if (!waiting.length) return null;
  const change = ([before, after]) => [`${before} `, h("span", "dim", "→"), " ", h("b", "", after)];
  const rows = waiting.map((w) => h("tr", "", h("td", "", chip(w.row, "", true)), h("td", "mid", change(w.last)), h("td", "num", change(w.recalls)), h("td", "num", change(w.strength))));
  const heads = [["", "row"], ["", "last recall"], ["num", "recalls"], ["num", "strength S"]].map(([cls, text]) => set(h("th", cls, text), { scope: "col" }));
  const top = h("div", "end", h("h3", "lab", "Waiting to be written ", h("span", "", waiting.length === 1 ? "1 row" : `${waiting.length} rows`)), button("btn ghost", "Write now", write));
  const note = h("p", "dim", "Written in one go before the next miss overwrites the cache, and at close.");
  return h("div", "box-card", top, h("table", "grid", h("thead", "", h("tr", "", heads)), h("tbody", "", rows)), note);
}

function costCard(costs) {
  if (!costs.bars.length) return null;
  const bars = costs.bars.map((bar) => h("div", bar.outcome === "hit" ? "is-cache" : "is-relevant", h("span", "", bar.label), sized("", `height:${bar.height}px`)));
  const line = costs.line === null ? null : sized("ref", `bottom:${costs.line}px;height:0`);
  const numbers = costs.bars.map((bar) => h("span", "", String(bar.number)));
  const chart = set(h("div", "bars", bars, line), { role: "img", "aria-label": costs.aloud });
  const beside = costs.note && set(h("p", "beside", costs.note), { title: costs.of, style: `bottom:${Math.max(costs.line, 20)}px` });
  const top = h("div", "end", h("h3", "lab", "Seconds a turn"), h("span", "mid", costs.saved));
  return h("div", "box-card", top, h("div", "cost", chart, beside), set(h("div", "nos", numbers, h("span", "of", "turn")), { "aria-hidden": "true" }));
}
