// The chat beside the five segments. It draws `view` and `live` as Python gives them, and tells Python what was pressed.

const UNFOLDED = 4;

function composer(model, tell) {
  const box = set(h("textarea"), { rows: "1", placeholder: "Ask about what was said …", "aria-label": "Your question" });
  const ask = iconed("up", "pri", "Ask", () => send());
  const stop = iconed("stop", "", "Stop", () => tell({ do: "stop" }), "End this answer; the question stays");
  const guesses = ["hit", "miss"].map((guess) => set(button("", guess === "hit" ? "Hit" : "Miss", () => choose(guess)), { "aria-pressed": "false" }));
  const score = h("span");
  const problem = set(h("div"), { role: "alert" });
  let chosen = null;
  let sent = ""; // what Python was asked, until it says that it has it
  let kept = "";

  const choose = (guess) => {
    chosen = chosen === guess ? null : guess;
    guesses.forEach((node, at) => node.setAttribute("aria-pressed", String(chosen === ["hit", "miss"][at])));
  };
  const grow = () => {
    box.style.height = "auto";
    box.style.height = `${box.scrollHeight}px`;
  };
  const put = (text) => {
    box.value = text;
    grow();
  };
  const fill = (text) => {
    put(text);
    box.focus();
  };
  const send = () => {
    if (model.get("busy") || !box.value.trim()) return;
    sent = box.value;
    tell({ do: "ask", question: sent, guess: chosen });
    choose(null);
    box.focus();
  };
  box.addEventListener("input", grow);
  box.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape" && model.get("live").question) tell({ do: "stop" });
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send();
  });

  const update = () => {
    const [live, busy] = [model.get("live"), model.get("busy")];
    if (live.question && sent && box.value === sent) put("");
    if (live.question) sent = "";
    score.textContent = model.get("view").score;
    guessing.hidden = !model.get("view").judges;
    const focused = document.activeElement;
    stop.hidden = !live.question;
    ask.hidden = !stop.hidden;
    ask.disabled = busy;
    if ((focused === stop || focused === ask) && focused.hidden) box.focus();
  };
  /** What could not be answered comes back to be asked again, and leaves when it has been. */
  const offer = () => {
    const error = model.get("error");
    problem.replaceChildren(...(error.message ? [h("div", "fail alarm", error.message)] : []));
    if (error.question && (!box.value || box.value === kept)) put((kept = error.question));
    else if (!error.question && kept && box.value === kept) put((kept = ""));
  };
  const group = set(h("span", "segd", guesses), { role: "group", "aria-label": "Guess first: hit or miss" });
  const guessing = h("span", "guessing", "Guess first:", group, score);
  const node = h("div", "comp", problem, h("div", "box", box, h("div", "row", guessing, ask, stop)));
  return { node, update, offer, fill };
}

/** The turns: earlier ones folded above, the last ones below, then what is open or comes in. */
function conversation(model, acts) {
  const earlier = set(h("ol", "earlier"), { "aria-label": "Earlier turns" });
  const turns = set(h("ol", "turns"), { role: "log", "aria-live": "polite", "aria-label": "Conversation", tabindex: "0" });
  const folded = new Map();
  let shown = [];
  let last = null;

  const toEnd = () => requestAnimationFrame(() => (turns.scrollTop = turns.scrollHeight));
  const fold = (view) => {
    const old = view.turns.slice(0, -UNFOLDED);
    for (const turn of old) if (!folded.has(turn.key)) folded.set(turn.key, foldedNode(turn, acts));
    const nodes = old.map((turn) => folded.get(turn.key));
    if (nodes.length !== earlier.childElementCount || nodes.at(-1) !== earlier.lastElementChild) earlier.replaceChildren(...nodes);
    earlier.hidden = !old.length;
    earlier.scrollTop = earlier.scrollHeight;
  };
  const draw = () => {
    const view = model.get("view");
    const all = view.turns.map((turn) => JSON.stringify(turn));
    const goesOn = all.length >= shown.length && shown.every((turn, at) => turn === all[at]);
    if (!goesOn) folded.clear();
    fold(view);
    const first = Math.max(0, all.length - UNFOLDED);
    const kept = goesOn ? [...turns.querySelectorAll(":scope > [data-key]")].filter((node) => Number(node.dataset.key) >= first) : [];
    const fresh = view.turns.slice(first + kept.length).map((turn, at) => set(turnNode(turn, acts), { "data-key": first + kept.length + at }));
    const none = view.turns.length ? [] : [pastNode(view)];
    turns.replaceChildren(...none, ...kept, ...fresh);
    shown = all;
    last = null;
    if (fresh.length || !goesOn) toEnd();
    drawLast();
    mark();
  };
  const drawLast = () => {
    const [live, open] = [model.get("live"), model.get("view").open];
    last?.remove();
    last = live.question ? liveNode(live, model.get("view").steps) : open && !model.get("busy") ? openNode(open, acts) : null;
    if (!last) return;
    if (live.question) turns.querySelector(".past")?.remove();
    turns.append(last);
    toEnd();
  };
  const mark = () => {
    for (const node of [...turns.querySelectorAll("[data-turn]"), ...earlier.querySelectorAll("[data-turn]")])
      set(node, { "aria-pressed": String(Number(node.dataset.turn) === model.get("playing")) });
  };
  return { nodes: [earlier, turns], draw, drawLast, mark };
}

/** Finding, clock and what opens the panels. */
function header(model, tell) {
  const [eyebrow, finding, sub] = [h("p", "eyebrow"), h("p", "finding"), h("p", "sub")];
  const day = h("span", "ic ic-clock");
  const skips = h("span", "skips");
  const clock = set(h("div", "clock", day, skips), { role: "group", "aria-label": "The clock of this lab" });
  const undo = iconed("undo", "only", "", () => tell({ do: "undo" }), "Take back the last turn");
  const memory = memoryPanel(model, tell);
  const imports = importPanel(model, tell);
  const panels = new Map();
  const place = h("div", "panels");
  let open = null;

  const show = (name) => {
    const before = panels.get(open);
    open = open === name ? null : name;
    for (const [key, { opener, region }] of panels) {
      region.hidden = key !== open;
      set(opener, { "aria-expanded": String(key === open) });
    }
    if (open) panels.get(open).first.focus();
    else before?.opener.focus();
  };
  const panel = (name, label, icon, { node, draw, first }) => {
    const opener = set(iconed(icon, "", label, () => show(name)), { "aria-expanded": "false" });
    const region = set(h("div", "panel", node), { role: "region", "aria-label": label });
    region.hidden = true;
    region.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      show(name);
    });
    place.append(region);
    panels.set(name, { opener, region, draw, first });
    return opener;
  };
  const chooser = panel("memory", "Memory and model", "down", memory);
  const acts = [clock, chooser, undo, panel("import", "Import", "import", imports), panel("export", "Export", "export", exportPanel(tell))];
  const node = h("header", "w-head", h("div", "", eyebrow, finding, sub), h("div", "w-acts", acts));

  const draw = () => {
    const [view, busy] = [model.get("view"), model.get("busy")];
    [eyebrow.textContent, finding.textContent, sub.textContent] = [view.eyebrow, view.finding, view.sub];
    sub.hidden = !view.sub;
    day.textContent = view.clock.day;
    if (!skips.childElementCount) skips.append(...view.skips.map((days) => set(button("btn", `+${days}`, () => tell({ do: "skip", days })), { title: `Let ${days} ${days === 1 ? "day" : "days"} pass` })));
    skips.hidden = !view.clock.moves;
    chooser.replaceChildren(h("span", "cut", view.setup.offline ? "Offline" : view.setup.models));
    set(chooser, { "aria-label": `Memory and model: ${view.setup.present}, ${view.setup.models}`, title: "Choose memory and model" });
    undo.disabled = busy || (!view.turns.length && !view.open);
    for (const each of skips.children) each.disabled = busy;
    for (const each of panels.values()) each.draw();
  };
  const drawTask = () => {
    for (const each of panels.values()) each.draw();
    const { panel, state, notes } = model.get("task");
    if (open === "memory" && panel === open && state === "done" && !notes.length) show("memory"); // done, with nothing to say
  };
  return { nodes: [node, place], draw, drawTask, received: imports.receive };
}

function footer(model, acts) {
  const words = said("", "");
  const play = iconed("player", "ghost", "", () => acts.play(model.get("playing") >= 0 ? model.get("playing") : latest()));
  const whatIf = iconed("undo", "ghost", "What if …", () => acts.whatIf(latest()));
  const latest = () => model.get("view").turns.at(-1).key;
  const node = h("footer", "foot", h("b", "", "Try this"), words, h("span", "hand", whatIf, play));
  const draw = () => {
    const view = model.get("view");
    const turn = view.turns.at(-1);
    words.textContent = view.try_this;
    play.hidden = !turn || !view.judges;
    whatIf.hidden = play.hidden || Boolean(turn.failure);
    if (turn) play.textContent = model.get("playing") >= 0 ? "Close the player" : `Open turn ${turn.number} in the player`;
  };
  return { node, draw };
}

/** Brings into sight what was opened below the chat. */
function showBelow(el, patience = 60) {
  const below = el.closest(".chat-lab")?.children[1];
  if (below) below.scrollIntoView({ block: "nearest" });
  else if (patience) requestAnimationFrame(() => showBelow(el, patience - 1));
}

function render({ model, el }) {
  const unshell = shell(el);
  el.classList.add("chatlab");
  const tell = (message) => model.send(message);
  let asked = false; // whether the player is opened from here
  const acts = {
    nine: () => model.get("view").judges,
    retry: () => tell({ do: "retry" }),
    play: (turn) => {
      asked = model.get("playing") !== turn;
      tell(asked ? { do: "play", turn } : { do: "close" });
    },
    whatIf: (turn) => tell({ do: "what_if", turn }),
  };
  const top = header(model, tell);
  const talk = conversation(model, acts);
  const chips = set(h("div", "asks-first"), { role: "group", "aria-label": "Suggested questions" });
  const memory = set(h("div", "rgt"), { role: "region", "aria-label": "Short-term memory" });
  const compose = composer(model, tell);
  const foot = footer(model, acts);
  const chat = h("div", "chat", h("div", "lft", talk.nodes, chips, compose.node), memory);
  el.replaceChildren(h("section", "w", top.nodes, chat, foot.node));

  const drawChips = (view) => {
    chips.replaceChildren(...view.questions.map((question) => set(button("chip", question, () => compose.fill(question)), { dir: "auto" })));
    chips.hidden = !view.questions.length;
  };
  const drawMemory = (view) => {
    const focused = memory.contains(document.activeElement);
    const [used, rest] = view.memory.budget;
    const stack = set(h("div", "stack", view.memory.cards.map((card) => sized(`is-${card.name}`, `width:${card.share}%`))), { role: "img", "aria-label": `${used} ${rest}` });
    const head = h("div", "end", h("h3", "lab", "Short-term memory"), h("span", "mid", h("b", "", used), ` ${rest}`));
    const cards = [h("div", "segs", view.memory.cards.map(segment)), view.not_here && h("p", "not-here dim", view.not_here), waitingCard(view.waiting, () => tell({ do: "write" })), costCard(view.costs)];
    memory.replaceChildren(head, stack, ...cards.filter(Boolean));
    if (focused) compose.node.querySelector("textarea").focus();
  };
  const drawView = () => {
    const view = model.get("view");
    top.draw();
    talk.draw();
    drawChips(view);
    drawMemory(view);
    compose.update();
    foot.draw();
  };
  const drawLive = () => {
    talk.drawLast();
    compose.update();
  };
  const drawBusy = () => {
    top.draw();
    drawLive();
  };
  const drawPlaying = () => {
    talk.mark();
    foot.draw();
    if (asked && model.get("playing") >= 0) showBelow(el);
    asked = false;
  };
  const hear = (message) => ("save" in message ? save(message) : "received" in message ? top.received(message.received) : null);
  const heard = { "change:view": drawView, "change:live": drawLive, "change:busy": drawBusy, "change:error": compose.offer, "change:task": top.drawTask, "change:playing": drawPlaying, "msg:custom": hear };

  for (const [event, act] of Object.entries(heard)) model.on(event, act);
  drawView();
  compose.offer();
  return () => {
    for (const [event, act] of Object.entries(heard)) model.off(event, act);
    unshell();
  };
}

export default { render };
