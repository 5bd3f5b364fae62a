// The player's own: it plays by itself, and arrow keys step. All that is seen comes from Python (drawn.js).

const PAUSE = 1600;
const MOVES = { ArrowRight: "next", ArrowLeft: "back", Home: "first", End: "last" };

function render({ model, el }) {
  let timer = 0;
  const at = (move) => el.querySelector(`[data-do="${move}"]`);
  const ended = () => at("next").getAttribute("aria-disabled") === "true";
  const move = (to) => {
    el.classList.add("moved"); // nothing moves before the reader does
    at(to).click();
  };
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    el.classList.remove("playing");
  };
  const play = () => {
    if (timer) return stop();
    el.classList.add("playing", "moved");
    move(ended() ? "first" : "next");
    timer = setInterval(() => (ended() ? stop() : move("next")), PAUSE);
  };
  const press = ({ target, isTrusted }) => {
    if (target.closest("[data-play]")) play();
    else if (isTrusted) stop();
    el.classList.add("moved");
  };
  const step = (event) => {
    const to = MOVES[event.key];
    if (!to || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    stop();
    move(to);
  };
  const undraw = drawn(model, el, "player");
  el.addEventListener("click", press);
  el.addEventListener("keydown", step);
  return () => {
    stop();
    el.removeEventListener("click", press);
    el.removeEventListener("keydown", step);
    undraw();
  };
}

export default { render };
