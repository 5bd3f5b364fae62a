"""All parameters in one frozen value: the paper as meant, or as printed; JSON both ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from ilstma_lab.errors import InputError
from ilstma_lab.memory.segments import SegmentLimits
from ilstma_lab.prefetch.score import PlaceTerm
from ilstma_lab.prefetch.window import WindowPrefetch
from ilstma_lab.retrieval.dialogues import DialogueSettings
from ilstma_lab.retrieval.dual import RetrievalSettings
from ilstma_lab.summaries import SummarySettings


@dataclass(frozen=True, kw_only=True)
class Config:
    """The parts' parameters, and the choices that belong to the engine itself.

    `touch`: which rows count as recalled, those that the answer "used" on a hit and all recalled ones on a miss ("paper"), or
    only those that the answer rests on ("used"). `write`: buffered touches reach the table "before" the cache is overwritten, or
    "after", as section 3.6.2 prints it. `trace`: whether a Turn keeps the "top" 20 candidates of each branch or "full".
    `overlap`: recall begins while the judge still thinks, which the paper does not do. A miss waits for the longer of the two;
    a hit has paid for a recall that it does not need. An endpoint that serves one request at a time gains nothing by it.

    >>> Config().prefetch.place.form, Config.literal().prefetch.place.form
    ('nearness', 'literal')
    """

    short_term: SegmentLimits = field(default_factory=SegmentLimits)
    retrieval: RetrievalSettings = field(default_factory=RetrievalSettings)
    prefetch: WindowPrefetch = field(default_factory=WindowPrefetch)
    summaries: SummarySettings = field(default_factory=SummarySettings)
    touch: Literal["paper", "used"] = "paper"
    write: Literal["before", "after"] = "before"
    trace: Literal["top", "full"] = "top"
    overlap: bool = False

    def __post_init__(self) -> None:
        for name, allowed in (("touch", ("paper", "used")), ("write", ("before", "after")), ("trace", ("top", "full"))):
            if getattr(self, name) not in allowed:
                raise InputError(f"{name} must be one of {', '.join(allowed)} (got {getattr(self, name)!r})")

    @classmethod
    def literal(cls) -> Config:
        """Return the ILSTMA paper as printed, where print and sense differ (each place has a "Paper note")."""
        return cls(
            retrieval=RetrievalSettings(dialogues=DialogueSettings(join_index=True, echoes="as_rows")),
            prefetch=WindowPrefetch(place=PlaceTerm(form="literal"), score_refresh="on_touch", include_centre=False),
            summaries=SummarySettings(when="every_miss"),
            write="after",
        )

    @classmethod
    def measured(cls) -> Config:
        """Return what found the most on data: chosen on MemoryBank, SCM and LoCoMo, confirmed on the kit's own topics.

        Branch B adds BM25, the days that a question names and the dialogue before; two rows are always recalled, since with the
        offline reader no margin narrowed to one row without losing gold. `ilstma-lab evaluate retrieval` shows the figures.
        """
        dialogues = DialogueSettings(words=1.0, preceding=0.5, days=8.0)
        return cls(retrieval=RetrievalSettings(dialogues=dialogues, narrow="never"))

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as plain JSON values. Raises InputError where a part was written elsewhere, as in a notebook."""
        from pydantic_core import PydanticSerializationError

        try:
            return _adapter().dump_python(self, mode="json", warnings="error")
        except PydanticSerializationError as error:
            raise InputError(f"a part of your own cannot be written as JSON; keep its code beside it ({error})") from None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Config:
        """Return the config that `to_dict` wrote; what is left out keeps its default. Raises InputError for what is unknown."""
        if not isinstance(data, Mapping):
            raise InputError(f"not a config: an object of parameters is needed (got {type(data).__name__})")
        try:
            config = _adapter().validate_python(dict(data))
        except (ValueError, TypeError) as error:
            raise InputError(f"not a config: {error}") from None
        if unknown := _unknown(data, config.to_dict()):
            raise InputError(f"a config has no parameter {', '.join(unknown)}")
        return config


def _unknown(given: Mapping[str, Any], known: Mapping[str, Any], *, path: str = "") -> list[str]:
    found = [path + name for name in given if name not in known]
    for name, value in given.items():
        if isinstance(value, Mapping) and isinstance(known.get(name), Mapping):
            found += _unknown(value, known[name], path=f"{path}{name}.")
    return found


@lru_cache(maxsize=1)
def _adapter():
    from pydantic import TypeAdapter

    return TypeAdapter(Config)
