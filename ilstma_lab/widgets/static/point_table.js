// A table of number fields, one point a row; the last row is empty and waits for another point.

const read = (text) => text.split(",").map((pair) => pair.trim().split(/\s+/)).filter((pair) => pair.length === 2);

function render({ model, el }) {
  const unshell = shell(el);
  const body = h("tbody");
  const head = h("thead", "", h("tr", "", h("th", "", "n"), h("th", "", "S in days"), h("th", "", "")));
  const label = h("p", "points-label", model.get("label"));
  el.classList.add("points");
  el.replaceChildren(label, h("table", "grid", head, body));

  const written = () => {
    const rows = [...body.rows].map((row) => [...row.querySelectorAll("input")].map((field) => field.value.trim()));
    return rows.filter(([n, days]) => n && days).map((row) => row.join(" ")).join(", ");
  };
  const collect = () => {
    model.set("value", written());
    model.save_changes();
  };
  const field = (value, name, step) => {
    const input = set(h("input"), { type: "number", step, min: "0", "aria-label": name, value });
    input.addEventListener("change", collect);
    return h("td", "", input);
  };
  const remove = (node) => {
    const next = node.nextElementSibling ?? node.previousElementSibling;
    node.remove();
    next?.querySelector("input").focus();
    collect();
  };
  const row = ([n, days], at) => {
    const drop = set(button("drop", "×", () => remove(node)), { "aria-label": `Remove point ${at + 1}`, title: "Remove" });
    const node = h("tr", "", field(n, `Point ${at + 1}: recalls n`, "1"), field(days, `Point ${at + 1}: S in days`, "any"), h("td", "", drop));
    return node;
  };
  // what the reader has written himself stays as it is, so that the focus is not lost
  const fill = () => {
    const value = model.get("value");
    if (!body.rows.length || written() !== value) body.replaceChildren(...read(value).map(row));
    const last = [...(body.lastElementChild?.querySelectorAll("input") ?? [])];
    if (!last.length || last.some((input) => input.value)) body.append(row(["", ""], body.rows.length));
  };
  model.on("change:value", fill);
  fill();
  return () => {
    model.off("change:value", fill);
    unshell();
  };
}

export default { render };
