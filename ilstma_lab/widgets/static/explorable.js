// The frame of an explorable: head, presets and foot. Python gives `view`; what is pressed goes back by its name.

async function copy(text, pressed) {
  const label = pressed.textContent;
  try {
    await navigator.clipboard.writeText(text);
    pressed.textContent = "Copied";
  } catch {
    pressed.textContent = "Not allowed here";
  }
  setTimeout(() => {
    pressed.textContent = label;
  }, 1200);
}

function save(text, name) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  set(h("a"), { href: url, download: `${name}.json` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Rules for all controls around: keys stay inside, a slider says its name. */
function guard(el) {
  let undo = () => {};
  const name = ({ target }) => {
    if (!target.matches(".noUi-handle")) return;
    const words = target.closest(".jupyter-widgets")?.querySelector(".widget-label");
    if (words) target.setAttribute("aria-label", words.innerText.replaceAll("\n", " ").trim());
  };
  const find = () => {
    if (!el.isConnected) return requestAnimationFrame(find);
    const root = el.closest(".explorable");
    if (!root) return 0;
    const unshell = shell(root);
    root.addEventListener("focusin", name);
    for (const target of root.querySelectorAll(".noUi-handle")) name({ target });
    undo = () => {
      unshell();
      root.removeEventListener("focusin", name);
    };
    return 0;
  };
  find();
  return () => undo();
}

function headPart(el, get, tell) {
  const eyebrow = h("p", "eyebrow");
  const finding = set(h("p", "finding"), { role: "status" });
  const sub = h("p", "sub");
  const busy = set(h("span", "busy"), { role: "status" });
  const problem = set(h("div"), { role: "alert" });
  const table = button("btn", "Show as table", () => tell({ do: "table" }));
  const reset = button("btn ic-reset", "", () => tell({ do: "reset" }));
  el.replaceChildren(h("header", "w-head", h("div", "", eyebrow, finding, sub), h("div", "w-acts", busy, table, reset)), problem);
  return () => {
    const view = get();
    eyebrow.textContent = view.eyebrow;
    if (finding.textContent !== view.finding) finding.textContent = view.finding ?? "";
    sub.textContent = view.sub ?? "";
    sub.hidden = !view.sub;
    reset.textContent = view.reset;
    table.setAttribute("aria-pressed", String(Boolean(view.as_table)));
    busy.textContent = view.busy ? "Computing …" : "";
    problem.replaceChildren(...(view.error ? [h("p", "fail alarm", view.error)] : []));
  };
}

function presetsPart(el, get, tell) {
  const chips = h("div", "chips");
  const yours = set(h("span", "chip on", "Yours"), { "aria-current": "true" });
  const nodes = new Map();
  el.replaceChildren(h("h3", "lab", "Presets"), chips);
  return () => {
    const { presets = [], yours: own } = get();
    for (const [name] of presets) if (!nodes.has(name)) nodes.set(name, button("chip", name, () => tell({ do: "preset", name })));
    for (const [name, on] of presets) {
      nodes.get(name).classList.toggle("on", on);
      nodes.get(name).setAttribute("aria-pressed", String(on));
    }
    el.hidden = !presets.length;
    yours.hidden = !own;
    if (!chips.childElementCount) chips.append(...nodes.values(), yours);
  };
}

function footPart(el, get) {
  const code = h("code");
  const strip = h("div", "code", h("span", "dim", "Python"), code, button("btn ic-copy", "Copy", (event) => copy(get().code, event.currentTarget)));
  const row = h("div", "pyrow", strip);
  const words = h("span");
  const hint = h("p", "try", h("b", "", "Try this"), words);
  const state = button("btn ghost ic-save", "State as JSON", () => save(get().state, get().name));
  const python = button("btn ghost ic-copy", "Copy as Python", (event) => copy(get().python, event.currentTarget));
  el.replaceChildren(row, h("footer", "w-foot", hint, h("div", "w-acts", state, python)));
  return () => {
    const view = get();
    row.hidden = !view.code;
    code.textContent = (view.code ?? "").trim().split("\n").at(-1);
    words.textContent = view.try_this;
    hint.hidden = !view.try_this;
  };
}

const PARTS = { head: headPart, presets: presetsPart, foot: footPart };

function render({ model, el }) {
  const part = model.get("part");
  el.classList.add(`x-${part}`);
  const update = PARTS[part](el, () => model.get("view"), (message) => model.send(message));
  const unguard = part === "head" ? guard(el) : () => {};
  model.on("change:view", update);
  update();
  return () => {
    model.off("change:view", update);
    unguard();
  };
}

export default { render };
