"""The player and the segment panel in a real JupyterLab: they draw, obey the keyboard, keep their keys, and can be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest

from tests.browser.driver import CONTRAST, LEAST, OVERFLOW

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.driver import LabServer, Notebook

ATTACK = "</script><img src=x onerror=alert(1)>"
CELLS = (
    """from ilstma_lab.teaching import start
from ilstma_lab.widgets import Player, SegmentPanel
lesson = start("travel")
lab = lesson.new_lab()
for question in (
    lesson.question("travel-08").question,
    "How much is in the pot after Tomek's two extra Sunday duties in May?",
    "Which instrument did I tune in the church?",
):
    lab.ask(question)
Player(lab.turns, turn=0, step=6)""",
    "SegmentPanel(lab)",
    f"""from dataclasses import replace
from ilstma_lab.models.call import Call
words = {ATTACK!r} + " שלום 👨‍👩‍👧 " + "word " * 40_000
row = lab.turns[0].recalled[0]
rows = {{index: replace(row, user=words, assistant=words, source=words) for index, row in lab.turns[0].rows.items()}}
call = Call("answer", "model", (("user", words),), words)
Player(replace(lab.turns[0], question=words, answer=words, rows=rows, calls={{9: (call,)}}), step=9, show=f"row {{row}}")""",
)


@pytest.fixture(scope="module")
def notebook(server: LabServer, open_lesson: Callable[[str], Notebook]) -> Notebook:
    """A notebook with a player of three turns, a segment panel, and a player of hostile text, run."""
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}  # else Lab asks for one
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), Path(server.root) / "player.ipynb")
    notebook = open_lesson("player.ipynb")
    notebook.dialogs = []
    notebook.page.on("dialog", lambda dialog: (notebook.dialogs.append(dialog.message), dialog.dismiss()))
    notebook.run_all()
    return notebook


@pytest.fixture
def player(notebook: Notebook) -> Locator:
    """The player of three turns, at step 6 of the first."""
    player = notebook.page.locator(".jp-OutputArea .ilab.player").first
    player.locator(".pl-turns .chip").first.click()
    player.locator(".tl-cell[data-value='6']").click()
    at(player, 6)
    return player


def at(player: Locator, step: int) -> None:
    """Wait until the player stands at a step."""
    player.locator(f".tl-cell.here[data-value='{step}']").wait_for()


def test_the_architecture_is_drawn(notebook: Notebook, player: Locator):
    assert notebook.errors() == []
    assert player.locator(".tile .name").all_inner_texts() == ["Cache", "Summary", "Personality", "History", "Relevant"]
    assert player.locator(".dg-no").count() == 9
    assert player.locator(".dg-lines path.act").count() >= 4
    assert player.locator(".pn .cand").count() >= 8
    assert player.locator(".tl-cell").count() == 9


def test_arrows_home_and_end_step_through_the_turn(player: Locator):
    keyboard = player.page.keyboard
    player.locator("[data-do=next]").focus()
    for key, step in (("ArrowRight", 5), ("ArrowRight", 9), ("ArrowLeft", 5), ("End", 7), ("Home", 1), ("ArrowRight", 2)):
        keyboard.press(key)
        at(player, step)
    assert player.evaluate("root => root.contains(document.activeElement)"), "the focus is not lost on the way"


def test_everything_can_be_reached_and_pressed_by_keyboard(player: Locator):
    chip = player.locator(".pn .who .pick").first
    name = chip.get_attribute("data-value")
    chip.focus()
    player.page.keyboard.press("Enter")
    card = player.locator(".picked")
    card.wait_for()
    assert card.locator("h3").inner_text() == name.capitalize()
    card.locator(".close").focus()
    player.page.keyboard.press("Enter")
    card.wait_for(state="detached")
    player.locator(".tile.is-relevant").focus()
    player.page.keyboard.press("Space")
    player.locator(".picked h3:has-text('Relevant')").wait_for()
    player.locator(".picked .close").click()
    player.locator(".pl-turns [title='The next turn']").focus()
    player.page.keyboard.press("Enter")
    player.locator(".badge.hit").first.wait_for()


def test_play_goes_on_by_itself_and_stops_at_the_end(player: Locator):
    player.locator(".tl-cell[data-value='8']").click()
    at(player, 8)
    player.locator("[data-play]").focus()
    player.page.keyboard.press("Enter")
    at(player, 7)
    player.page.wait_for_function("() => !document.querySelector('.ilab.player.playing')")


@pytest.mark.parametrize("control", ["[data-do=next]", ".tl-cell", ".tile", ".pn"])
def test_keys_pressed_on_a_control_leave_the_notebook_alone(notebook: Notebook, player: Locator, control: str):
    before = notebook.cells()
    player.locator(control).first.focus()
    for key in ("b", "a", "d", "d", "x"):
        notebook.page.keyboard.press(key)
    assert notebook.cells() == before


def test_the_segment_panels_switch_works_by_keyboard(notebook: Notebook):
    panel = notebook.page.locator(".jp-OutputArea .ilab.segment-panel")
    assert "The next hit clears" in panel.locator(".finding").inner_text()
    panel.locator(".segd button").nth(1).focus()
    notebook.page.keyboard.press("Enter")
    panel.get_by_text("The next miss clears").wait_for()
    assert panel.locator(".sp-card.goes h3").all_inner_texts() == ["Cache", "Summary", "Relevant"]
    notebook.picture("segment_panel", panel)


def test_g6_hostile_text_is_text(notebook: Notebook):
    hostile = notebook.page.locator(".jp-OutputArea .ilab.player").nth(1)
    hostile.locator(".pn-calls details").first.locator("summary").click()
    assert "onerror=alert(1)" in hostile.locator(".picked").inner_text()
    assert "onerror=alert(1)" in hostile.locator(".pn-calls").inner_text()
    assert "characters more in the Turn" in hostile.locator(".pn-calls").inner_text()
    assert hostile.locator("img, script, iframe, a").count() == 0
    notebook.picture("player_hostile", hostile)
    assert notebook.dialogs == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_texts_can_be_read(notebook: Notebook, player: Locator, dark: bool):
    notebook.use_theme(dark=dark)
    faint = set()
    for step in (1, 6, 7):
        player.locator(f".tl-cell[data-value='{step}']").click()
        at(player, step)
        notebook.picture(f"player_{step}_{'dark' if dark else 'light'}", player)
        outputs = notebook.page.locator(".jp-OutputArea .ilab").element_handles()
        faint |= {text for output in outputs for text in notebook.page.evaluate(CONTRAST, [output, LEAST])}
    notebook.use_theme(dark=False)
    assert faint == set()


@pytest.mark.parametrize("width", [1015, 700])
def test_nothing_sticks_out(notebook: Notebook, player: Locator, width: int):
    size = notebook.page.viewport_size
    notebook.fit(player, width)
    outputs = notebook.page.locator(".jp-OutputArea .ilab").all()
    wide = {text for output in outputs for text in output.evaluate(OVERFLOW)}
    notebook.picture(f"player_{width}", player)
    notebook.page.set_viewport_size(size)
    notebook.settle()
    assert wide == set()


# How far the texts that are kept to a number of lines stand above the end of their box, and how many lines each shows.
_LINES = """(box) => [...box.querySelectorAll('.lines')].map((lines) => {
  const own = lines.getBoundingClientRect(), high = parseFloat(getComputedStyle(lines).lineHeight);
  return [own.height / high, box.getBoundingClientRect().bottom - own.bottom];
})"""


@pytest.mark.parametrize("which", [0, 1], ids=["three turns", "hostile"])
@pytest.mark.parametrize("step", [1, 9])
def test_the_chat_box_shows_whole_lines(notebook: Notebook, player: Locator, which: int, step: int):
    size = notebook.page.viewport_size
    notebook.fit(player, 1000)
    shown = notebook.page.locator(".jp-OutputArea .ilab.player").nth(which)
    shown.locator(f".tl-cell[data-value='{step}']").click()
    at(shown, step)
    box = shown.locator(".dg .bx").first
    notebook.picture(f"chat_box_{which}_{step}", box)
    lines = box.evaluate(_LINES)
    notebook.page.set_viewport_size(size)
    notebook.settle()
    assert len(lines) == (2 if step == 9 else 1)
    assert all(many in (1, 2) and below >= 6 for many, below in lines)


def test_z_nothing_was_complained_of_or_fetched_from_elsewhere(notebook: Notebook):
    assert notebook.errors() == []
    assert notebook.complaints == []
    assert notebook.outside == []
    assert notebook.dialogs == []
