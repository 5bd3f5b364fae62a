"""Systems by name."""

from __future__ import annotations

import pytest

from ilstma_lab import ILSTMA, Config, ManualClock
from ilstma_lab.errors import InputError
from ilstma_lab.lab import Lab
from ilstma_lab.systems import SYSTEMS, YARDSTICKS, find_system
from ilstma_lab.systems.yardsticks import Constant
from tests.stubs import asking, stub_models, table_of


@pytest.mark.parametrize("name", [*SYSTEMS, *YARDSTICKS])
def test_every_name_makes_a_lab_that_answers(name):
    table = table_of(8)
    lab = find_system(name)(table, models=stub_models(), clock=ManualClock.after(table))
    assert isinstance(lab, Lab)
    assert lab.system
    turn = lab.ask(asking(3))
    assert turn.answer
    assert not turn.failure
    assert turn.system == lab.system


def test_systems_with_settings_of_their_own_are_told_apart_by_name():
    table = table_of(4)
    parts = {"models": stub_models(), "clock": ManualClock.after(table)}
    assert find_system("ilstma")(table, **parts).config == Config()
    assert find_system("ilstma_measured")(table, **parts).config == Config.measured()


def test_a_class_of_ones_own_is_found_by_its_place():
    assert find_system("ilstma_lab.engine:ILSTMA") is ILSTMA is find_system("ilstma")
    assert find_system("constant") is Constant


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("mempalace", "no system 'mempalace'; there are ilstma, .*memochat.*constant.*or module:Class of your own"),
        ("", "no system ''"),
        ("no_such_module:Lab", "no_such_module cannot be imported"),
        ("ilstma_lab.engine:NoLab", "ilstma_lab.engine has no class or function 'NoLab'"),
        ("ilstma_lab.systems:SYSTEMS", "has no class or function 'SYSTEMS'"),
    ],
)
def test_a_name_that_leads_nowhere_says_what_there_is(name, says):
    with pytest.raises(InputError, match=says):
        find_system(name)
