// Builds the screen that Python made: a tree of [name, attributes, ...children], where a string is text and nothing else.
// What stays the same is left in place, so that it keeps its focus, its scroll place and its motion.

const alike = (node, tree) =>
  typeof tree === "string" ? node?.nodeType === 3 : node?.localName === tree[0] && (node.dataset.key ?? "") === (tree[1]["data-key"] ?? "");

function grow(tree, parent) {
  if (typeof tree === "string") return document.createTextNode(tree);
  const node = document.createElementNS(tree[1].xmlns ?? parent.namespaceURI, tree[0]);
  shape(node, tree);
  return node;
}

/** Makes `node` what `tree` says. What a reader has unfolded stays unfolded. */
function shape(node, [, attributes, ...children]) {
  for (const { name } of [...node.attributes]) if (!(name in attributes) && name !== "open") node.removeAttribute(name);
  for (const [name, value] of Object.entries(attributes)) if (node.getAttribute(name) !== value) node.setAttribute(name, value);
  fill(node, children);
}

function fill(node, trees) {
  trees.forEach((tree, at) => {
    const old = node.childNodes[at];
    if (!old) node.append(grow(tree, node));
    else if (!alike(old, tree)) old.replaceWith(grow(tree, node));
    else if (typeof tree !== "string") shape(old, tree);
    else if (old.data !== tree) old.data = tree;
  });
  while (node.childNodes.length > trees.length) node.lastChild.remove();
}

async function copied(pressed) {
  const words = pressed.querySelector("span");
  const label = words.textContent;
  try {
    await navigator.clipboard.writeText(pressed.dataset.copy);
    words.textContent = "Copied";
  } catch {
    words.textContent = "Not allowed here";
  }
  setTimeout(() => (words.textContent = label), 1200);
}

/** Draws `view` into `el`, of class `name`, at each change, and tells Python what was pressed. Returns what ends both. */
function drawn(model, el, name) {
  const unshell = shell(el);
  const draw = () => {
    const inside = el.contains(document.activeElement);
    fill(el, model.get("view"));
    if (inside && !el.contains(document.activeElement)) el.firstElementChild.focus({ preventScroll: true });
  };
  const press = ({ target }) => {
    const pressed = target.closest("button");
    if (!pressed || pressed.getAttribute("aria-disabled") === "true") return;
    if ("copy" in pressed.dataset) copied(pressed);
    if ("do" in pressed.dataset) model.send({ do: pressed.dataset.do, value: pressed.dataset.value });
  };
  el.classList.add(name);
  el.addEventListener("click", press);
  model.on("change:view", draw);
  draw();
  return () => {
    model.off("change:view", draw);
    el.removeEventListener("click", press);
    unshell();
  };
}
