"""The explorables of lesson 09 in a real JupyterLab: they draw, obey picks and the keyboard, and can be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser.driver import CONTRAST, LEAST, OVERFLOW
from tests.browser.test_explorables import FIGURE_CONTRAST, HANDLE, press

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.driver import Notebook

FIGURES = {"race": 2, "chart": 1}
# Pairs of texts in one figure that lie on each other.
OVERLAPS = """(figure) => {
  const texts = [...figure.querySelectorAll('.textpoint text, .xtick text, .ytick text')];
  const boxes = texts.map((node) => [node.textContent, node.getBoundingClientRect()]);
  const before = (one, other) => one.right <= other.left + 1 || one.bottom <= other.top + 3;
  const meet = (one, other) => !before(one, other) && !before(other, one);
  return boxes.flatMap(([said, box], at) =>
    boxes.slice(at + 1).filter(([, other]) => meet(box, other)).map(([also]) => `${said} / ${also}`));
}"""


@pytest.fixture(scope="module")
def lesson(open_lesson: Callable[[str], Notebook]) -> Notebook:
    """The lesson, all its cells run and all its figures drawn."""
    notebook = open_lesson("09_does_the_cache_pay.ipynb")
    notebook.run_all()
    for figure in notebook.page.locator(".jp-OutputArea .explorable .fig").all():
        figure.locator(".js-line").first.wait_for(state="attached")
    return notebook


@pytest.fixture(params=FIGURES)
def explorable(lesson: Notebook, request: pytest.FixtureRequest) -> Locator:
    """One of the two, as its cell made it but for what a test before has chosen."""
    found = lesson.page.locator(".jp-OutputArea .explorable").nth(list(FIGURES).index(request.param))
    assert found.locator(".fig").count() == FIGURES[request.param]
    found.name = request.param
    return found


def changes(explorable: Locator, act: Callable[[], None]) -> str:
    """Return the finding once `act` has changed it."""
    finding = explorable.locator(".finding")
    before = finding.inner_text()
    act()
    node = finding.element_handle()
    explorable.page.wait_for_function("([node, before]) => node.innerText !== before", arg=[node, before])
    return finding.inner_text()


def test_all_cells_run(lesson: Notebook):
    assert lesson.errors() == []
    assert lesson.page.locator(".jp-OutputArea .explorable").count() == len(FIGURES)


def test_a_slider_obeys_the_arrow_keys(explorable: Locator):
    explorable.locator(HANDLE).first.focus()
    changes(explorable, lambda: explorable.page.keyboard.press("PageDown" if explorable.name == "race" else "PageUp"))


def test_arrow_keys_move_the_place_in_a_figure(explorable: Locator):
    press(explorable, ".ic-reset")
    explorable.locator(".fig-image").first.focus()
    changes(explorable, lambda: explorable.page.keyboard.press("ArrowLeft"))
    press(explorable, ".ic-reset")


def test_a_click_on_a_cell_chooses_question_and_policy(lesson: Notebook):
    race = lesson.page.locator(".jp-OutputArea .explorable").first
    grid = race.locator(".fig").first.locator(".nsewdrag").first
    box = grid.bounding_box()
    said = changes(race, lambda: grid.click(position={"x": 0.4 * box["width"], "y": 0.4 * box["height"]}))
    assert said.startswith("After 7 questions") or said.startswith("After 8 questions")
    assert race.locator("tr.on").inner_text().startswith("next 3")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_texts_can_be_read(lesson: Notebook, explorable: Locator, dark: bool):
    lesson.use_theme(dark=dark)
    lesson.picture(f"09_{explorable.name}_{'dark' if dark else 'light'}", explorable)
    faint = set(lesson.page.evaluate(CONTRAST, [explorable.element_handle(), LEAST]))
    for figure in explorable.locator(".main-svg").element_handles():
        faint |= set(lesson.page.evaluate(FIGURE_CONTRAST, [figure, LEAST]))
    lesson.use_theme(dark=False)
    assert faint == set()


@pytest.mark.parametrize("width", [1000, 700])
def test_nothing_sticks_out_and_no_label_lies_on_another(lesson: Notebook, explorable: Locator, width: int):
    size = lesson.page.viewport_size
    lesson.fit(explorable, width)
    wide = {text for text in explorable.evaluate(OVERFLOW) if text[0].isupper() or text.startswith("text.")}
    overlaps = [pair for figure in explorable.locator(".fig").all() for pair in figure.evaluate(OVERLAPS)]
    lesson.picture(f"09_{explorable.name}_{width}", explorable)
    lesson.page.set_viewport_size(size)
    lesson.settle()
    assert wide == set()
    assert overlaps == []


def test_z_nothing_was_complained_of_or_fetched_from_elsewhere(lesson: Notebook):
    assert lesson.errors() == []
    assert lesson.complaints == []
    assert lesson.outside == []
