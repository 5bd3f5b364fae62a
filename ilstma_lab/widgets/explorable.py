"""The base of all explorables: parameters -> controls -> numbers -> figures, in one frame."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, ClassVar

import ipywidgets

from ilstma_lab.errors import InputError
from ilstma_lab.reprs.markup import Html
from ilstma_lab.widgets.controls import active, checked, control_of
from ilstma_lab.widgets.latest import Latest
from ilstma_lab.widgets.light_figure import LightFigure, Pick
from ilstma_lab.widgets.screen import Drawing, Rows, Screen

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = ["Drawing", "Explorable", "Pick"]


class Explorable(ipywidgets.VBox):
    """Base class. A lab says its `Parameters` (controls.py), what it computes, and what that looks like.

    Write `compute(p)` and `draw(p, result)`; where something takes longer than 50 ms also `refine(p, result)`, which runs
    in a thread under a busy mark, for the newest parameters only. `picked` turns a pick in a figure into parameters,
    `settle` keeps parameters that depend on each other in step, `rows` places figures and panels.

    Each parameter's control is there by name: `lab.rate.value = 0.9`; `lab.set(rate=0.9, t=7)` sets several.
    """

    Parameters: ClassVar[type]
    eyebrow: ClassVar[str] = ""
    try_this: ClassVar[str] = ""
    reset_words: ClassVar[str] = "Reset to the paper"
    presets: ClassVar[Mapping[str, Any]] = {}
    rows: ClassVar[Rows] = ()
    given: str = ""
    """The name under which `python()` shows what the constructor is given beside parameters, such as a table."""
    refine: ClassVar[Any] = None
    """`refine(self, p, result)` returns a fuller result, as slowly as it must."""

    def compute(self, p: Any) -> Any:
        """Return the numbers for parameters `p`; under 50 ms, for it runs at every move of a slider."""

    def draw(self, p: Any, result: Any) -> Drawing:
        """Return what is shown of `result`; the same figures and panels each time."""
        raise NotImplementedError

    def settle(self, old: Any, new: Any) -> Any:
        """Return `new` made consistent, when a reader went from `old` to `new`; a preset goes from itself to itself."""
        return new

    def picked(self, figure: str, pick: Pick, p: Any) -> Any:
        """Return the parameters that `pick` in `figure` asks for, or None."""
        return None

    # -- from Python -----------------------------------------------------------------------------------------------------

    def __init__(self, **parameters: Any):
        given = checked(self.Parameters, parameters)
        self.parameters = self.settle(given, given)
        self.error: Exception | None = None
        self._setting = False
        self._drawing = threading.RLock()
        self._worker = Latest(self._refine, busy=lambda busy: self._screen.head.put(busy=busy))
        self._wanted, usual = control_of(self.Parameters), self.Parameters()
        self.controls = {name: control.widget(getattr(usual, name)) for name, control in self._wanted.items()}
        for control in self.controls.values():
            control.observe(self._changed, names="value")
        self._screen = Screen(
            self.draw(self.parameters, self.compute(self.parameters)),
            [self.controls[name] for name, control in self._wanted.items() if control.shown],
            rows=self.rows,
            words={"eyebrow": self.eyebrow, "try_this": self.try_this, "reset": self.reset_words, "name": type(self).__name__},
            press=self._press,
            pick=self._pick if type(self).picked is not Explorable.picked else None,
        )
        super().__init__(children=self._screen.widgets)
        for name in ("ilab", "explorable"):
            self.add_class(name)
        self._update()

    def __getattr__(self, name: str) -> ipywidgets.Widget:
        controls = self.__dict__.get("controls", {})
        if name in controls:
            return controls[name]
        raise AttributeError(f"{type(self).__name__} has no {name!r}; its parameters: {', '.join(controls)}")

    @property
    def figures(self) -> dict[str, LightFigure]:
        """The figures by name."""
        return self._screen.figures

    @property
    def drawing(self) -> Drawing:
        """What is shown now."""
        return self._screen.drawing

    def set(self, **values: Any) -> None:
        """Set several parameters at once. Raises InputError for values that cannot be taken, and whatever computing raises.

        After an error all stands as before.
        """
        before = self.parameters
        self._go(checked(self.Parameters, {**asdict(before), **values}))
        if (error := self.error) is not None:
            self._go(before, old=before)
            raise error

    def reset(self) -> None:
        """Return to the defaults."""
        self._go(self.Parameters())

    def preset(self, name: str) -> None:
        """Take the parameters of a preset; what has no control (a chosen place) stays."""
        if name not in self.presets:
            raise InputError(f"no preset {name!r}; there are {', '.join(self.presets)}")
        kept = {name: value for name, value in asdict(self.parameters).items() if not self._wanted[name].shown}
        asked = replace(self.presets[name], **kept)
        self._go(asked, old=asked)

    def state(self) -> dict[str, Any]:
        """Return the parameters as plain JSON values."""
        return {"explorable": type(self).__name__, "version": 1, "parameters": asdict(self.parameters)}

    @classmethod
    def from_state(cls, state: Mapping[str, Any] | str, *given: Any) -> Explorable:
        """Return the explorable that `state` (a dict, or its JSON) describes; `given` as its constructor takes it.

        Raises InputError where the state is another's.
        """
        try:
            known = json.loads(state) if isinstance(state, str) else dict(state)
            name, version, parameters = known["explorable"], known["version"], dict(known["parameters"])
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"this is no state of an explorable ({error!r}): give what state() returned, or its JSON") from None
        if (name, version) != (cls.__name__, 1):
            raise InputError(f"this is a state of {name}, version {version}; {cls.__name__} reads its own, version 1")
        return cls(*given, **parameters)

    def python(self) -> str:
        """Return code that builds this explorable as it stands."""
        kind, usual = type(self), asdict(self.Parameters())
        changed = [f"{name}={value!r}" for name, value in asdict(self.parameters).items() if value != usual[name]]
        arguments = ", ".join([self.given, *changed] if self.given else changed)
        load = "" if kind.__module__ == "__main__" else f"from {kind.__module__} import {kind.__name__}\n\n"
        return f"{load}{kind.__name__}({arguments})"

    def figure(self, name: str = "") -> go.Figure:
        """Return a figure as a static one, its titles put back; the first one without a name."""
        if name and name not in self.figures:
            raise InputError(f"no figure {name!r}; there are {', '.join(self.figures)}")
        return self.figures[name or next(iter(self.figures))].figure()

    def wait(self, seconds: float | None = None) -> bool:
        """Return whether all that is slow was done within `seconds`."""
        return self._worker.wait(seconds)

    def static(self) -> Html:
        """Return the present state as HTML without a script."""
        return self._screen.static(self.python())

    def text(self) -> str:
        """Return the present state as plain text."""
        return self._screen.text()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict:
        return {**super()._repr_mimebundle_(**kwargs), "text/plain": self.text(), "text/html": self.static()}

    # -- events ------------------------------------------------------------------------------------------------------------

    def _changed(self, _: object) -> None:
        now = asdict(self.parameters)
        heard = {name: self._wanted[name].heard(control.value, now[name]) for name, control in self.controls.items()}
        if not self._setting and heard != now:
            self._go(self.Parameters(**heard))

    def _press(self, what: str, name: str) -> None:
        if what == "reset":
            self.reset()
        elif what == "table":
            self._screen.turn_tables()
        elif name in self.presets:
            self.preset(name)

    def _pick(self, figure: str, pick: Pick) -> None:
        try:
            asked = self.parameters if pick.kind == "leave" else self.picked(figure, pick, self.parameters)
        except Exception as error:
            return self._fail(error)
        if asked is None:
            return
        if pick.kind in ("hover", "leave"):
            self._show(asked)  # a look: what was chosen comes back when the reader leaves
        else:
            self._go(asked)

    def _go(self, new: Any, *, old: Any = None) -> None:
        """Take new parameters: from a control, a preset, a pick or Python."""
        try:
            self.parameters = self.settle(old or self.parameters, new)
        except Exception as error:
            self._fail(error)
        else:
            self._update()

    def _update(self) -> None:
        shown = active(self.parameters)
        self._setting = True
        try:
            for name, value in asdict(self.parameters).items():
                self.controls[name].value = value
                self.controls[name].layout.display = None if name in shown else "none"
        finally:
            self._setting = False
        result = self._show(self.parameters)
        chosen = [name for name, preset in self.presets.items() if active(self.settle(preset, preset)) == shown]
        self._screen.presets.put(presets=[[name, name in chosen] for name in self.presets], yours=not chosen)
        self._screen.foot.put(code=self.drawing.code, python=self.python(), state=json.dumps(self.state(), ensure_ascii=False))
        if self.refine is not None and self.error is None:
            self._worker.submit((self.parameters, result))

    def _show(self, p: Any) -> Any:
        """Compute and draw `p`, and return the result."""
        try:
            result = self.compute(p)
            with self._drawing:
                self._put(self.draw(p, result))
        except Exception as error:
            self._fail(error)
            return None
        return result

    def _refine(self, request: tuple[Any, Any]) -> None:
        """Work in the thread; what has been overtaken meanwhile is not shown."""
        p, result = request
        try:
            fuller = self.refine(p, result)
            with self._drawing:
                if p == self.parameters:
                    self._put(self.draw(p, fuller))
        except Exception as error:
            self._fail(error)

    def _put(self, drawing: Drawing) -> None:
        self.error = None
        self._screen.put(drawing)

    def _fail(self, error: Exception) -> None:
        """Show the error in the widget: raised in a callback, it would stand in a log that nobody reads."""
        self.error = error
        self._screen.fail(error)
