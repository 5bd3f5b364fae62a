"""The table inspector: all rows of long-term memory in pages, how well each is kept on which day, and one row's history."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import traitlets

from ilstma_lab.clock import Clock
from ilstma_lab.errors import IlstmaError, InputError
from ilstma_lab.memory.entry import Dialogue, MemoryEntry
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.reprs.markup import Html
from ilstma_lab.reprs.words import plain
from ilstma_lab.widgets.inspector_chart import history_view
from ilstma_lab.widgets.inspector_frame import frame_of, paper_rows, records_of
from ilstma_lab.widgets.inspector_history import history_of
from ilstma_lab.widgets.inspector_look import SCREEN_ROWS, Look
from ilstma_lab.widgets.inspector_page import marks_of, view_of
from ilstma_lab.widgets.inspector_panel import PANEL_CHARACTERS, Hanging, hanging_on, panel_of
from ilstma_lab.widgets.inspector_rows import InspectedRows, Shown
from ilstma_lab.widgets.inspector_twins import inspector_html, inspector_text
from ilstma_lab.widgets.light_figure import own_css
from ilstma_lab.widgets.shell import Shell, module

if TYPE_CHECKING:
    import pandas as pd

    from ilstma_lab.engine import ILSTMA
    from ilstma_lab.protocols import Retention, Strength

EXPORTED_ROWS = 20_000


def inspector_css() -> str:
    """Return the rules of the inspector, beside those of ilab.css and explorable.css."""
    return (files("ilstma_lab") / "widgets" / "static" / "inspector.css").read_text(encoding="utf-8")


class TableInspector(Shell):
    """The global memory table on a screen: search, sort, look days ahead, open a row, add, edit and delete.

    Of a lab it also shows what is cached, and takes its clock, strength and retention; a table alone is looked at on the
    day after its last row, with the paper's curves, unless others are given. `title` stands above (default: the topic).
    All changes go through the table's own methods, so that everything that depends on a row is consistent at once.
    Call `refresh` after something else, such as a turn, has changed the table.
    """

    _esm = module("inspector")
    _css = Shell._css + own_css() + inspector_css()
    view = traitlets.Dict().tag(sync=True)
    panel = traitlets.Dict().tag(sync=True)
    history = traitlets.Dict().tag(sync=True)
    look = traitlets.Dict().tag(sync=True)
    said = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        table: MemoryTable | ILSTMA,
        clock: Clock | None = None,
        *,
        strength: Strength | None = None,
        retention: Retention | None = None,
        title: str = "",
    ):
        super().__init__()
        self.rows = InspectedRows.of(table, clock=clock, strength=strength, retention=retention)
        self._title = title
        self._look = Look()
        self._shown: Shown
        self._show(self._look)
        self.rows.table.kept_by(self)
        self.on_msg(self._receive)

    # -- what is looked at -------------------------------------------------------------------------------------------------

    def set(self, **choices: Any) -> None:
        """Change what is looked at: find, only, sort, falling, days, first, row. Raises InputError for what cannot be shown."""
        if unknown := sorted(set(choices) - set(asdict(self._look))):
            raise InputError(f"there is nothing to choose called {', '.join(unknown)}; there are {', '.join(asdict(self._look))}")
        if {"find", "only", "sort", "falling"} & set(choices):
            choices = {"first": 0, **choices}  # another order begins at its top
        self._show(replace(self._look, **choices))

    def open_row(self, row: int) -> None:
        """Open the row with this number beside the rows, and bring it onto the screen. Raises InputError where there is none."""
        self._show(replace(self._look, row=int(row)))
        place, first = self.view["place"], self._look.first
        if place >= 0 and not first <= place < first + SCREEN_ROWS:
            self.set(first=max(0, place - SCREEN_ROWS // 2))

    def refresh(self) -> None:
        """Show the table as it stands; an open row that was deleted is closed."""
        gone = self._look.row is not None and self._look.row not in self.rows.table
        self._show(replace(self._look, row=None) if gone else self._look)

    def forget(self, texts: Sequence[str] = ()) -> None:
        """Show the table as it stands; `table.compact()` calls this."""
        self.refresh()

    def state(self) -> dict[str, Any]:
        """Return what is looked at, as plain JSON values."""
        return {"explorable": type(self).__name__, "version": 1, "parameters": asdict(self._look)}

    @classmethod
    def from_state(cls, state: Mapping[str, Any] | str, table: MemoryTable | ILSTMA, **options: Any) -> TableInspector:
        """Return an inspector of `table` that looks at what `state` (a dict, or its JSON) says; `options` as for the class.

        Raises InputError where the state is another's.
        """
        try:
            kept = json.loads(state) if isinstance(state, str) else state
            name, version, look = kept["explorable"], kept["version"], dict(kept["parameters"])
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"this is no state of an inspector ({error!r}): give what state() returned, or its JSON") from None
        if (name, version) != (cls.__name__, 1):
            raise InputError(f"this is a state of {name}, version {version}; {cls.__name__} reads its own, version 1")
        inspector = cls(table, **options)
        inspector.set(**look)
        return inspector

    def python(self) -> str:
        """Return code that shows what is looked at now."""
        usual = asdict(Look())
        chosen = ", ".join(f"{name}={value!r}" for name, value in asdict(self._look).items() if value != usual[name])
        given = "lab" if self.rows.memory else "table"
        lines = ["from ilstma_lab.widgets import TableInspector", "", f"inspector = TableInspector({given})"]
        return "\n".join([*lines, *([f"inspector.set({chosen})"] if chosen else []), "inspector"])

    # -- what changes the table ----------------------------------------------------------------------------------------------

    def add(self, user: str, assistant: str) -> int:
        """Add a dialogue, told now by the clock, open its row and return its number."""
        row = self.rows.table.add(Dialogue(user, assistant, self.rows.moment()))
        self.open_row(row)
        return row

    def edit(self, row: int, *, user: str | None = None, assistant: str | None = None) -> MemoryEntry:
        """Change a row's text and return the row: it is embedded again, and summaries that it stands in become stale."""
        self._known(row)
        changed = self.rows.table.edit(row, user=user, assistant=assistant)
        self.refresh()
        return changed

    def hanging_on(self, row: int) -> Hanging:
        """Return what goes or changes when the row is deleted; nothing is changed."""
        self._known(row)
        return hanging_on(self.rows, row)

    def delete(self, row: int) -> Hanging:
        """Delete a row, with all that hangs on it, and return what that was. The browser asks once more; this does not."""
        hanging = self.hanging_on(row)
        self.rows.table.delete(row)
        self.refresh()
        return hanging

    def write_waiting(self) -> int:
        """Write the deferred touches into the columns and return how many rows changed."""
        count = self.rows.table.write_waiting()
        self.refresh()
        return count

    # -- what is taken away --------------------------------------------------------------------------------------------------

    def to_frame(self) -> pd.DataFrame:
        """Return the rows shown, in the order shown, as pandas: texts, times, S and R on the day looked at."""
        return frame_of(self.rows, self._look, self._shown)

    def table_1(self) -> pd.DataFrame:
        """Return Table 1 of the paper on the day looked at: all rows, in the table's own order."""
        return self.rows.table.to_frame(self.rows.moment(self._look.days))

    def static(self) -> Html:
        """Return what is shown as HTML without a script."""
        return inspector_html(self.view, self.panel, self.history, css=inspector_css())

    def text(self) -> str:
        """Return what is shown as plain text."""
        return inspector_text(self.view, self.panel, self.history)

    # -- inside --------------------------------------------------------------------------------------------------------------

    def _show(self, look: Look) -> None:
        """Show `look`, or raise and leave everything as it was."""
        if look.row is not None:
            self._known(look.row)
        shown = self.rows.shown(look)
        view = view_of(self.rows, look, shown, title=self._title)
        panel, history = self._open_row(look) if look.row is not None else ({}, {})
        self._look, self._shown = look, shown
        with self.hold_sync():
            self.look, self.panel, self.history = asdict(look), panel, history
            self.view = {**view, "python": self.python()}

    def _open_row(self, look: Look) -> tuple[dict[str, Any], dict[str, Any]]:
        entry, cached = self.rows.table[look.row], self.rows.cached()
        rank = cached.index(look.row) + 1 if look.row in cached else 0
        marks = marks_of(entry, rank, look.row in self.rows.table.waiting)
        return panel_of(self.rows, look.row, marks=marks), history_view(history_of(self.rows, look.row, days=look.days))

    def _known(self, row: int) -> None:
        if row not in self.rows.table:
            raise InputError(
                f"there is no row {row}: it was deleted, or never was; the next number is {self.rows.table.next_index}"
            )

    # -- what comes from the browser -----------------------------------------------------------------------------------------

    def _receive(self, _: object, content: dict[str, Any], __: object) -> None:
        match content:
            case {"do": "look", "n": str(n), "look": dict(look)}:
                self._answer(n, lambda: self.set(**look))
            case {"do": "add", "n": str(n), "user": str(user), "assistant": str(assistant)}:
                self._answer(n, lambda: {"row": self.add(user, assistant)})
            case {"do": "edit", "n": str(n), "row": int(row), "texts": dict(texts)}:
                self._answer(n, lambda: self.edit(row, **texts))
            case {"do": "texts", "n": str(n), "row": int(row)}:
                self._answer(n, lambda: self._texts(row))
            case {"do": "weigh", "n": str(n), "row": int(row)}:
                self._answer(n, lambda: self._weigh(row))
            case {"do": "delete", "n": str(n), "row": int(row)}:
                self._answer(n, lambda: self.delete(row))
            case {"do": "write", "n": str(n)}:
                self._answer(n, lambda: self.write_waiting())
            case {"do": "export", "n": str(n)}:
                self._answer(n, self._export)
            case {"do": "paper", "n": str(n), "first": int(first)}:
                self._answer(n, lambda: {"paper": paper_rows(self.rows, replace(self._look, first=first), self._shown)})

    def _answer(self, n: str, act: Callable[[], object]) -> None:
        """Do what was asked, and tell the browser: an error raised here would stand in a log that nobody reads."""
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always")
            try:
                result = act()
                answer = {"ok": True, "message": "", **(result if isinstance(result, dict) else {})}
            except Exception as error:
                answer = {"ok": False, "message": _advice(error)}
        note = plain(" ".join(str(warning.message) for warning in noted), 600)
        self.said = {"n": n, "note": note, **answer}

    def _texts(self, row: int) -> dict[str, Any]:
        """The texts as they are stored: what a form begins with."""
        self._known(row)
        user, assistant = self.rows.table.sides(row)
        if max(len(user), len(assistant)) > PANEL_CHARACTERS:
            raise InputError(f"row {row} is too long to edit here: use table.edit({row}, user=..., assistant=...)")
        return {"user": user, "assistant": assistant}

    def _weigh(self, row: int) -> dict[str, Any]:
        hanging = self.hanging_on(row)
        return {"sentences": hanging.sentences(), "rows": len(hanging.gone)}

    def _export(self) -> None:
        if len(self._shown.positions) > EXPORTED_ROWS:
            raise InputError(
                f"more than {EXPORTED_ROWS:,} rows are not sent to the browser: narrow them down, or write them from Python with "
                'inspector.to_frame().to_csv("rows.csv")'
            )
        self.send({"save": json.dumps(records_of(self.to_frame()), ensure_ascii=False, indent=1), "name": "rows.json"})


def _advice(error: Exception) -> str:
    if isinstance(error, IlstmaError):
        return plain(str(error), 600)
    return plain(f"{type(error).__name__}: {error}. What you typed is kept: try again, or use the table in a cell.", 600)
