// The three panels that open below the head of the chat: which memory and model, a chat of one's own, what is taken away.

const PART_BYTES = 2 ** 20; // a part of a file: well below what Jupyter's server takes in one message

let fields = 0;

/** A control under its name; `hint` stands below it. */
function field(name, control, hint = "") {
  const id = `chat-field-${++fields}`;
  return h("div", "field", set(h("label", "", name), { for: id }), set(control, { id }), hint && h("p", "dim", hint));
}

const input = (placeholder = "") => set(h("input"), { type: "text", placeholder, autocomplete: "off", spellcheck: "false" });
const choice = (value, label) => set(h("option", "", label), { value });

/** What the panel `name` is doing, or has to say. */
function report(name) {
  const bar = h("i");
  const track = h("div", "hb", bar);
  const words = h("p");
  const notes = h("ul", "notes");
  const node = set(h("div", "report", track, words, notes), { role: "status" });
  const draw = (task) => {
    if ((task.panel ?? name) !== name) task = {};
    track.hidden = task.state !== "runs";
    bar.style.width = `${100 * (task.share ?? 0)}%`;
    words.textContent = task.message ?? "";
    words.className = task.state === "failed" ? "alarm" : task.state === "needs" ? "ask" : "";
    notes.replaceChildren(...(task.notes ?? []).map((note) => h("li", "", note)));
    node.hidden = !task.state;
  };
  return { node, draw };
}

function memoryPanel(model, tell) {
  const memory = h("select");
  const system = h("select");
  const file = input("mine.json");
  const fileField = field("File", file);
  const [named, address] = [input("as the endpoint calls it"), input()];
  const key = h("p", "dim");
  const fate = h("p", "mid");
  const endpoint = h("div", "fields", field("Model", named), field("Base URL", address), key);
  const go = button("btn go", "Open", () => send());
  const said = report("memory");
  let online = false;
  const ways = ["Offline", "Endpoint"].map((label, at) => button("", label, () => choose(at === 1)));
  const choose = (wanted) => {
    online = wanted;
    ways.forEach((node, at) => set(node, { "aria-pressed": String(online === (at === 1)) }));
    endpoint.hidden = !online;
  };
  const pick = () => (fileField.hidden = memory.value !== "file");
  const send = () => {
    const topic = memory.value.startsWith("topic ") ? memory.value.slice(6) : "";
    if (memory.value === "file" && !file.value.trim()) return file.focus();
    if (online && !named.value.trim()) return named.focus();
    tell({ do: "open", topic, table: memory.value === "file" ? file.value : "", model: online ? named.value : "", base_url: online ? address.value : "", system: system.value });
  };
  memory.addEventListener("change", pick);
  const group = set(h("span", "segd", ways), { role: "group", "aria-label": "Which model thinks" });
  const thinks = h("div", "field", set(h("span", "", "Thinks"), { "aria-hidden": "true" }), group);
  const node = h("div", "", h("div", "fields", field("Memory", memory), fileField, field("System", system), thinks), endpoint, fate, h("div", "does", go, said.node));
  let drawn = "";
  const draw = () => {
    const setup = model.get("view").setup;
    key.textContent = setup.key;
    fate.textContent = setup.fate;
    go.disabled = model.get("busy");
    said.draw(model.get("task"));
    const choices = JSON.stringify([setup.topics, setup.topic, setup.present, setup.system, setup.model, setup.base_url]);
    if (choices === drawn) return; // what was typed stays until another lab is there
    drawn = choices;
    const others = setup.topics.map(({ name, label }) => choice(`topic ${name}`, name === setup.topic ? `${label}, from its beginning` : label));
    memory.replaceChildren(choice("present", `${setup.present} (present)`), ...others, choice("file", "A table’s file …"));
    const other = setup.system ? [] : [choice("", "The present one")];
    system.replaceChildren(...other, ...setup.systems.map(({ name, label }) => choice(name, label)));
    system.value = setup.system;
    [named.value, address.value] = [setup.model, setup.base_url];
    address.placeholder = setup.example;
    choose(Boolean(setup.model));
    pick();
  };
  return { node, draw, first: memory };
}

function importPanel(model, tell) {
  const file = set(h("input"), { type: "file", accept: ".json,.jsonl,.csv,.txt,.zip" });
  const to = input("mine.json, or nothing");
  const user = input("else the first who speaks");
  const conversation = h("select");
  const order = h("select", "", choice("", "choose"), choice("day", "the day: 31/12"), choice("month", "the month: 12/31"));
  const conversationField = field("Conversation", conversation);
  const orderField = field("First in its dates", order);
  const about = h("p", "mid");
  const go = button("btn go", "Import", () => send());
  const said = report("import");
  let there = null; // the file that Python has
  let next = null;
  let sending = false;
  let seen = null; // the last task that was shown, or that spoke of another file

  const receive = (received) => {
    const then = next;
    next = null;
    then?.(received);
  };
  const upload = async (chosen) => {
    for (let at = 0; at < Math.max(chosen.size, 1); ) {
      const part = await chosen.slice(at, at + PART_BYTES).arrayBuffer();
      const answer = new Promise((resolve) => (next = resolve));
      model.send({ do: "upload", name: chosen.name, size: chosen.size, at }, undefined, [part]);
      at = await answer;
      if (at < 0) return false;
      said.draw({ state: "runs", message: `Sending: ${Math.round((100 * at) / chosen.size)} %`, share: at / chosen.size });
    }
    return true;
  };
  const rest = () => (go.disabled = file.disabled = sending || model.get("busy"));
  const send = async () => {
    const [chosen] = file.files;
    if (!chosen) return file.focus();
    if (there !== chosen) {
      sending = true;
      rest();
      const whole = await upload(chosen);
      sending = false;
      rest();
      if (!whole) return;
    }
    there = chosen;
    const answers = { user: user.value, conversation: conversationField.hidden ? "" : conversation.value, day_first: orderField.hidden ? "" : order.value };
    tell({ do: "import", to: to.value, answers });
  };
  const ask = (task) => {
    if (task.conversations?.length) {
      conversationField.hidden = false;
      conversation.replaceChildren(...task.conversations.map((name) => choice(name, name)));
      conversation.focus();
    }
    if (task.day_first) {
      orderField.hidden = false;
      order.focus();
    }
  };
  const forget = () => {
    there = null;
    conversationField.hidden = orderField.hidden = true;
    conversation.replaceChildren();
    order.value = "";
  };
  const clear = () => {
    file.value = to.value = user.value = "";
    forget();
  };
  file.addEventListener("change", () => {
    seen = model.get("task");
    forget();
    said.draw({});
  });
  const node = h("div", "", about, h("div", "fields", field("File", file), field("Keep it in", to), field("You, in a chat of people", user), conversationField, orderField), h("div", "does", go, said.node));
  const draw = () => {
    const task = model.get("task");
    about.textContent = `An export of ChatGPT, WhatsApp or Telegram, JSON Lines or CSV, zipped or not: the format is known from the content. Up to ${model.get("view").megabytes} MB; a larger one from Python, with chat.import_chat(path). It becomes a memory of its own: in the file that you name, or else as long as this kernel lives.`;
    rest();
    if (task === seen) return;
    seen = task;
    said.draw(task);
    if (task.panel !== "import") return;
    if (task.state === "needs") ask(task);
    if (task.state === "done") clear();
  };
  forget();
  return { node, draw, receive, first: file };
}

function exportPanel(tell) {
  const json = button("btn", "JSON", () => tell({ do: "export", kind: "json" }));
  const markdown = button("btn", "Markdown", () => tell({ do: "export", kind: "md" }));
  const words = h("p", "mid", "JSON holds every turn whole: segments, scores, prompts, replies. Markdown is for reading.");
  const note = h("p", "mid", "A saved notebook also keeps what was said here, in its outputs: clear them before you pass it on.");
  return { node: h("div", "", h("div", "does", json, markdown, words), note), draw: () => {}, first: json };
}

/** Saves what Python sent as a file of the reader's. */
function save({ save: text, name, type }) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  set(h("a"), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
