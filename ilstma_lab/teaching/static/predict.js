// A question before its truth: options to choose from, or a number. What is chosen goes to Python at once.

function render({ model, el }) {
  const unshell = shell(el);
  const options = model.get("options");
  const name = `guess-${model.model_id ?? Math.random()}`;
  const said = set(h("p", "dim"), { "aria-live": "polite" });

  const guess = (value) => {
    model.set("guess", value);
    model.save_changes();
  };
  const radio = (option) => {
    const input = set(h("input"), { type: "radio", name, value: option });
    input.addEventListener("change", () => guess(option));
    return set(h("label", "opt", input, h("span", "", option)), { dir: "auto" });
  };
  const number = () => {
    const input = set(h("input"), { type: "number", step: "any", "aria-label": model.get("question") });
    input.addEventListener("change", () => guess(input.value === "" || !Number.isFinite(input.valueAsNumber) ? null : input.valueAsNumber));
    return h("label", "opt", input, h("span", "mid", model.get("unit")));
  };

  const inputs = options.length ? options.map(radio) : [number()];
  const legend = set(h("legend", "", h("span", "eyebrow", "Predict"), model.get("question")), { dir: "auto" });
  el.replaceChildren(h("section", "w", h("fieldset", "predict", legend, h("div", "opts", inputs), said)));

  const draw = () => {
    const kept = model.get("guess");
    for (const input of el.querySelectorAll("input")) {
      if (input.type === "radio") input.checked = input.value === kept;
      else if (input !== document.activeElement) input.value = kept === null ? "" : String(kept);
    }
    if (kept === null) said.textContent = "No guess yet: commit to one before you go on.";
    else said.textContent = model.get("told") || "Kept. You can change it until you see the truth.";
  };
  model.on("change:guess change:told", draw);
  draw();
  return () => {
    model.off("change:guess change:told", draw);
    unshell();
  };
}

export default { render };
