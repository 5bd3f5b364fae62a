"""Every curve in a Config survives JSON, and JSON without a kind still means what it meant."""

from __future__ import annotations

import json

import pytest

from ilstma_lab import Config
from ilstma_lab.errors import InputError
from ilstma_lab.forgetting.retention import ExponentialRetention
from ilstma_lab.forgetting.rivals import (
    EbbinghausRetention,
    FsrsRetention,
    LogarithmicRetention,
    PowerRetention,
    StretchedRetention,
    WickelgrenRetention,
)
from ilstma_lab.forgetting.strength import LinearStrength, PowerStrength, SigmoidStrength, TableStrength
from ilstma_lab.prefetch.window import WindowPrefetch

RETENTIONS = [
    ExponentialRetention(),
    StretchedRetention(shape=0.7),
    PowerRetention(scale=0.4),
    WickelgrenRetention(exponent=0.2),
    LogarithmicRetention(slope=0.1),
    EbbinghausRetention(k=2.0),
    FsrsRetention(decay=0.3),
]
STRENGTHS = [
    SigmoidStrength(alpha=30.0),
    LinearStrength(first_days=2.0),
    PowerStrength(first_days=2.0),
    TableStrength(steps_days=(1.0, 2.5)),
]


def back(config: Config) -> Config:
    return Config.from_dict(json.loads(json.dumps(config.to_dict(), allow_nan=False)))


@pytest.mark.parametrize("retention", RETENTIONS, ids=lambda curve: curve.kind)
@pytest.mark.parametrize("strength", STRENGTHS, ids=lambda curve: curve.kind)
def test_json_both_ways_with_every_curve(retention, strength):
    config = Config(prefetch=WindowPrefetch(retention=retention, strength=strength))
    again = back(config)
    assert again == config
    assert (type(again.prefetch.retention), type(again.prefetch.strength)) == (type(retention), type(strength))


def test_defaults_of_every_curve_keep_their_kind():
    for curve in RETENTIONS:
        config = Config(prefetch=WindowPrefetch(retention=type(curve)()))
        assert back(config) == config


@pytest.mark.parametrize(
    ("part", "meant"),
    [
        ({"strength": {"xi": -1.0}}, WindowPrefetch(strength=SigmoidStrength(xi=-1.0))),
        ({"strength": {"first_days": 2.0, "step_days": 3.0}}, WindowPrefetch(strength=LinearStrength(first_days=2, step_days=3))),
        ({"strength": {}, "retention": {}}, WindowPrefetch()),
        ({"retention": {"kind": "fsrs"}}, WindowPrefetch(retention=FsrsRetention())),
    ],
)
def test_what_a_part_of_json_means(part, meant):
    assert Config.from_dict({"prefetch": part}) == Config(prefetch=meant)


@pytest.mark.parametrize(
    "part",
    [
        {"retention": {"kind": "spline"}},
        {"retention": {"kind": "fsrs", "decay": 7.0}},
        {"retention": {"kind": "power", "decay": 0.2}},
        {"strength": {"kind": "table", "steps_days": []}},
        {"strength": {"kind": "sigmoid", "xi": 1.0}},
    ],
)
def test_curves_without_sense_are_refused(part):
    with pytest.raises(InputError):
        Config.from_dict({"prefetch": part})
