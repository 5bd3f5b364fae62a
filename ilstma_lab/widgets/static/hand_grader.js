// Grading by hand: keys say what buttons say. All that is seen comes from Python (drawn.js), which knows the scale that is next.

const KEYS = { 1: ["rate", "1"], 5: ["rate", "0.5"], ".": ["rate", "0.5"], 0: ["rate", "0"], n: ["keep", ""], s: ["skip", ""], u: ["undo", ""], r: ["reveal", ""] };

function render({ model, el }) {
  const undraw = drawn(model, el, "hand-grader");
  const key = (event) => {
    const said = KEYS[event.key.toLowerCase()];
    if (!said || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    model.send({ do: said[0], value: said[1] });
  };
  el.addEventListener("keydown", key);
  return () => {
    el.removeEventListener("keydown", key);
    undraw();
  };
}

export default { render };
