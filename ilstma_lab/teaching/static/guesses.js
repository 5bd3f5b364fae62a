// Hit or miss, guessed turn by turn: all that is seen comes from Python (drawn.js).

export default { render: ({ model, el }) => drawn(model, el, "guesses") };
