"""The leaderboard and the card of lesson 11 in a real JupyterLab: they can be read, and a table that is too wide scrolls."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser.driver import CONTRAST, LEAST

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.driver import Notebook

OUTPUTS = {"board": 0, "card": 2}
# What is wider than its pane, where the pane does not scroll.
CUT = """(root) => [...root.querySelectorAll('.pane')].filter((pane) =>
  pane.scrollWidth > pane.clientWidth + 1 && getComputedStyle(pane).overflowX !== 'auto'
).map((pane) => pane.textContent.trim().slice(0, 40))"""


@pytest.fixture(scope="module")
def lesson(open_lesson: Callable[[str], Notebook]) -> Notebook:
    """The lesson, all its cells run."""
    notebook = open_lesson("11_your_own_variant.ipynb")
    notebook.run_all()
    return notebook


@pytest.fixture(params=OUTPUTS)
def output(lesson: Notebook, request: pytest.FixtureRequest) -> Locator:
    """One of the two."""
    found = lesson.page.locator(".jp-OutputArea .ilab:has(table.grid)").nth(OUTPUTS[request.param])
    found.name = request.param
    return found


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_can_be_read(lesson: Notebook, output: Locator, dark: bool):
    lesson.use_theme(dark=dark)
    lesson.picture(f"11_{output.name}_{'dark' if dark else 'light'}", output)
    faint = lesson.page.evaluate(CONTRAST, [output.element_handle(), LEAST])
    lesson.use_theme(dark=False)
    assert faint == []


@pytest.mark.parametrize("width", [1000, 700])
def test_nothing_is_cut(lesson: Notebook, output: Locator, width: int):
    size = lesson.page.viewport_size
    lesson.fit(output, width)
    cut = output.evaluate(CUT)
    lesson.page.set_viewport_size(size)
    lesson.settle()
    assert cut == []


def test_the_card_shows_the_code_of_the_cell(lesson: Notebook):
    card = lesson.page.locator(".jp-OutputArea .ilab:has(table.grid)").nth(OUTPUTS["card"])
    card.locator("summary").click()
    assert "class Recency" in card.locator("pre").inner_text()


def test_z_nothing_was_complained_of_or_fetched_from_elsewhere(lesson: Notebook):
    assert lesson.errors() == []
    assert lesson.complaints == []
    assert lesson.outside == []
