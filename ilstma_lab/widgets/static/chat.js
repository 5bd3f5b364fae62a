// The chat beside the five segments. It draws `view` and `live` as Python gives them, and tells Python what was pressed.

const badge = (outcome) => h("span", `badge ${outcome}`, outcome[0].toUpperCase() + outcome.slice(1));
const chip = (row, role, dirty) => h("span", `rc ${role}${dirty ? " dirty" : ""}`, String(row));
const sentence = (parts) => parts.map((part) => (typeof part === "string" ? part : chip(part.row, part.role)));
const sized = (cls, style) => Object.assign(h("i", cls), { style });
const said = (cls, text) => set(h("p", cls, text), { dir: "auto" });

function arithmetic({ time, place, score, time_share, place_share, where }) {
  const bars = h("span", "sb", sized("bt", `width:${time_share}`), sized("bp", `width:${place_share}`));
  const sum = h("span", "", h("span", "t", `time ${time}`), " + ", h("span", "p", `place ${place}`), " = ", h("b", "", score));
  return h("div", "arith", bars, sum, h("span", "dim", where));
}

function turnNode(turn, retry) {
  const guess = turn.guess && h("span", "dim", turn.guess === turn.outcome ? `you guessed ${turn.guess}: right` : `you guessed ${turn.guess}`);
  const meta = h("div", "meta", badge(turn.outcome), h("span", "", turn.seconds), h("b", "", turn.why.title), guess);
  const why = h("div", "why", meta, h("p", "said", sentence(turn.why.sentence)), turn.why.arithmetic && arithmetic(turn.why.arithmetic));
  const failure = turn.failure && h("div", "fail", turn.failure, " ", button("btn retry", "Try again", retry));
  return h("li", "talk", said("q", turn.question), turn.answer && said("answer", turn.answer), failure, why);
}

function liveNode(live) {
  const done = new Set(live.steps);
  const pipes = [1, 2, 3, 4, 6, 5, 9].map((number) => h("i", done.has(number) ? "done" : "", String(number)));
  return h("li", "talk", said("q", live.question), live.answer && said("answer", live.answer), h("div", "pipes", pipes, h("span", "", live.doing)));
}

function segment(card) {
  const tokens = set(h("span", "tok", card.tokens), { title: "tokens, estimated" });
  const top = h("div", "end", h("h3", "", card.label), h("span", "rule", card.rule), tokens);
  const rows = card.rows.map(([row, text, score]) => h("li", "", chip(row, card.role), said("cut", text), h("span", "num dim", score)));
  const queue = card.queue && h("div", "queue", card.queue.map((outcome) => place(outcome)), h("span", "", card.text));
  return h("div", `sg is-${card.name}${card.empty ? " empty" : ""}`, top, rows.length ? h("ul", "rows", rows) : queue || said(`say${card.empty ? " dim" : ""}`, card.text));
}

const place = (taken) => h("i", taken ? "" : "free");

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
  const bars = costs.bars.map((bar) => h("div", bar.outcome === "hit" ? "is-cache" : "is-relevant", bar.label, sized("", `height:${bar.height}px`)));
  const line = costs.line === null ? null : sized("ref", `bottom:${costs.line}px;height:0`);
  const numbers = costs.bars.map((bar) => h("span", "", String(bar.number)));
  const chart = set(h("div", "bars", bars, line), { role: "img", "aria-label": costs.aloud });
  const top = h("div", "end", h("h3", "lab", "Seconds a turn"), h("span", "mid", costs.saved));
  return h("div", "box-card", top, chart, set(h("div", "nos", numbers), { "aria-hidden": "true" }), costs.note && h("p", "dim", costs.note));
}

function composer(model, tell) {
  const box = set(h("textarea"), { rows: "1", placeholder: "Ask about what was said …", "aria-label": "Your question" });
  const ask = button("btn pri", "Ask", () => send());
  const guesses = ["hit", "miss"].map((guess) => set(button("", guess === "hit" ? "Hit" : "Miss", () => choose(guess)), { "aria-pressed": "false" }));
  const score = h("span");
  const problem = set(h("div"), { role: "alert" });
  let chosen = null;
  let kept = "";

  const choose = (guess) => {
    chosen = chosen === guess ? null : guess;
    guesses.forEach((node, at) => node.setAttribute("aria-pressed", String(chosen === ["hit", "miss"][at])));
  };
  const grow = () => {
    box.style.height = "auto";
    box.style.height = `${box.scrollHeight}px`;
  };
  const fill = (text) => {
    box.value = text;
    grow();
    box.focus();
  };
  const send = () => {
    if (model.get("busy") || !box.value.trim()) return;
    tell({ do: "ask", question: box.value, guess: chosen });
    fill("");
    choose(null);
  };
  box.addEventListener("input", grow);
  box.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send();
  });

  const update = () => {
    const error = model.get("error");
    problem.replaceChildren(...(error.message ? [h("div", "fail alarm", error.message)] : []));
    // what could not be answered comes back to be asked again, and leaves when it has been
    if (error.question && !box.value) box.value = kept = error.question;
    else if (!error.question && kept && box.value === kept) box.value = kept = "";
    grow();
    score.textContent = model.get("view").score;
    ask.disabled = model.get("busy");
    ask.textContent = model.get("busy") ? "Thinking …" : "Ask";
  };
  const group = set(h("span", "segd", guesses), { role: "group", "aria-label": "Guess first: hit or miss" });
  const node = h("div", "comp", problem, h("div", "box", box, h("div", "row", "Guess first:", group, score, ask)));
  return { node, update, fill };
}

function render({ model, el }) {
  const unshell = shell(el);
  const tell = (message) => model.send(message);
  const head = h("header", "w-head");
  const turns = set(h("ol", "turns"), { role: "log", "aria-live": "polite", "aria-label": "Conversation", tabindex: "0" });
  const chips = set(h("div", "asks-first"), { role: "group", "aria-label": "Suggested questions" });
  const memory = set(h("div", "rgt"), { role: "region", "aria-label": "Short-term memory" });
  const compose = composer(model, tell);
  const chat = h("div", "chat", h("div", "lft", turns, chips, compose.node), memory);
  el.replaceChildren(h("section", "w", head, chat));
  let shown = [];
  let live = null;

  const toEnd = () => requestAnimationFrame(() => (turns.scrollTop = turns.scrollHeight));
  const drawHead = (view) => {
    const day = view.clock && h("div", "clock", set(h("span", "", view.clock.day), { title: "The clock of this lab" }), view.clock.moves && button("btn", "+ 1 day", () => tell({ do: "day" })));
    const left = h("div", "", h("p", "eyebrow", view.eyebrow), h("p", "finding", view.finding), view.sub && h("p", "sub", view.sub));
    const focused = head.contains(document.activeElement);
    head.replaceChildren(left, h("div", "w-acts", day || ""));
    if (focused) head.querySelector("button")?.focus();
  };
  const drawTurns = (view) => {
    const keys = view.turns.map((turn) => turn.key);
    const kept = shown.every((key, at) => key === keys[at]);
    if (!kept) turns.replaceChildren();
    const fresh = view.turns.slice(kept ? shown.length : 0).map((turn) => turnNode(turn, () => tell({ do: "retry" })));
    if (!keys.length) turns.replaceChildren(h("li", "dim", view.invitation));
    else if (!shown.length) turns.replaceChildren();
    turns.append(...fresh);
    shown = keys;
    if (fresh.length) toEnd();
  };
  const drawLive = () => {
    const state = model.get("live");
    live?.remove();
    live = state.question ? liveNode(state) : null;
    if (!live) return;
    if (!shown.length) turns.replaceChildren();
    turns.append(live);
    toEnd();
  };
  const drawChips = (view) => {
    chips.replaceChildren(...view.questions.map((question) => set(button("chip", question, () => compose.fill(question)), { dir: "auto" })));
    chips.hidden = !view.questions.length;
  };
  const drawMemory = (view) => {
    const focused = memory.contains(document.activeElement);
    const stack = set(h("div", "stack", view.memory.cards.map((card) => sized(`is-${card.name}`, `width:${card.share}%`))), { role: "img", "aria-label": view.memory.budget });
    const top = h("div", "end", h("h3", "lab", "Short-term memory"), h("span", "mid", view.memory.budget));
    const cards = [h("div", "segs", view.memory.cards.map(segment)), waitingCard(view.waiting, () => tell({ do: "write" })), costCard(view.costs)];
    memory.replaceChildren(top, stack, ...cards.filter(Boolean));
    if (focused) compose.node.querySelector("textarea").focus();
  };
  const drawView = () => {
    const view = model.get("view");
    drawHead(view);
    drawTurns(view);
    drawChips(view);
    drawMemory(view);
    compose.update();
  };

  model.on("change:view", drawView);
  model.on("change:live", drawLive);
  model.on("change:busy change:error", compose.update);
  drawView();
  drawLive();
  return () => {
    model.off("change:view", drawView);
    model.off("change:live", drawLive);
    model.off("change:busy change:error", compose.update);
    unshell();
  };
}

export default { render };
