"""Lesson 12 in a real JupyterLab: figure and forgetting bank draw, the clock moves, a piece is picked, all can be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser.driver import CONTRAST, LEAST, OVERFLOW
from tests.browser.test_explorables import FIGURE_CONTRAST, HANDLE, press
from tests.browser.test_lesson05 import COVERED, CUT

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.driver import Notebook


@pytest.fixture(scope="module")
def lesson(open_lesson: Callable[[str], Notebook]) -> Notebook:
    """The lesson, all its cells run."""
    notebook = open_lesson("12_memorybank.ipynb")
    notebook.run_all()
    return notebook


@pytest.fixture
def bank(lesson: Notebook) -> Locator:
    """The forgetting bank, drawn, with the paper's form and no recalls added."""
    found = lesson.page.locator(".jp-OutputArea .explorable")
    found.locator(".fig .js-line").first.wait_for(state="attached")
    press(found, ".ic-reset")
    found.locator(".finding", has_text="The paper keeps 3 of 135 pieces").wait_for()
    return found


@pytest.fixture
def figure(lesson: Notebook) -> Locator:
    """The figure that stands alone."""
    found = lesson.page.locator(".jp-OutputArea .fig").filter(has_text="After 5 days the paper keeps")
    found.locator(".js-line").first.wait_for(state="attached")
    return found


def test_all_cells_run_and_every_figure_draws(lesson: Notebook, bank: Locator, figure: Locator):
    assert lesson.errors() == []
    assert bank.locator(".fig").count() == 2
    for place in (figure, *bank.locator(".fig").all()):
        assert place.locator("[role=img]").get_attribute("aria-label")
        assert place.locator(".main-svg").first.bounding_box()["width"] > 200
    assert bank.locator(".fig").first.locator(".point").count() == 135 + 1, "a mark for each piece, and the ring"


def test_the_clock_obeys_the_keyboard_and_recalls_bring_pieces_back(bank: Locator):
    bank.locator(HANDLE).first.focus()
    bank.page.keyboard.press("ArrowRight")
    bank.locator(".finding", has_text="on 20 Feb 2026").wait_for()
    press(bank, "button:has-text('9 recalls') >> nth=0")
    bank.locator(".finding", has_text="keeps 32 of 135").wait_for()
    press(bank, "button:has-text('9 recalls, inverted S')")
    bank.locator(".finding", has_text="keeps 3 of 135").wait_for()


def test_arrow_keys_choose_the_piece_whose_draw_is_shown(bank: Locator):
    before = bank.locator(".eq .arith").first.inner_text()
    bank.locator(".fig-image").first.focus()
    bank.page.keyboard.press("ArrowLeft")
    now = "before => document.querySelector('.jp-OutputArea .explorable .eq .arith').innerText !== before"
    bank.page.wait_for_function(now, arg=before)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_texts_can_be_read(lesson: Notebook, bank: Locator, figure: Locator, dark: bool):
    lesson.use_theme(dark=dark)
    lesson.picture(f"12_bank_{'dark' if dark else 'light'}", bank)
    for at, output in enumerate(lesson.page.locator(".jp-OutputArea-output:has(.ilab)").all()):
        lesson.picture(f"12_output{at:02}_{'dark' if dark else 'light'}", output)
    outputs = lesson.page.locator(".jp-OutputArea .ilab")
    faint = {text for output in outputs.element_handles() for text in lesson.page.evaluate(CONTRAST, [output, LEAST])}
    for shown in (bank, figure):
        figures = shown.locator(".main-svg").element_handles()
        faint |= {text for svg in figures for text in lesson.page.evaluate(FIGURE_CONTRAST, [svg, LEAST])}
    lesson.use_theme(dark=False)
    assert faint == set()


@pytest.mark.parametrize("width", [1000, 700])
def test_nothing_sticks_out_is_cut_or_covered(lesson: Notebook, bank: Locator, figure: Locator, width: int):
    size = lesson.page.viewport_size
    lesson.fit(bank, width)
    found = {text for output in lesson.page.locator(".jp-OutputArea .ilab").all() for text in output.evaluate(OVERFLOW)}
    wide = {text for text in found if text[0].isupper() or text.startswith("text.")}
    lesson.picture(f"12_bank_{width}", bank)
    covered = [text for shown in (bank, figure) for text in shown.evaluate(COVERED)]
    cut = [text for shown in (bank, figure) for text in shown.evaluate(CUT)]
    lesson.page.set_viewport_size(size)
    lesson.settle()
    assert (wide, covered, cut) == (set(), [], [])


def test_z_nothing_was_complained_of_or_fetched_from_elsewhere(lesson: Notebook):
    assert lesson.errors() == []
    assert lesson.complaints == []
    assert lesson.outside == []
