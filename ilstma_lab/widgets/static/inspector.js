// The table inspector. Rows stand at a fixed height and only those around the scroll place are here: Python gives them, page by
// page, with every number as it is written. What was typed stays until it is saved or thrown away.

const ROW = 29;
const COLUMNS = [["", ""], ["row", "row"], ["", "user’s turn"], ["created", "created"], ["last", "last"], ["recalls", "recalls"], ["S", "S, days"], ["", ""], ["R", "R"]];
const RISING = new Set(["row", "created"]);
const NUMBERS = new Set(["created", "last", "S", "R"]);

const sized = (cls, style) => Object.assign(h("i", cls), { style });
const chip = (row, role, dirty) => h("span", `rc ${role}${dirty ? " dirty" : ""}`, String(row));
const mark = ([name, word]) => h("span", `stt ${name}`, word);
const cell = (cls, ...children) => set(h("div", cls, ...children), { role: "gridcell" });
const titled = (node, title) => set(node, { title });

/** Asks Python one thing at a time: of looks only the newest is sent, once the one before is answered. */
function asking(model) {
  const own = Math.random().toString(36).slice(2, 8);
  const open = new Map();
  let count = 0;
  let next = null;
  let looking = false;
  const ask = (message, then) => {
    const n = `${own}-${++count}`;
    open.set(n, then);
    model.send({ ...message, n });
  };
  const flush = (then) => {
    looking = true;
    ask({ do: "look", look: next }, (said) => {
      looking = false;
      if (next) flush(then);
      then(said);
    });
    next = null;
  };
  return {
    ask,
    look: (change, then) => {
      next = { ...next, ...change };
      if (!looking) flush(then);
    },
    looking: () => looking,
    heard: (said) => {
      const then = open.get(said.n);
      open.delete(said.n);
      then?.(said);
    },
  };
}

async function copy(text, pressed) {
  const label = pressed.textContent;
  try {
    await navigator.clipboard.writeText(text);
    pressed.textContent = "Copied";
  } catch {
    pressed.textContent = "Not allowed here";
  }
  setTimeout(() => (pressed.textContent = label), 1200);
}

function save({ save: text, name }) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  set(h("a"), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Search, filters and the day. */
function tools(look) {
  const find = set(h("input"), { type: "search", "aria-label": "Find in texts and row numbers" });
  const found = set(h("span", "dim"), { role: "status" });
  const chips = set(h("div", "chips"), { role: "group", "aria-label": "Which rows" });
  const name = h("b");
  const ahead = h("span", "mid");
  const day = set(h("input"), { type: "range", min: "0", step: "1", "aria-label": "Days after today" });
  const nodes = new Map();
  find.addEventListener("input", () => look({ find: find.value, first: 0 }));
  day.addEventListener("input", () => look({ days: Number(day.value) }));
  const draw = (view, chosen, ours) => {
    find.placeholder = `Find in ${view.size.toLocaleString("en")} rows`;
    day.max = view.day.most;
    if (!ours) [find.value, day.value] = [chosen.find, chosen.days];
    day.style.setProperty("--p", `${(100 * day.value) / day.max}%`);
    found.textContent = chosen.find.trim() ? view.found_words : "";
    found.hidden = !chosen.find.trim();
    for (const [key, label, number] of view.chips) {
      if (!nodes.has(key)) nodes.set(key, button("chip", label, () => look({ only: key, first: 0 })));
      const node = nodes.get(key);
      node.replaceChildren(label, h("span", "n", number.toLocaleString("en")));
      node.classList.toggle("on", chosen.only === key);
      set(node, { "aria-pressed": String(chosen.only === key) });
      node.hidden = key === "pending" && !number && chosen.only !== key;
    }
    if (!chips.childElementCount) chips.append(...nodes.values());
    name.textContent = view.day.name;
    ahead.textContent = `, ${view.day.ahead}`;
    set(day, { "aria-valuetext": `${view.day.name}, ${view.day.ahead}` });
  };
  const label = h("span", "cut", h("span", "mid", "Looking at "), name, ahead);
  return { node: h("div", "tools", h("label", "find", find), chips, found, h("div", "day", label, day)), draw };
}

/** The rows as a grid, and all of them as a map beside it. */
function grid(look, openRow, close) {
  const id = `ltm-${Math.random().toString(36).slice(2, 8)}`;
  const heads = set(h("div", "r heads"), { role: "row" });
  const page = h("div", "page");
  const space = h("div", "space", page);
  const scroll = set(h("div", "scroll", space), { role: "presentation" });
  const empty = h("p", "dim nothing");
  const node = set(h("div", "ltm", heads, scroll, empty), { role: "grid", tabindex: "0" });
  const cells = h("div", "cells");
  const window_ = h("div", "window");
  const dots = h("div", "dots");
  const map = set(h("div", "map", cells, window_, dots), { role: "img" });
  const sorts = new Map();
  let view = { start: 0, rows: [], found: 0 };
  let chosen = {};
  let cursor = 0;
  let due = null;
  let wish = false; // a row to open that is not here yet

  const visible = () => [Math.floor(scroll.scrollTop / ROW), Math.max(1, Math.round(scroll.clientHeight / ROW))];
  const sort = (key) => look({ sort: key, falling: chosen.sort === key ? !chosen.falling : !RISING.has(key), first: 0 });
  for (const [key, label] of COLUMNS) {
    const head = set(h("div", NUMBERS.has(key) ? "num" : ""), { role: "columnheader" });
    head.append(key ? button("sort", label, () => sort(key)) : label);
    if (key) sorts.set(key, head);
    heads.append(head);
  }

  const rowNode = (row, place) => {
    const solid = row.recalls + row.more <= 5 ? Array.from({ length: row.recalls }, () => h("i")) : [h("span", "", String(row.recalls))];
    const hollow = row.recalls + row.more <= 5 ? Array.from({ length: row.more }, () => h("i", "e")) : [row.more ? h("span", "dim", `+${row.more}`) : null];
    const spoken = `${row.recalls} recalls${row.more ? `, ${row.more} waiting` : ""}`;
    const text = h("div", "tx", set(h("p", "cut", row.text), { dir: "auto", style: `--kept:${row.kept}%` }), row.marks.map(mark));
    const made = h("div", `r${row.index === chosen.row ? " sel" : ""}${place === cursor ? " cur" : ""}`,
      cell("edge", sized("", `--kept:${row.kept}%`)),
      cell("", chip(row.index, row.role, row.more > 0)),
      set(text, { role: "gridcell" }),
      titled(cell("num dim", row.created[0]), row.created[1]),
      titled(cell("num dim", row.last[0]), row.last[1]),
      set(titled(cell("times", solid, hollow), spoken), { "aria-label": spoken }),
      cell("num", row.S),
      cell("bar", h("span", "hb", sized("", `width:${row.kept}%`))),
      cell("num kept", row.R));
    made.addEventListener("click", () => go(place, true));
    return set(made, { role: "row", id: `${id}-${place}`, "aria-rowindex": String(place + 2), "aria-selected": String(row.index === chosen.row) });
  };
  const drawMap = () => {
    const [first, count] = visible();
    const last = Math.min(first + count, view.found);
    const share = (place) => `${(100 * place) / Math.max(view.found, 1)}%`;
    window_.style.cssText = `top:${share(first)};height:${share(Math.max(last - first, 0))}`;
    window_.hidden = view.found <= count;
    set(map, { "aria-label": `All ${view.found} rows shown, coloured by retention; ${first + 1} to ${last} are on the screen.` });
  };
  const fetch = () => {
    drawMap();
    const [first, count] = visible();
    const last = Math.min(first + count, view.found);
    if (first < view.start || last > view.start + view.rows.length) look({ first });
  };
  const go = (place, opening) => {
    cursor = Math.max(0, Math.min(place, view.found - 1));
    const [first, count] = visible();
    if (cursor < first || cursor * ROW < scroll.scrollTop) scroll.scrollTop = cursor * ROW;
    else if (cursor >= first + count) scroll.scrollTop = (cursor - count + 1) * ROW;
    for (const row of page.children) row.classList.toggle("cur", row.id === `${id}-${cursor}`);
    set(node, { "aria-activedescendant": `${id}-${cursor}` });
    const row = view.rows[cursor - view.start];
    wish = opening && !row && view.found > 0;
    if (opening && row) openRow(row.index);
  };
  node.addEventListener("keydown", (event) => {
    if (event.target !== node || event.ctrlKey || event.metaKey || event.altKey) return;
    const [, count] = visible();
    const places = { ArrowDown: cursor + 1, ArrowUp: cursor - 1, PageDown: cursor + count, PageUp: cursor - count, Home: 0, End: view.found - 1, Enter: cursor };
    if (event.key === "Escape") close();
    else if (event.key in places) go(places[event.key], event.key === "Enter");
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  scroll.addEventListener("scroll", fetch, { passive: true });
  const jump = (event) => {
    const box = map.getBoundingClientRect();
    scroll.scrollTop = ((event.clientY - box.top) / box.height) * view.found * ROW - scroll.clientHeight / 2;
  };
  map.addEventListener("pointerdown", (event) => {
    map.setPointerCapture(event.pointerId);
    jump(event);
  });
  map.addEventListener("pointermove", (event) => map.hasPointerCapture(event.pointerId) && jump(event));

  const draw = (fresh, now, ours) => {
    const reordered = ["find", "only", "sort", "falling"].some((key) => now[key] !== chosen[key]);
    const moved = fresh.first !== view.first;
    [view, chosen] = [fresh, now];
    if (reordered) cursor = 0;
    if (!ours && view.place >= 0) cursor = view.place;
    const widest = Math.max(0, ...view.rows.map((row) => row.index));
    node.style.setProperty("--ix", `${Math.max(44, 7 * String(widest).length + 20)}px`);
    for (const [key, head] of sorts) {
      const on = key === chosen.sort;
      head.firstChild.textContent = `${COLUMNS.find(([name]) => name === key)[1]}${on ? (chosen.falling ? " ↓" : " ↑") : ""}`;
      set(head, { "aria-sort": on ? (chosen.falling ? "descending" : "ascending") : "none" });
    }
    set(node, { "aria-rowcount": String(view.found + 1), "aria-label": `Rows of the memory table, ${view.found_words}`, "aria-activedescendant": `${id}-${cursor}` });
    node.style.setProperty("--tall", `${view.found * ROW}px`);
    scroll.hidden = !view.found;
    map.hidden = view.map.cells.length < 2;
    empty.hidden = Boolean(view.found);
    empty.textContent = view.found ? "" : view.empty;
    page.style.transform = `translateY(${view.start * ROW}px)`;
    page.replaceChildren(...view.rows.map((row, at) => rowNode(row, view.start + at)));
    cells.replaceChildren(...view.map.cells.map((kept) => sized("", `--kept:${kept}%`)));
    map.style.setProperty("--cells", view.map.cells.length);
    dots.replaceChildren(...view.map.waiting.map((share) => sized("", `top:${100 * share}%`)));
    if (reordered || (!ours && moved)) due = view.first * ROW;
    settle();
    if (wish) go(cursor, true);
  };
  // before the page has laid it out, nothing can be scrolled
  const settle = () => {
    if (!scroll.clientHeight && view.found) return;
    if (due !== null) scroll.scrollTop = due;
    due = null;
    fetch();
  };
  const measure = new ResizeObserver(settle);
  measure.observe(scroll);
  return { node: h("div", "tab", node, map), draw, first: () => visible()[0], focus: () => node.focus({ preventScroll: true }), stop: () => measure.disconnect() };
}

/** The drawing comes as SVG that Python made of numbers and dates; it is read, not run. */
const drawing = (svg) => new DOMParser().parseFromString(svg, "text/html").body.firstElementChild;

/** One row in full, a form, a question before a row is deleted, or Table 1 of the paper. */
function pane({ ask, problem, openRow, closeRow, rows }) {
  const node = set(h("aside", "pn"), { "aria-label": "Row" });
  const top = h("div");
  const past = h("div", "hist");
  const drafts = new Map();
  let mode = "row";
  let panel = {};
  let history = {};

  const show = (next, ...children) => {
    mode = next;
    node.hidden = !children.length;
    node.replaceChildren(...children);
  };
  const refused = (said, place) => place.replaceChildren(h("p", "fail alarm", said.message));
  const back = () => {
    mode = "row";
    top.querySelector(".sure")?.remove();
    draw(panel, history);
    if (node.hidden) rows.focus();
    else node.querySelector("button").focus();
  };
  const form = (key, title, texts, send) => {
    const place = set(h("div"), { role: "alert" });
    const kept = drafts.get(key) ?? [...texts];
    const boxes = ["User", "Assistant"].map((who, at) => {
      const box = set(h("textarea"), { rows: "5", dir: "auto", "aria-label": who });
      box.value = kept[at];
      box.addEventListener("input", () => drafts.set(key, boxes.map((other) => other.value)));
      box.addEventListener("keydown", (event) => {
        event.stopPropagation();
        if (event.key === "Escape") back();
      });
      return box;
    });
    // a text area turns line ends into "\n": what was not touched is not sent
    const begun = texts.map((text) => text.replaceAll(/\r\n?/g, "\n"));
    const press = (event) => {
      const pressed = event.currentTarget;
      pressed.disabled = true;
      send(boxes.map((box, at) => (box.value === begun[at] ? null : box.value)), (said) => {
        pressed.disabled = false;
        if (!said.ok) return refused(said, place);
        drafts.delete(key);
        return back();
      });
    };
    const discard = () => {
      drafts.delete(key);
      back();
    };
    const labels = boxes.map((box, at) => h("label", "", h("span", "dim", ["User", "Assistant"][at]), box));
    show("form", h("h3", "", title), ...labels, place, h("div", "w-acts", button("btn pri", "Save", press), button("btn", "Discard", discard)));
    boxes[0].focus();
  };
  const edit = () => ask({ do: "texts", row: panel.row }, (said) => {
    if (!said.ok) return problem(said);
    const row = panel.row;
    return form(row, `Edit row ${row}`, [said.user, said.assistant], ([user, assistant], then) => {
      const texts = { ...(user === null ? {} : { user }), ...(assistant === null ? {} : { assistant }) };
      ask({ do: "edit", row, texts }, then);
    });
  });
  const add = () => form("add", "Add a row", ["", ""], (texts, then) => {
    const [user, assistant] = texts.map((text) => text ?? "");
    ask({ do: "add", user, assistant }, then);
  });
  const weigh = () => ask({ do: "weigh", row: panel.row }, (said) => {
    if (!said.ok) return problem(said);
    const row = panel.row;
    const label = said.rows === 1 ? `Delete row ${row}` : `Delete ${said.rows} rows`;
    const gone = button("btn danger", label, () => ask({ do: "delete", row }, (done) => (done.ok ? rows.focus() : problem(done))));
    const keep = button("btn", "Keep", back);
    const list = h("ul", "", said.sentences.map((sentence) => h("li", "", sentence)));
    const sure = set(h("div", "sure", h("b", "", `Delete row ${row}?`), list, h("div", "w-acts", gone, keep)), { role: "alertdialog", "aria-label": `Delete row ${row}?` });
    top.querySelector(".sure")?.remove();
    top.querySelector(".ph").after(sure);
    keep.focus();
    return 0;
  });
  const paper = () => ask({ do: "paper", first: rows.first() }, (said) => {
    if (!said.ok) return problem(said);
    const heads = [["index"], ["days", "time interval in whole days"], ["recalls", "recall times"], ["text"], ["vector", "embedding vector"]].map(([name, title]) => set(h("th", "", name), { scope: "col", title: title ?? name }));
    const rows = said.paper.map(([index, interval, times, text, vector]) =>
      h("tr", "", h("td", "", chip(index, "")), h("td", "num", interval), h("td", "num", times), h("td", "wide", set(h("p", "cut", text), { dir: "auto", title: text })), h("td", "vec", vector)));
    const table = h("table", "grid", h("thead", "", h("tr", "", heads)), h("tbody", "", rows));
    const whole = h("p", "dim", "The rows on the screen in the paper’s columns; table.to_frame() has all.");
    show("paper", h("div", "ph", h("h3", "", "Table 1 of the paper"), h("span", "sp"), button("btn ghost", "Close", back)), whole, table);
    return 0;
  });

  const headOf = () => {
    const begun = drafts.has(panel.row) ? "Go on editing" : "Edit";
    return h("div", "ph", h("h3", "", `Row ${panel.row}`), panel.marks.map(mark), h("span", "sp"), button("btn ghost", begun, edit), button("btn ghost", "Delete", weigh));
  };
  const draw = (freshPanel, freshHistory) => {
    const moved = freshPanel.row !== panel.row;
    [panel, history] = [freshPanel, freshHistory];
    if (mode !== "row" && !moved) return;
    if (panel.row === undefined) {
      show("row");
      return;
    }
    const focused = moved ? null : [...node.querySelectorAll("button")].indexOf(document.activeElement);
    const said = panel.sides.map(([who, text]) => h("div", "", h("b", "", who), set(h("p", "", text), { dir: "auto" })));
    const cites = panel.cites.map((row) => button("rc", String(row), () => openRow(row)));
    const facts = h("p", "facts", panel.facts.join(" · "), cites.length ? " · cites " : "", cites);
    const asked = !moved && top.querySelector(".sure");
    top.replaceChildren(headOf(), facts, panel.warning && h("p", "note", panel.warning), set(h("div", "dlg", said), { tabindex: "0", "aria-label": "Text of the row" }), panel.cut && h("p", "dim", panel.cut));
    if (asked) top.querySelector(".ph").after(asked);
    drawPast();
    show("row", top, past);
    if (focused !== null && focused >= 0) node.querySelectorAll("button")[focused]?.focus();
  };
  const drawPast = () => {
    const line = ([when, question, waits]) => h("li", waits ? "wt" : "", h("span", "dim", when), set(h("span", "", question, waits ? h("span", "dim", " waiting") : ""), { dir: "auto" }));
    const first = h("li", "", h("span", "dim", history.created), h("span", "", "created"));
    const earlier = history.earlier && h("li", "", h("span"), h("span", "dim", history.earlier));
    const figure = h("figure", "", h("p", "fig-title", history.title), h("p", "fig-sub", history.sub), drawing(history.chart));
    const list = set(h("ol", "events", first, earlier, history.recalls.map(line)), { tabindex: "0", "aria-label": "Recalls" });
    past.replaceChildren(figure, h("div", "", h("h3", "lab", "Recalled by"), list));
  };
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    if (mode !== "row" || top.querySelector(".sure")) back();
    else closeRow();
  });
  return { node, draw, add, paper };
}

function render({ model, el }) {
  const unshell = shell(el);
  el.classList.add("explorable", "inspector");
  const asks = asking(model);
  const eyebrow = h("p", "eyebrow");
  const finding = set(h("p", "finding"), { role: "status" });
  const sub = h("p", "sub");
  const alarm = set(h("div", "alarms"), { role: "alert" });
  const told = ({ ok, message, note }) => {
    const lines = [ok ? "" : message, note].filter(Boolean);
    alarm.replaceChildren(...lines.map((text) => h("p", `fail${ok ? "" : " alarm"}`, text)));
  };
  const look = (change) => asks.look({ first: rows.first(), ...change }, told);
  const closeRow = () => {
    look({ row: null });
    rows.focus();
  };
  const openRow = (row) => look({ row });
  const bar = tools(look);
  const rows = grid(look, openRow, closeRow);
  const ask = (message, then) => asks.ask(message, (said) => {
    told({ ...said, ok: true });
    then(said);
  });
  const side = pane({ ask, problem: told, openRow, closeRow, rows });
  const acts = h("div", "w-acts", button("btn ic-add", "Add row", side.add), button("btn ic-save", "Export", () => asks.ask({ do: "export" }, told)));
  const waits = h("span");
  const risk = h("div", "risk", waits, button("btn", "Write now", () => asks.ask({ do: "write" }, told)));
  const hint = h("span");
  const python = button("btn ghost ic-copy", "Copy as Python", (event) => copy(model.get("view").python, event.currentTarget));
  const foot = h("footer", "w-foot", h("p", "try", h("b", "", "Try this"), hint), h("div", "w-acts", button("btn ghost ic-table", "Table 1 of the paper", side.paper), python));
  const body = h("div", "insp", rows.node, side.node);
  el.replaceChildren(h("header", "w-head", h("div", "", eyebrow, finding, sub), acts), alarm, bar.node, body, risk, foot);

  let drawn = [];
  const draw = () => {
    const parts = ["view", "look", "panel", "history"].map((name) => model.get(name));
    if (parts.every((part, at) => part === drawn[at])) return;
    drawn = parts;
    const [view, chosen, panel, history] = parts;
    const ours = asks.looking();
    eyebrow.textContent = view.eyebrow;
    if (finding.textContent !== view.finding) finding.textContent = view.finding;
    sub.textContent = view.sub;
    sub.hidden = !view.sub;
    bar.draw(view, chosen, ours);
    side.draw(panel, history);
    rows.draw(view, chosen, ours);
    risk.hidden = !view.waiting.length;
    waits.replaceChildren(...view.waiting.map((words, at) => h(at ? "span" : "b", "", at ? ` ${words}` : words)));
    hint.textContent = view.try_this;
  };
  const heard = () => asks.heard(model.get("said"));
  model.on("change", draw);
  model.on("change:said", heard);
  model.on("msg:custom", save);
  draw();
  return () => {
    model.off("change", draw);
    model.off("change:said", heard);
    model.off("msg:custom", save);
    rows.stop();
    unshell();
  };
}

export default { render };
