"""The explorables of lessons 03 and 04 in a real JupyterLab: they draw, obey the keyboard, can be reset, and can be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser.driver import CONTRAST, LEAST, OVERFLOW

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.driver import Notebook

FIGURES = {"03_forgetting.ipynb": 2, "04_strength.ipynb": 3}
LINES = "root => [...root.querySelectorAll('.fig .js-line')].map(path => path.getAttribute('d')).join()"
HANDLE = ".noUi-handle:visible"
# Texts in figures are filled, not coloured.
FIGURE_CONTRAST = CONTRAST.replace(".color)", ".fill)")


@pytest.fixture(scope="module", params=FIGURES)
def lesson(request: pytest.FixtureRequest, open_lesson: Callable[[str], Notebook]) -> Notebook:
    """A lesson, all its cells run."""
    notebook = open_lesson(request.param)
    notebook.name = request.param
    notebook.run_all()
    return notebook


@pytest.fixture
def explorable(lesson: Notebook) -> Locator:
    """The lesson's explorable, drawn, with the paper's parameters."""
    explorable = lesson.page.locator(".jp-OutputArea .explorable")
    drawn_figures = explorable.locator(".fig .main-svg .js-line").first
    drawn_figures.wait_for(state="attached")
    press(explorable, ".ic-reset")
    return explorable


def press(explorable: Locator, button: str) -> None:
    """Press a button by keyboard."""
    explorable.locator(button).first.focus()
    explorable.page.keyboard.press("Enter")


def wait_until_lines(explorable: Locator, holds: str, lines: str) -> str:
    """Wait until the drawn lines are `holds` ("===" or "!==") `lines`, and return them."""
    root = explorable.element_handle()
    explorable.page.wait_for_function(f"([root, lines]) => ({LINES})(root) {holds} lines", arg=[root, lines])
    return explorable.evaluate(LINES)


def test_every_figure_draws(lesson: Notebook, explorable: Locator):
    assert lesson.errors() == []
    figures = explorable.locator(".fig")
    assert figures.count() == FIGURES[lesson.name]
    for figure in figures.all():
        assert figure.locator(".js-line").count() >= 1
        assert figure.locator("[role=img]").get_attribute("aria-label")
        assert figure.locator(".main-svg").first.bounding_box()["width"] > 200


def test_an_arrow_key_changes_the_curve_and_reset_brings_it_back(explorable: Locator):
    before, finding = explorable.evaluate(LINES), explorable.locator(".finding").inner_text()
    explorable.locator(HANDLE).first.focus()
    for _ in range(3):
        explorable.page.keyboard.press("ArrowRight")
    wait_until_lines(explorable, "!==", before)
    explorable.get_by_text("Yours", exact=True).wait_for()
    press(explorable, ".ic-reset")
    wait_until_lines(explorable, "===", before)
    assert explorable.locator(".finding").inner_text() == finding


def test_a_preset_is_chosen_by_keyboard(explorable: Locator):
    before = explorable.evaluate(LINES)
    press(explorable, ".chip[aria-pressed=false]")
    assert wait_until_lines(explorable, "!==", before) != before


def test_figures_turn_into_tables_and_back(explorable: Locator):
    press(explorable, "button:has-text('Show as table')")
    explorable.locator(".fig-table table").first.wait_for()
    assert explorable.locator(".fig-table th").count() >= 4
    press(explorable, "button:has-text('Show as table')")
    explorable.locator(".fig-image").first.wait_for()


@pytest.mark.parametrize("control", [HANDLE, ".ic-reset"])
def test_keys_pressed_on_a_control_leave_the_notebook_alone(lesson: Notebook, explorable: Locator, control: str):
    before = lesson.cells()
    explorable.locator(control).first.focus()
    for key in ("b", "a", "d", "d", "x"):
        lesson.page.keyboard.press(key)
    assert lesson.cells() == before


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_texts_can_be_read(lesson: Notebook, explorable: Locator, dark: bool):
    lesson.use_theme(dark=dark)
    lesson.picture(f"{lesson.name[:2]}_{'dark' if dark else 'light'}", explorable)
    outputs = lesson.page.locator(".jp-OutputArea .ilab")
    faint = {text for output in outputs.element_handles() for text in lesson.page.evaluate(CONTRAST, [output, LEAST])}
    figures = explorable.locator(".main-svg").element_handles()
    faint |= {text for figure in figures for text in lesson.page.evaluate(FIGURE_CONTRAST, [figure, LEAST])}
    lesson.use_theme(dark=False)
    assert faint == set()


@pytest.mark.parametrize("width", [1100, 700])
def test_nothing_sticks_out(lesson: Notebook, explorable: Locator, width: int):
    size = lesson.page.viewport_size
    lesson.fit(explorable, width)
    found = {text for output in lesson.page.locator(".jp-OutputArea .ilab").all() for text in output.evaluate(OVERFLOW)}
    # within a figure, whose tags are lower-case, lines may end outside and are clipped; texts may not
    wide = {text for text in found if text[0].isupper() or text.startswith("text.")}
    lesson.picture(f"{lesson.name[:2]}_{width}", explorable)
    lesson.page.set_viewport_size(size)
    lesson.settle()
    assert wide == set()


def test_z_nothing_was_complained_of_or_fetched_from_elsewhere(lesson: Notebook):
    assert lesson.errors() == []
    assert lesson.complaints == []
    assert lesson.outside == []
