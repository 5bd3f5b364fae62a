"""Parameters with their controls: a field of a frozen dataclass says its default, its bounds and how it is shown."""

from __future__ import annotations

import html
import math
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from numbers import Integral, Real
from typing import Any

import ipywidgets
import traitlets

from ilstma_lab.errors import InputError


def _on_step(value: float, low: float, high: float, step: float) -> float:
    return round(min(low + round((max(value, low) - low) / step) * step, high), 10)


class _OnSteps:
    """Stands on its steps only, and does not take for a reader's wish what is an answer.

    The browser's slider sends a value that Python gave back with another last digit, and after several quick ones that answer is
    stale: it is met with the present value.
    """

    def __init__(self, **traits: Any):
        self._given: deque[float] = deque(maxlen=200)
        self._hearing = False
        super().__init__(**traits)

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take what the browser sends."""
        if "value" in sync_data:
            if self._stand(sync_data["value"]) in self._given:
                sync_data = {**sync_data, "value": self.value}
            else:
                self._given.clear()
        self._hearing = True
        try:
            super().set_state(sync_data)
        finally:
            self._hearing = False

    @traitlets.validate("value")
    def _validate_value(self, proposal: Any) -> float:
        value = self._stand(proposal["value"])
        if not self._hearing:
            self._given.append(value)
        return value


class _FloatSlider(_OnSteps, ipywidgets.FloatSlider):
    def _stand(self, value: float) -> float:
        return _on_step(value, self.min, self.max, self.step)


class _LogSlider(_OnSteps, ipywidgets.FloatLogSlider):
    def _stand(self, value: float) -> float:
        return self.base ** _on_step(math.log10(max(value, self.base**self.min)), self.min, self.max, self.step)


@dataclass(frozen=True, kw_only=True)
class Control:
    """What all controls share. `when=("form", "wishes")` shows it only while that parameter has that value."""

    label: str
    about: str = ""
    shown: bool = True
    when: tuple[str, Any] | None = None

    def heard(self, value: Any, current: Any) -> Any:
        """Return what a control's `value` means."""
        return value

    def taken(self, value: Any) -> Any:
        """Return a `value` that can be taken as the parameter holds it."""
        return type(value)(value)


@dataclass(frozen=True, kw_only=True)
class Slider(Control):
    """A number between bounds. A tick marks the default; `live=False` reports on release only; `log`: steps are decades.

    `whole` takes no fractions. `meaning` stands in messages where bounds would say nothing, as of a row's index.
    """

    low: float
    high: float
    step: float
    unit: str
    digits: int
    live: bool
    log: bool = False
    whole: bool = False
    meaning: str = ""

    def problem(self, value: Any) -> str:
        """Return why `value` cannot be taken, "" where it can."""
        number = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
        if number and self.low <= value <= self.high and (not self.whole or value == int(value)):
            return ""
        kind = "a whole number" if self.whole else "a number"
        return f"must be {self.meaning or f'{kind} from {self.low:.12g} to {self.high:.12g}'}"

    def taken(self, value: float) -> float:
        """Return a `value` that can be taken as the parameter holds it: a whole number, or one that takes fractions later."""
        return int(value) if self.whole else float(value)

    def heard(self, value: float, current: float) -> float:
        """Return what a control's `value` means: the step nearest to the present value is no change."""
        low, high, number = (math.log10(part) if self.log else part for part in (self.low, self.high, current))
        stands = _on_step(number, low, high, self.step)
        stands = 10**stands if self.log else stands
        return current if math.isclose(value, stands, rel_tol=1e-9) else self.taken(float(f"{value:.8g}"))

    def _place(self, value: float) -> float:
        low, high, at = (math.log10(number) if self.log else number for number in (self.low, self.high, value))
        return (at - low) / (high - low) if high > low else 0.0

    def widget(self, default: float) -> ipywidgets.Widget:
        """Return the control, at its default."""
        tick = f'<i class="paper" style="left:calc(7px + {self._place(default):.4f} * (100% - 14px))"></i>'
        about = f", {html.escape(self.about)}" if self.about else ""
        words = (
            f'<span class="what"><b>{html.escape(self.label)}</b>{about}</span><span class="unit">{html.escape(self.unit)}</span>'
        )
        shared = {"description": words + tick, "description_allow_html": True, "continuous_update": self.live, "step": self.step}
        if self.log:
            ends = {"min": math.log10(self.low), "max": math.log10(self.high)}
            return _LogSlider(value=default, base=10, readout_format=f".{self.digits}g", **ends, **shared)
        kind = ipywidgets.IntSlider if self.whole else _FloatSlider
        written = "d" if self.whole else f".{self.digits}f"
        return kind(value=default, min=self.low, max=self.high, readout_format=written, **shared)


@dataclass(frozen=True, kw_only=True)
class Choice(Control):
    """One of `options` (its words -> its value), as a row of buttons or as a list that drops down."""

    options: Mapping[str, Any]
    dropdown: bool

    def problem(self, value: Any) -> str:
        """Return why `value` cannot be taken, "" where it can."""
        return "" if value in self.options.values() else f"must be one of {', '.join(map(repr, self.options.values()))}"

    def widget(self, default: Any) -> ipywidgets.Widget:
        """Return the control, at its default."""
        kind = ipywidgets.Dropdown if self.dropdown else ipywidgets.ToggleButtons
        return kind(options=list(self.options.items()), value=default, description=self.label)


@dataclass(frozen=True, kw_only=True)
class Switch(Control):
    """On or off."""

    def problem(self, value: Any) -> str:
        """Return why `value` cannot be taken, "" where it can."""
        return "" if isinstance(value, bool) else "must be true or false"

    def widget(self, default: bool) -> ipywidgets.Widget:
        """Return the control, at its default."""
        return ipywidgets.Checkbox(value=default, description=self.label, indent=False)


@dataclass(frozen=True, kw_only=True)
class Press(Switch):
    """On or off, as a button that stays pressed."""

    def widget(self, default: bool) -> ipywidgets.Widget:
        """Return the control, at its default."""
        return ipywidgets.ToggleButton(value=default, description=self.label, tooltip=self.about)


def slider(
    default: float, low: float, high: float, step: float, *, label: str, unit: str = "", digits: int = 1, **more: Any
) -> Any:
    """Return a field with a slider; an int default makes it whole. `more`: about, shown, when, live, log, meaning."""
    more = {"live": True, "whole": isinstance(default, Integral), **more}
    return _field(default, Slider(label=label, low=low, high=high, step=step, unit=unit, digits=digits, **more))


def choice(default: Any, options: Mapping[str, Any], *, label: str = "", dropdown: bool = False, **more: Any) -> Any:
    """Return a field with a choice among `options`, words -> value."""
    return _field(default, Choice(label=label, options=options, dropdown=dropdown, **more))


def switch(default: bool, *, label: str, **more: Any) -> Any:
    """Return a field that is on or off."""
    return _field(default, Switch(label=label, **more))


def press(*, label: str, about: str = "", **more: Any) -> Any:
    """Return a field that is off until its button is pressed."""
    return _field(False, Press(label=label, about=about, **more))


def control_of(parameters: type | object) -> dict[str, Control]:
    """Return the control of each parameter, in the order in which they stand."""
    return {part.name: part.metadata["control"] for part in fields(parameters)}


def active(parameters: Any) -> dict[str, Any]:
    """Return the parameters whose controls are to be seen now, with their values."""
    values = asdict(parameters)
    wanted = control_of(parameters)
    shown = [
        name
        for name, control in wanted.items()
        if control.shown and (not control.when or values[control.when[0]] == control.when[1])
    ]
    return {name: values[name] for name in shown}


def checked(parameters: type, values: Mapping[str, Any]) -> Any:
    """Return `parameters(**values)`. Raises InputError that names every value that cannot be taken."""
    controls = control_of(parameters)
    problems = [f"{name} is unknown" for name in values if name not in controls]
    for name, value in values.items():
        problem = controls[name].problem(value) if name in controls else ""
        problems += [f"{name} {problem} (got {value!r})"] if problem else []
    if problems:
        raise InputError(f"{'; '.join(problems)}. Parameters: {', '.join(controls)}")
    return parameters(**{name: controls[name].taken(value) for name, value in values.items()})


def _field(default: Any, control: Control) -> Any:
    return field(default=default, metadata={"control": control})
