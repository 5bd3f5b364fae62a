"""Lesson 02 in a real JupyterLab: a budget is dragged by keyboard and cuts in order, two turns play, all can be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser.driver import CONTRAST, LEAST, OVERFLOW

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.driver import Notebook

OUTPUTS = ".jp-OutputArea .ilab"


@pytest.fixture(scope="module")
def lesson(open_lesson: Callable[[str], Notebook]) -> Notebook:
    """The lesson, all its cells run."""
    notebook = open_lesson("02_five_segments.ipynb")
    notebook.run_all()
    return notebook


@pytest.fixture
def panel(lesson: Notebook) -> Locator:
    """The panel under the budget."""
    return lesson.page.locator(".jp-OutputArea .ilab.segment-panel")


@pytest.fixture
def player(lesson: Notebook) -> Locator:
    """The player of a miss and a hit."""
    return lesson.page.locator(".jp-OutputArea .ilab.player")


def test_all_cells_run_and_both_turns_are_there(lesson: Notebook, player: Locator):
    assert lesson.errors() == []
    assert lesson.page.locator("fieldset.predict").count() == 2
    assert player.locator(".pl-turns .chip").count() == 2
    player.locator(".badge.hit").first.wait_for()


def test_the_budget_is_dragged_by_keyboard_and_cuts_the_history_first(lesson: Notebook, panel: Locator):
    lesson.page.locator(".widget-slider .noUi-handle").focus()
    for _ in range(13):
        lesson.page.keyboard.press("ArrowLeft")
    panel.get_by_text("of 1,070 tokens").wait_for()
    assert panel.locator(".sp-order .was-cut").all_inner_texts() == ["oldest turns of history"]
    lesson.page.keyboard.press("Home")
    panel.get_by_text("50 of 50 tokens, cut").wait_for()
    assert panel.locator(".sp-order .was-cut").count() == 5
    assert panel.locator(".rc").all_inner_texts() == ["91"]
    lesson.page.keyboard.press("End")
    panel.get_by_text("1,080 of 1,200 tokens, nothing cut").wait_for()


def test_the_switch_says_what_the_next_turn_clears(lesson: Notebook, panel: Locator):
    for at, name in ((0, "hit"), (1, "miss")):
        panel.locator(".segd button").nth(at).focus()
        lesson.page.keyboard.press("Enter")
        panel.get_by_text(f"The next {name} clears").wait_for()
    assert panel.locator(".sp-card.goes h3").all_inner_texts() == ["Cache", "Summary", "Relevant"]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_texts_can_be_read(lesson: Notebook, panel: Locator, dark: bool):
    lesson.use_theme(dark=dark)
    lesson.picture(f"02_panel_{'dark' if dark else 'light'}", panel)
    outputs = lesson.page.locator(f"{OUTPUTS}, .widget-slider").element_handles()
    faint = {text for output in outputs for text in lesson.page.evaluate(CONTRAST, [output, LEAST])}
    assert faint == set()


@pytest.mark.parametrize("width", [1000, 700])
def test_nothing_sticks_out(lesson: Notebook, player: Locator, width: int):
    size = lesson.page.viewport_size
    lesson.fit(player, width)
    wide = {text for output in lesson.page.locator(OUTPUTS).all() for text in output.evaluate(OVERFLOW)}
    lesson.picture(f"02_player_{width}", player)
    lesson.page.set_viewport_size(size)
    lesson.settle()
    assert wide == set()


def test_z_nothing_was_complained_of_or_fetched_from_elsewhere(lesson: Notebook):
    assert lesson.errors() == []
    assert lesson.complaints == []
    assert lesson.outside == []
