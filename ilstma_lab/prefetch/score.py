"""The caching prefetch indicator: time plus place (ILSTMA, Eq. 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ilstma_lab.errors import InputError

Form = Literal["nearness", "rescaled", "literal"]


@dataclass(frozen=True, kw_only=True)
class PlaceTerm:
    """The place term of Eq. 4 for a distance of dis rows, times `weight`.

    Three forms: "literal" (pi/2) arctan(dis), as printed; "rescaled" (2/pi) arctan(dis), which has the range [0, 1)
    that the text names; "nearness" 1 - (2/pi) arctan(dis), which falls with distance.

    Paper note: as printed the term reaches 2.467 and *grows* with distance, so the farthest row of a window wins, against
    the spatial locality that the text argues for. The default is therefore "nearness".

    >>> PlaceTerm().of(np.array([0, 1, 2])).round(3).tolist()
    [1.0, 0.5, 0.295]
    """

    form: Form = "nearness"
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.form not in ("nearness", "rescaled", "literal"):
            raise InputError(f"form must be 'nearness', 'rescaled' or 'literal' (got {self.form!r})")
        if not (np.isfinite(self.weight) and self.weight >= 0):
            raise InputError(f"the weight of place must be a finite number >= 0 (got {self.weight:g})")

    def of(self, distance: np.ndarray) -> np.ndarray:
        """Return the term for `distance` in rows (absolute, any shape)."""
        angle = np.arctan(np.asarray(distance, dtype=np.float64))
        if self.form == "literal":
            return self.weight * (np.pi / 2) * angle
        if self.form == "rescaled":
            return self.weight * (2 / np.pi) * angle
        return self.weight * (1 - (2 / np.pi) * angle)
