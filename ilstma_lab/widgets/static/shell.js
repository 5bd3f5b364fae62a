// What every view of the kit shares. It is put in front of the view's own module, so that one widget is one file.

/** An element with a class and children; strings become text, never HTML. */
function h(name, cls, ...children) {
  const node = document.createElement(name);
  if (cls) node.className = cls;
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

/** The same with attributes: `null` leaves one out. */
function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) if (value !== null) node.setAttribute(name, value);
  return node;
}

function button(cls, label, act) {
  const node = set(h("button", cls, label), { type: "button" });
  node.addEventListener("click", act);
  return node;
}

const TYPED = new Set(["Enter", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Backspace", "Delete"]);

/** Puts `.ilab` on the root, and keeps keys that a focused control uses from reaching the notebook, where "b" adds a cell. */
function shell(root) {
  const keep = (event) => {
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (plain && (event.key.length === 1 || TYPED.has(event.key))) event.stopPropagation();
  };
  root.classList.add("ilab");
  root.addEventListener("keydown", keep);
  return () => root.removeEventListener("keydown", keep);
}
