// The segment panel: all that is seen comes from Python (drawn.js).

export default { render: ({ model, el }) => drawn(model, el, "segment-panel") };
