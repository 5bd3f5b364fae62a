// Turns plotly's source into a module, once a page, and leaves a promise of it where every figure finds it.

const shelf = () => (globalThis.__ilstma_plotly ??= ((box) => ((box.ready = new Promise((give, fail) => Object.assign(box, { give, fail }))), box))({}));

export default {
  initialize({ model }) {
    const box = shelf();
    if (box.started) return;
    box.started = true;
    // plotly's file expects CommonJS, and sets a global that another copy on the page may own: that one is put back
    const before = "const module = { exports: {} }, exports = module.exports, define = undefined, owner = globalThis.Plotly;\n";
    const after = "\nglobalThis.Plotly = owner;\nexport default module.exports;";
    const parts = [before, model.get("source"), after];
    const url = URL.createObjectURL(new Blob(parts, { type: "text/javascript" }));
    import(/* webpackIgnore: true */ url).then((found) => box.give(found.default), box.fail).finally(() => URL.revokeObjectURL(url));
  },
};
