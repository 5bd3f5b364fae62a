"""Ways to spoil a valid file: byte by byte, line by line, and value by value."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import strategies as st

DEEP = "\0deep\0"  # stands for a list nested so deeply that repr() of it may fail
_DEEP_LEVELS = 930
_LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from([[], {}, [[]], [None], {"": {}}, DEEP, "x" * 5_000, 10**400, -(2**63), "\ud83d", "\u202e\x1b[31m\n"])
    | st.sampled_from(["9999-12-31", "0001-01-01", "9999-12-31T23:59:59-12:00", "2999-02-29", 253402300799, -62135596800, 1e300])
)
_PIECES = st.binary(max_size=6) | st.sampled_from(
    [b"\n", b'"', b"99", b":", b"\0", b"\r", b"{", b"]", b"\xff\xfe", b"NaN", b"\\ud83d"]
)


def raw(content: Any) -> bytes:
    """Return a sample (a text or a JSON value) as the bytes of a file."""
    text = content if isinstance(content, str) else json.dumps(content)
    return text.replace(json.dumps(DEEP), "[" * _DEEP_LEVELS + "]" * _DEEP_LEVELS).encode("utf-8", "surrogatepass")


@st.composite
def other_bytes(draw, data: bytes) -> bytes:
    """Draw `data` with a few places overwritten, taken out or put in, or cut."""
    spoilt = bytearray(data)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(spoilt)))
        spoilt[start : start + draw(st.integers(0, 9))] = draw(_PIECES)
    cut = draw(st.none() | st.integers(0, len(spoilt)))
    return bytes(spoilt[:cut])


@st.composite
def other_lines(draw, text: str) -> bytes:
    """Draw `text` with lines doubled, lost, moved, cut or joined."""
    lines = text.split("\n")
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        line = lines[at]
        half = line[: draw(st.integers(0, len(line)))]
        ways = [[], [line, line], [half, line], [half], [line + half], [line[::-1]], [line.replace(" ", "\t")], [line * 50]]
        lines[at : at + 1] = ways[draw(st.integers(0, len(ways) - 1))]
        lines = lines[:: -1 if draw(st.booleans()) else 1] or [""]
    return "\n".join(lines).encode()


@st.composite
def other_values(draw, value: Any) -> Any:
    """Draw a JSON value with a few of its parts changed, lost, doubled, renamed, wrapped, or exchanged for one another."""
    root = {"": copy.deepcopy(value)}
    for _ in range(draw(st.integers(1, 3))):
        places = list(_places(root))
        holder, key = places[draw(st.integers(0, len(places) - 1))]
        other, its = places[draw(st.integers(0, len(places) - 1))]
        way = draw(st.sampled_from(["leaf", "leaf", "lose", "double", "rename", "wrap", "exchange"]))
        if way == "leaf":
            holder[key] = copy.deepcopy(draw(_LEAVES))
        elif way == "wrap":
            holder[key] = [holder[key]] if draw(st.booleans()) else {"x": holder[key]}
        elif way == "exchange":
            holder[key] = copy.deepcopy(other[its])
        elif isinstance(holder, list):
            holder[key : key + 1] = [] if way == "lose" else [holder[key], copy.deepcopy(holder[key])]
        elif holder is not root:
            kept = holder.pop(key)
            if way != "lose":
                holder[draw(st.text(max_size=3) | st.sampled_from([key.upper(), str(its)]))] = kept
    return root[""]


def _places(holder: Any):
    """Yield every (list or object, position or key) that a value holds."""
    for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
        yield holder, key
        if isinstance(holder[key], dict | list):
            yield from _places(holder[key])
