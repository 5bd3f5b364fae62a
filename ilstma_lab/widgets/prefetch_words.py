"""What the prefetch explorables say alike: the forms of the place term, its formula, a setting as Python."""

from __future__ import annotations

from dataclasses import fields

from ilstma_lab.prefetch.score import Form, PlaceTerm
from ilstma_lab.prefetch.window import WindowPrefetch
from ilstma_lab.reprs.words import count

FORMS: dict[str, Form] = {"Nearness": "nearness", "Rescaled": "rescaled", "Literal": "literal"}
_FORMULAS = {"nearness": "1 − (2/π) arctan {}", "rescaled": "(2/π) arctan {}", "literal": "(π/2) arctan {}"}
_ALWAYS = ("k", "offset")


def place_formula(place: PlaceTerm, distance: int) -> str:
    """Return the place term of one row as it is computed.

    >>> place_formula(PlaceTerm(), 3), place_formula(PlaceTerm(form="literal", weight=0.5), 1)
    ('1 − (2/π) arctan 3', '0.5 · (π/2) arctan 1')
    """
    formula = _FORMULAS[place.form].format(distance)
    if place.weight == 1:
        return formula
    return f"{place.weight:g} · " + (f"({formula})" if place.form == "nearness" else formula)


def away(distance: int) -> str:
    """Return a distance in words.

    >>> away(0), away(2)
    ('the recalled row', '2 rows away')
    """
    return f"{count(distance, 'row')} away" if distance else "the recalled row"


def setting_code(setting: WindowPrefetch) -> str:
    """Return Python that builds `setting`: its size, and whatever is not as usual; its curve must be the usual one."""
    usual = WindowPrefetch()
    given = {part.name: getattr(setting, part.name) for part in fields(setting)}
    said = [f"{name}={value!r}" for name, value in given.items() if name in _ALWAYS or value != getattr(usual, name)]
    imports = ["from ilstma_lab.prefetch.score import PlaceTerm"] if setting.place != usual.place else []
    imports.append("from ilstma_lab.prefetch.window import WindowPrefetch")
    return "\n".join([*imports, "", f"WindowPrefetch({', '.join(said)})"])
