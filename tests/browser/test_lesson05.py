"""Lesson 05 in a real JupyterLab: strip and tuner draw, a row and a cell are picked, the clock travels, all can be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser.driver import CONTRAST, LEAST, OVERFLOW
from tests.browser.test_explorables import FIGURE_CONTRAST, HANDLE, press

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.driver import Notebook

# The lines of text in an explorable's figures that can be seen: [text, box, box of the figure].
_LINES = """const lines = [...root.querySelectorAll('.main-svg')].flatMap((svg) => {
    const seen = [...svg.querySelectorAll('text')].filter((text) => text.checkVisibility({ opacityProperty: true }));
    const parts = seen.flatMap((text) => (text.querySelector('tspan.line') ? [...text.querySelectorAll('tspan.line')] : [text]));
    return parts.filter((part) => part.textContent.trim())
      .map((part) => [part.textContent, part.getBoundingClientRect(), svg.getBoundingClientRect()]);
  });"""
COVERED = f"""(root) => {{
  {_LINES}
  const cover = ([, a], [, b]) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
  const names = (one, rest) => rest.filter((other) => cover(one, other)).map((other) => `${{one[0]}} / ${{other[0]}}`);
  return lines.flatMap((one, at) => names(one, lines.slice(at + 1)));
}}"""
CUT = f"""(root) => {{
  {_LINES}
  const out = (a, frame) =>
    a.left < frame.left - 1 || a.right > frame.right + 1 || a.top < frame.top - 1 || a.bottom > frame.bottom + 1;
  return lines.filter(([, box, frame]) => out(box, frame) || box.height > 20).map(([text]) => text);
}}"""  # lines higher than 20 pixels are turned


@pytest.fixture(scope="module")
def lesson(open_lesson: Callable[[str], Notebook]) -> Notebook:
    """The lesson, all its cells run."""
    notebook = open_lesson("05_prefetch_score.ipynb")
    notebook.run_all()
    return notebook


def explorable(lesson: Notebook, at: int) -> Locator:
    """The first or second explorable, drawn, with the paper's parameters."""
    found = lesson.page.locator(".jp-OutputArea .explorable").nth(at)
    found.locator(".fig .main-svg").first.wait_for(state="attached")
    press(found, ".ic-reset")
    return found


@pytest.fixture
def strip(lesson: Notebook) -> Locator:
    """The score strip."""
    return explorable(lesson, 0)


@pytest.fixture
def tuner(lesson: Notebook) -> Locator:
    """The window tuner, its map computed."""
    found = explorable(lesson, 1)
    found.locator(".fig-title", has_text="computing").wait_for(state="detached")
    return found


def test_all_cells_run_and_every_figure_draws(lesson: Notebook, strip: Locator, tuner: Locator):
    assert lesson.errors() == []
    for shown in (strip, tuner):
        assert shown.locator(".fig").count() == 2
        for figure in shown.locator(".fig").all():
            assert figure.locator("[role=img]").get_attribute("aria-label")
            assert figure.locator(".main-svg").first.bounding_box()["width"] > 200
    assert strip.locator(".fig .barlayer .point").count() >= 11
    assert tuner.locator(".fig .heatmaplayer image, .fig .heatmaplayer .hm").count() >= 1


def test_an_arrow_key_moves_the_clock_and_reset_brings_today_back(strip: Locator):
    today = strip.locator(".live .readout b").inner_text()
    strip.locator(HANDLE).first.focus()
    for _ in range(12):
        strip.page.keyboard.press("ArrowRight")
    strip.locator(".readout", has_text="12 days from now").wait_for()
    assert strip.locator(".live .readout b").inner_text() != today
    press(strip, ".ic-reset")
    strip.locator(".readout", has_text="today").wait_for()


def test_a_click_on_a_bar_and_arrow_keys_choose_the_row(strip: Locator):
    plot = strip.locator(".fig .nsewdrag").first
    box = plot.bounding_box()
    plot.click(position={"x": box["width"] / 2, "y": box["height"] * 0.8})
    chosen = strip.locator(".eq .arith .rc").first
    before = chosen.inner_text()
    strip.locator(".fig-image").first.focus()
    strip.page.keyboard.press("ArrowRight")
    now = "before => document.querySelector('.jp-OutputArea .explorable .eq .arith .rc')?.innerText !== before"
    strip.page.wait_for_function(now, arg=before)


def test_arrow_keys_on_the_map_choose_a_cell(tuner: Locator):
    tuner.locator(".fig-image").first.focus()
    tuner.page.keyboard.press("ArrowRight")
    tuner.locator(".finding", has_text="± 6 and k = 3").wait_for()
    tuner.page.keyboard.press("ArrowUp")
    tuner.locator(".finding", has_text="± 6 and k = 4").wait_for()


def test_the_map_turns_into_a_table_without_nan(tuner: Locator):
    press(tuner, "button:has-text('Show as table')")
    table = tuner.locator(".fig-table table").first
    table.wait_for()
    texts = " ".join(tuner.locator(".fig-table").all_inner_texts())
    press(tuner, "button:has-text('Show as table')")
    assert "k = 3" in texts
    assert "nan" not in texts.lower()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_texts_can_be_read(lesson: Notebook, strip: Locator, tuner: Locator, dark: bool):
    lesson.use_theme(dark=dark)
    for name, shown in (("strip", strip), ("tuner", tuner)):
        lesson.picture(f"05_{name}_{'dark' if dark else 'light'}", shown)
    outputs = lesson.page.locator(".jp-OutputArea .ilab")
    faint = {text for output in outputs.element_handles() for text in lesson.page.evaluate(CONTRAST, [output, LEAST])}
    for shown in (strip, tuner):
        figures = shown.locator(".main-svg").element_handles()
        faint |= {text for figure in figures for text in lesson.page.evaluate(FIGURE_CONTRAST, [figure, LEAST])}
    lesson.use_theme(dark=False)
    assert faint == set()


@pytest.mark.parametrize("width", [1000, 700])
def test_nothing_sticks_out_is_cut_or_covered(lesson: Notebook, strip: Locator, tuner: Locator, width: int):
    size = lesson.page.viewport_size
    lesson.fit(strip, width)
    found = {text for output in lesson.page.locator(".jp-OutputArea .ilab").all() for text in output.evaluate(OVERFLOW)}
    wide = {text for text in found if text[0].isupper() or text.startswith("text.")}
    for name, shown in (("strip", strip), ("tuner", tuner)):
        lesson.picture(f"05_{name}_{width}", shown)
    covered = [text for shown in (strip, tuner) for text in shown.evaluate(COVERED)]
    cut = [text for shown in (strip, tuner) for text in shown.evaluate(CUT)]
    lesson.page.set_viewport_size(size)
    lesson.settle()
    assert (wide, covered, cut) == (set(), [], [])


def test_z_nothing_was_complained_of_or_fetched_from_elsewhere(lesson: Notebook):
    assert lesson.errors() == []
    assert lesson.complaints == []
    assert lesson.outside == []
