// A figure as Python gives it: titles as text, plotly below, the same numbers as a table. It reports where the reader points.

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] };
const shelf = () => (globalThis.__ilstma_plotly ??= ((box) => ((box.ready = new Promise((give, fail) => Object.assign(box, { give, fail }))), box))({}));

/** Bytes that came beside the message, as the buffers that plotly reads. */
function unpacked(value) {
  if (value instanceof DataView) return value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength);
  if (Array.isArray(value)) return value.map(unpacked);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, unpacked(part)]));
}

const tableNode = ({ head, rows }) => {
  const cells = (name, texts) => texts.map((text) => h(name, "num", text));
  const top = h("tr", "", cells("th", head).map((node) => set(node, { scope: "col" })));
  return h("table", "grid", h("thead", "", top), h("tbody", "", rows.map((row) => h("tr", "", cells("td", row)))));
};

/** Tells Python where the reader points, twenty-five times a second at most, and that he left when he has really left. */
function pointing(plot, tell) {
  let leaving = 0;
  let waiting = 0;
  let last = null;
  const send = () => {
    waiting = 0;
    tell(last);
  };
  const place = (kind, event) => {
    const { x, y, data } = event.points[0];
    return { kind, trace: data.name ?? "", x, y };
  };
  plot.on("plotly_hover", (event) => {
    clearTimeout(leaving);
    last = place("hover", event);
    waiting ||= setTimeout(send, 40);
  });
  plot.on("plotly_unhover", () => {
    clearTimeout(leaving);
    leaving = setTimeout(() => {
      last = { kind: "leave", x: 0, y: 0 };
      waiting ||= setTimeout(send, 0);
    }, 120);
  });
  plot.on("plotly_click", (event) => tell(place("click", event)));
}

function render({ model, el }) {
  const unshell = shell(el);
  const title = h("p", "fig-title");
  const sub = h("p", "fig-sub");
  const plot = h("div", "fig-plot");
  const image = h("div", "fig-image", plot);
  const table = set(h("div", "fig-table"), { tabindex: "0", role: "region" });
  el.classList.add("fig");
  el.replaceChildren(title, sub, image, table);
  const tell = (pick) => model.send(pick);
  let plotly = null;
  let drawing = false;
  let stale = false;
  let width = 0;

  const words = () => {
    title.textContent = model.get("title");
    sub.textContent = model.get("sub");
    title.hidden = !model.get("title");
    sub.hidden = !model.get("sub");
    set(plot, { role: "img", "aria-label": model.get("alt") || model.get("title") || "Figure" });
    set(table, { "aria-label": `${model.get("title") || "Figure"}: table` });
    image.hidden = model.get("as_table");
    table.hidden = !model.get("as_table");
    table.replaceChildren(...model.get("tables").map(tableNode));
  };
  // one drawing at a time: what comes meanwhile is drawn once, in its last state
  const draw = async () => {
    stale = true;
    if (drawing || !plotly || !width) return;
    drawing = true;
    try {
      while (stale) {
        stale = false;
        const { data, layout } = unpacked(model.get("view"));
        await plotly.react(plot, data, { ...layout, width, template: model.get("template") }, model.get("config"));
        await new Promise(requestAnimationFrame);
      }
    } finally {
      drawing = false;
    }
  };
  const watch = new ResizeObserver(([entry]) => {
    const now = Math.floor(entry.contentRect.width);
    if (now > 0 && now !== width) {
      width = now;
      ready.then(draw);
    }
  });
  const ready = shelf().ready.then((found) => {
    plotly = found;
  });
  const first = ready.then(async () => {
    while (!width) await new Promise(requestAnimationFrame);
    await draw();
    if (model.get("picks")) pointing(plot, tell);
  });
  first.catch((error) => image.replaceChildren(h("p", "alarm", `The figure cannot be drawn: ${error}`)));

  if (model.get("picks")) {
    set(image, { tabindex: "0", role: "application", "aria-roledescription": "chart", "aria-label": "Chart: arrow keys move the chosen point" });
    image.addEventListener("keydown", (event) => {
      const step = ARROWS[event.key];
      if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      tell({ kind: "step", x: step[0], y: step[1] });
    });
  }
  watch.observe(el);
  model.on("change:view", draw);
  const spoken = ["title", "sub", "alt", "as_table", "tables"].map((name) => `change:${name}`).join(" ");
  model.on(spoken, words);
  words();
  return () => {
    watch.disconnect();
    model.off("change:view", draw);
    model.off(spoken, words);
    plotly?.purge(plot);
    unshell();
  };
}

export default { render };
