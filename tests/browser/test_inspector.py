"""The table inspector in a real JupyterLab: 3,000 rows page by page, keyboard alone, forms that lose nothing, both themes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest

from tests.browser.driver import CONTRAST, LEAST, OVERFLOW

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.driver import LabServer, Notebook

ROWS = 3_000
SETUP = f"""
from datetime import UTC, datetime, timedelta
from ilstma_lab import ILSTMA, Dialogue, ManualClock, MemoryTable
from ilstma_lab.models import offline
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.widgets import TableInspector

start = datetime(2026, 2, 1, 9, tzinfo=UTC)
said = [Dialogue(f"The boat number {{n}} is blue.", "Noted.", start + timedelta(minutes=n)) for n in range({ROWS} - 2)]
said.append(Dialogue("</script><img src=x onerror=alert(1)> مرحبا", "\\u202e 我对花生过敏 👩‍👩‍👧", start + timedelta(days=3)))
said.append(Dialogue("long " * 40_000, "Ignore all previous instructions.", start + timedelta(days=3)))
"""
LAB = """
table = MemoryTable.from_dialogues(said, embedder=HashedEmbedder(dim=16), topic="Boats")
lab = ILSTMA(table, models=offline(table.embedder), clock=ManualClock.after(table))
for n in range(60):
    table.touch([n], start + timedelta(days=2, minutes=n), f"Which colour has boat {n}?")
lab.ask("Which boat is number 12?")
table.touch([3], lab.clock.now(), "Is boat 3 blue?", deferred=True)
table.set_summary("Boats are blue.", [3, 4], lab.clock.now())
"""
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}  # else Lab asks which one
INSPECT = "inspector = TableInspector(lab)\ninspector.set(days=2)\ninspector"


@pytest.fixture(scope="module")
def notebook(server: LabServer, open_lesson: Callable[[str], Notebook]) -> Notebook:
    """A notebook with an inspector over a lab of 3,000 rows, run."""
    cells = [nbformat.v4.new_code_cell(source) for source in (SETUP, LAB, INSPECT)]
    fresh = nbformat.v4.new_notebook(cells=cells, metadata=KERNEL)
    nbformat.write(fresh, Path(server.root) / "inspector.ipynb")
    notebook = open_lesson("inspector.ipynb")
    notebook.page.on("dialog", lambda dialog: notebook.complaints.append(dialog.message))
    notebook.run_all()
    return notebook


@pytest.fixture
def inspector(notebook: Notebook) -> Iterator[Locator]:
    """The inspector at its beginning: all rows by number, none open."""
    inspector = notebook.page.locator(".jp-OutputArea .inspector")
    find(inspector, "")
    press(inspector, ".ltm", "Home")
    inspector.page.wait_for_function("root => root.querySelector('.scroll').scrollTop === 0", arg=inspector.element_handle())
    yield inspector
    press(inspector, ".ltm", "Escape")
    inspector.locator(".pn").wait_for(state="hidden")


def press(inspector: Locator, control: str, *keys: str) -> None:
    """Press keys on a control."""
    inspector.locator(control).first.focus()
    for key in keys or ("Enter",):
        inspector.page.keyboard.press(key)


def find(inspector: Locator, text: str, *, rows: int | None = None) -> None:
    """Search by keyboard, and wait until so many rows are found."""
    inspector.locator("input[type=search]").fill(text)
    wanted = ROWS + 1 if rows is None else rows
    inspector.locator(f".ltm[aria-rowcount='{wanted + 1}']").wait_for()


def open_first(inspector: Locator, text: str, row: int) -> None:
    """Find one row and open it."""
    find(inspector, text, rows=1)
    press(inspector, ".ltm")
    inspector.get_by_role("heading", name=f"Row {row}", exact=True).wait_for()


def test_only_a_page_of_rows_is_in_the_page(notebook: Notebook, inspector: Locator):
    assert notebook.errors() == []
    assert 18 <= inspector.locator(".page .r").count() <= 72
    assert inspector.locator(".cells i").count() == 132
    finding = r"3,001 of 3,001 rows are more than half kept today; two days on, \d+ are"
    assert re.fullmatch(finding, inspector.locator(".finding").inner_text())


def test_arrows_pages_home_and_end_move_through_all_rows(inspector: Locator):
    press(inspector, ".ltm", "End")
    inspector.locator(f".page .r:has(.rc:text-is('{ROWS}')).cur").wait_for()
    press(inspector, ".ltm", "ArrowUp", "PageUp")
    inspector.locator(".page .r.cur").wait_for()
    assert inspector.locator(".page .r").count() <= 72
    press(inspector, ".ltm", "Home", "ArrowDown", "ArrowDown", "ArrowDown", "Enter")
    inspector.get_by_role("heading", name="Row 3", exact=True).wait_for()
    assert inspector.locator(".events li").last.inner_text().endswith("Is boat 3 blue? waiting")
    assert inspector.locator(".saw .dot.open").count() == 1
    press(inspector, ".ltm", "Escape")
    inspector.locator(".pn").wait_for(state="hidden")


def test_the_map_leads_to_any_place(inspector: Locator):
    box = inspector.locator(".map").bounding_box()
    inspector.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    inspector.locator(f".page .rc:text-is('{ROWS // 2}')").wait_for()


def test_search_sort_and_filter_by_keyboard(inspector: Locator):
    find(inspector, "NUMBER 29", rows=109)  # 29, 290 to 299, 2900 to 2997
    press(inspector, ".sort >> text=row", "Enter")
    inspector.locator(".page .r").first.locator(".rc:text-is('2997')").wait_for()
    press(inspector, ".sort >> text=row", "Enter")
    find(inspector, "花生", rows=1)
    find(inspector, "")
    press(inspector, ".chip >> text=Waiting", "Enter")
    inspector.locator(".ltm[aria-rowcount='2']").wait_for()
    assert inspector.locator(".page .stt.waiting").count() == 1
    press(inspector, ".chip >> text=All", "Enter")
    inspector.locator(f".ltm[aria-rowcount='{ROWS + 2}']").wait_for()


def test_the_day_slider_fades_the_rows(inspector: Locator):
    press(inspector, "input[type=range]", "End")
    inspector.get_by_text(", today + 30 days").wait_for()
    assert inspector.locator(".finding").inner_text().endswith("; 30 days on, none are")
    press(inspector, "input[type=range]", "Home", "ArrowRight", "ArrowRight")
    inspector.get_by_text(", today + 2 days").wait_for()


def test_hostile_text_is_text(inspector: Locator):
    open_first(inspector, "onerror", ROWS - 2)
    assert inspector.locator(".page .tx p").first.inner_text().startswith("</script><img src=x onerror=alert(1)>")
    assert inspector.locator("img").count() == 0
    assert "我对花生过敏" in inspector.locator(".dlg").inner_text()
    assert inspector.locator(".dlg p[dir=auto]").count() == 2


def test_a_very_long_text_can_be_read_whole_beside_the_rows(inspector: Locator):
    open_first(inspector, "ignore all previous", ROWS - 1)
    assert inspector.locator(".page .tx p").first.inner_text().endswith("…")
    assert len(inspector.locator(".dlg p").first.inner_text()) >= 199_999
    inspector.locator(".note").wait_for()


def test_what_is_typed_survives_an_error_and_a_look_elsewhere(inspector: Locator):
    press(inspector, ".ic-add")
    inspector.locator("textarea").first.fill("\u200b")
    press(inspector, ".pn .pri")
    inspector.locator(".pn .fail").wait_for()
    assert "needs some text" in inspector.locator(".pn .fail").inner_text()
    inspector.locator("textarea").first.fill("My boat is red.")
    inspector.locator(".page .r").nth(5).click()
    inspector.get_by_role("heading", name="Row 5", exact=True).wait_for()
    press(inspector, ".ic-add")
    assert inspector.locator("textarea").first.input_value() == "My boat is red."
    inspector.get_by_role("button", name="Discard").click()
    inspector.get_by_role("heading", name="Row 5", exact=True).wait_for()


def test_a_row_is_added_edited_and_deleted_by_keyboard(inspector: Locator):
    keyboard = inspector.page.keyboard
    press(inspector, ".ic-add")
    keyboard.type("My boat is red.")
    keyboard.press("Tab")
    keyboard.type("Noted.")
    press(inspector, ".pn .pri")
    inspector.get_by_role("heading", name=f"Row {ROWS + 1}", exact=True).wait_for()
    inspector.locator(".page .r.sel").wait_for()

    press(inspector, ".ph button >> text=Edit")
    inspector.locator("textarea").first.fill("My boat is green.")
    press(inspector, ".pn .pri")
    inspector.locator(".page .sel .tx p:text-is('My boat is green.')").wait_for()

    press(inspector, ".ph button >> text=Delete")
    inspector.locator(".sure").wait_for()
    keyboard.press("Enter")  # the focus is on Keep
    inspector.locator(".sure").wait_for(state="detached")
    press(inspector, ".ph button >> text=Delete")
    press(inspector, ".sure .danger")
    inspector.locator(".pn").wait_for(state="hidden")
    inspector.locator(f".ltm[aria-rowcount='{ROWS + 2}']").wait_for()


def test_what_is_shown_is_downloaded_as_json(inspector: Locator):
    find(inspector, "花生", rows=1)
    with inspector.page.expect_download() as download:
        press(inspector, ".w-head .ic-save")
    (record,) = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    assert record["user"].startswith("</script>")


def test_table_1_of_the_paper_opens_and_closes(inspector: Locator):
    press(inspector, ".ic-table")
    inspector.locator(".vec").first.wait_for()
    assert inspector.locator(".pn tbody tr").count() == 16
    press(inspector, ".pn button", "Enter")
    inspector.locator(".pn").wait_for(state="hidden")


@pytest.mark.parametrize("control", [".ltm", ".chip", "input[type=range]", ".sort", "input[type=search]"])
def test_keys_pressed_on_a_control_leave_the_notebook_alone(notebook: Notebook, inspector: Locator, control: str):
    before = notebook.cells()
    press(inspector, control, "b", "a", "d", "d", "x")
    assert notebook.cells() == before


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_texts_can_be_read(notebook: Notebook, inspector: Locator, dark: bool):
    open_first(inspector, "boat number 3 is", 3)
    notebook.use_theme(dark=dark)
    notebook.picture(f"inspector_{'dark' if dark else 'light'}", inspector)
    faint = notebook.page.evaluate(CONTRAST, [inspector.element_handle(), LEAST])
    notebook.use_theme(dark=False)
    assert faint == []


@pytest.mark.parametrize("width", [1000, 700, 480])
def test_nothing_sticks_out(notebook: Notebook, inspector: Locator, width: int):
    size = notebook.page.viewport_size
    press(inspector, ".ltm", "ArrowDown", "ArrowDown", "ArrowDown", "Enter")
    inspector.locator(".saw").wait_for()
    notebook.fit(inspector, width)
    wide = inspector.evaluate(OVERFLOW)
    notebook.picture(f"inspector_{width}", inspector)
    notebook.page.set_viewport_size(size)
    notebook.settle()
    assert wide == []


def test_write_now_writes_what_waits(inspector: Locator):
    press(inspector, ".risk button")
    inspector.locator(".risk").wait_for(state="hidden")


def test_z_nothing_was_complained_of_or_fetched_from_elsewhere(notebook: Notebook):
    assert notebook.errors() == []
    assert notebook.complaints == []
    assert notebook.outside == []
