"""One frozen value holds all parameters: JSON both ways, unknown names refused, print and sense apart where they differ."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilstma_lab import Config
from ilstma_lab.errors import InputError
from ilstma_lab.forgetting.strength import LinearStrength, SigmoidStrength
from ilstma_lab.memory.segments import SegmentLimits
from ilstma_lab.prefetch.score import PlaceTerm
from ilstma_lab.prefetch.window import WindowPrefetch
from ilstma_lab.summaries import SummarySettings

configs = st.builds(
    Config,
    short_term=st.builds(SegmentLimits, history_turns=st.integers(0, 9), token_budget=st.integers(50, 9_000)),
    prefetch=st.builds(
        WindowPrefetch,
        k=st.integers(1, 2),
        offset=st.integers(1, 9),
        include_centre=st.booleans(),
        trigger=st.sampled_from(["miss", "every"]),
        score_refresh=st.sampled_from(["now", "on_touch"]),
        place=st.builds(PlaceTerm, form=st.sampled_from(["nearness", "rescaled", "literal"]), weight=st.floats(0, 9)),
        strength=st.one_of(
            st.builds(LinearStrength, first_days=st.floats(0.1, 9), step_days=st.floats(0, 9)),
            st.builds(lambda last: SigmoidStrength.from_limits(limit_days=last), st.floats(6, 60)),
        ),
    ),
    summaries=st.builds(SummarySettings, group_size=st.integers(1, 9), when=st.sampled_from(["full_group", "every_miss"])),
    touch=st.sampled_from(["paper", "used"]),
    write=st.sampled_from(["before", "after"]),
    trace=st.sampled_from(["top", "full"]),
)


def flat(value, path=""):
    if not isinstance(value, dict):
        return {path: value}
    return {key: leaf for name, inner in value.items() for key, leaf in flat(inner, f"{path}.{name}".strip(".")).items()}


@given(config=configs)
def test_json_both_ways(config):
    assert Config.from_dict(json.loads(json.dumps(config.to_dict(), allow_nan=False))) == config


@pytest.mark.parametrize("config", [Config(), Config.literal(), Config.measured()])
def test_presets_survive_json(config):
    assert Config.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_what_is_left_out_keeps_its_default():
    assert Config.from_dict({}) == Config()
    assert Config.from_dict({"prefetch": {"offset": 9}}) == Config(prefetch=WindowPrefetch(offset=9))


@pytest.mark.parametrize(
    ("data", "named"),
    [
        ({"prefetcher": {}}, "prefetcher"),
        ({"prefetch": {"ofset": 3}}, "prefetch.ofset"),
        ({"prefetch": {"place": {"shape": "round"}}}, "prefetch.place.shape"),
        ({"retrieval": {"dialogues": {"top": 2}}, "speed": 9}, "speed, retrieval.dialogues.top"),
    ],
)
def test_unknown_names_are_refused_with_their_path(data, named):
    with pytest.raises(InputError, match=named):
        Config.from_dict(data)


@pytest.mark.parametrize(
    "data",
    [
        {"touch": "sometimes"},
        {"prefetch": {"k": 0}},
        {"prefetch": {"k": "many"}},
        {"prefetch": None},
        {"prefetch": {"place": {"form": "round"}}},
        {"prefetch": {"strength": {"xi": 2.0}}},
        {"short_term": {"token_budget": 3}},
        {"summaries": {"group_size": 0}},
    ],
)
def test_values_without_sense_are_refused(data):
    with pytest.raises(InputError):
        Config.from_dict(data)


def test_literal_differs_exactly_where_print_and_sense_differ():
    meant, printed = flat(Config().to_dict()), flat(Config.literal().to_dict())
    assert meant.keys() == printed.keys()
    assert {name: (meant[name], printed[name]) for name in meant if meant[name] != printed[name]} == {
        "prefetch.place.form": ("nearness", "literal"),
        "prefetch.score_refresh": ("now", "on_touch"),
        "prefetch.include_centre": (True, False),
        "retrieval.dialogues.join_index": (False, True),
        "retrieval.dialogues.echoes": ("behind", "as_rows"),
        "summaries.when": ("full_group", "every_miss"),
        "write": ("before", "after"),
    }


@pytest.mark.parametrize("wrong", [{"touch": "all"}, {"write": "never"}, {"trace": "none"}])
def test_choices_are_validated_at_construction(wrong):
    with pytest.raises(InputError, match="must be one of"):
        Config(**wrong)


def test_a_config_is_frozen_and_made_anew():
    with pytest.raises(FrozenInstanceError):
        Config().touch = "used"
    assert replace(Config(), touch="used").prefetch == Config().prefetch


def test_a_part_of_ones_own_is_not_written_in_silence():
    @dataclass(frozen=True)
    class Forever:
        def days(self, recall_times):
            return recall_times * 1e9

    with pytest.raises(InputError, match="part of your own"):
        Config(prefetch=WindowPrefetch(strength=Forever())).to_dict()
