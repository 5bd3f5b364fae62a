// Head and gallery of the case studies. Python gives `view`; what is pressed goes back by its name.

/** The two searches of a case as small shapes: A is a square, B a ring; below them whether gold was kept. */
function tile(kind, { at, kept, open, pale, scripted, title }, tell) {
  const marks = h("span", `marks is-${kind}`, h("i", "mark-a"), h("i", "mark-b"));
  const node = button("tile", "", () => tell({ do: "open", at }));
  const said = { kept: "gold recalled", lost: "gold lost" }[kept] ?? "";
  node.append(marks, h("i", kept && `mark-${kept}`));
  node.classList.toggle("pale", pale);
  node.classList.toggle("scripted", scripted);
  return set(node, {
    title,
    "aria-label": [`${kind}: ${title}`, said].filter(Boolean).join(", "),
    "aria-current": open ? "true" : null,
    tabindex: open ? "0" : "-1",
  });
}

function chip(label, count, on, act) {
  const node = set(button("chip", `${label} `, act), { "aria-pressed": String(on) });
  node.classList.toggle("on", on);
  node.append(h("span", "n", count.toLocaleString("en")));
  node.disabled = !count && !on;
  return node;
}

function group(view, tell) {
  const more = (count, where) => count > 0 && h("span", "more", `${count.toLocaleString("en")} ${where}`);
  const tiles = view.tiles.map((each) => tile(view.kind, each, tell));
  const row = set(h("div", "tiles", more(view.before, "before") || "", tiles, more(view.after, "after") || ""), { role: "group", "aria-label": view.label });
  return h("div", "gg", chip(view.label, view.count, view.on, () => tell({ do: "only", kind: view.kind })), tiles.length ? row : "", h("p", "dim", view.rule));
}

function legend(lost, tell) {
  const key = (kept, words) => h("p", "key", h("i", `mark-${kept}`), words);
  return h("div", "gg last", chip(lost.label, lost.count, lost.on, () => tell({ do: "lost" })), key("kept", "gold recalled"), key("lost", "gold lost"));
}

/** Keeps keys inside the whole box, so also those of the texts and of the foot below. */
function keepKeys(el) {
  const undo = [shell(el)];
  const find = () => {
    const box = el.closest(".explorable");
    if (box) undo.push(shell(box));
    else if (undo.length) requestAnimationFrame(find);
  };
  find();
  return () => undo.splice(0).forEach((each) => each());
}

function render({ model, el }) {
  const free = keepKeys(el);
  const tell = (message) => model.send(message);
  const eyebrow = h("p", "eyebrow");
  const question = set(h("p", "question"), { dir: "auto" });
  const finding = set(h("p", "finding"), { role: "status" });
  const back = button("btn ic-back", "Previous", () => tell({ do: "step", by: -1 }));
  const forth = button("btn ic-forth", "Next case", () => tell({ do: "step", by: 1 }));
  const steps = h("div", "w-acts", back, forth);
  const all = set(h("div", "gal"), { role: "group", "aria-label": "Cases by kind" });
  el.classList.add("x-head");
  el.replaceChildren(h("header", "w-head", h("div", "", eyebrow, question, finding), steps), all);

  all.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by || !event.target.matches(".tile")) return;
    event.preventDefault();
    tell({ do: "step", by });
  });
  const chips = () => [...all.querySelectorAll(".chip")];
  const keepFocus = (change) => {
    const focused = all.contains(document.activeElement) ? document.activeElement : null;
    const place = chips().indexOf(focused);
    change();
    if (focused) (place < 0 ? all.querySelector("[aria-current]") : chips()[place])?.focus();
  };
  const update = () => {
    const view = model.get("view");
    eyebrow.textContent = view.eyebrow;
    question.textContent = `“${view.question}”`;
    if (finding.textContent !== view.finding) finding.textContent = view.finding;
    back.setAttribute("aria-disabled", String(!view.back));
    forth.setAttribute("aria-disabled", String(!view.forth));
    steps.hidden = all.hidden = !view.groups.length;
    keepFocus(() => all.replaceChildren(...view.groups.map((each) => group(each, tell)), view.lost ? legend(view.lost, tell) : ""));
  };
  model.on("change:view", update);
  update();
  return () => {
    model.off("change:view", update);
    free();
  };
}

export default { render };
