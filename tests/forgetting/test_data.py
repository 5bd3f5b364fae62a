"""The bundled data: as printed, with their source and licence, and consistent with one another."""

from __future__ import annotations

import numpy as np
import pytest

from ilstma_lab.errors import InputError
from ilstma_lab.forgetting.data import forgetting_data, load_forgetting
from ilstma_lab.forgetting.savings import daily_strength, implied_strength, savings
from ilstma_lab.resources import data_dir


@pytest.mark.parametrize("name", forgetting_data())
def test_each_file_says_where_it_comes_from_and_stands_in_the_list(name):
    folder = data_dir() / "forgetting"
    head = [line for line in (folder / f"{name}.csv").read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    assert any(word in " ".join(head) for word in ("Public domain", "CC BY", "SIMULATED"))
    assert f"{name}.csv" in (folder / "SOURCES.md").read_text(encoding="utf-8")
    columns = load_forgetting(name)
    assert len({len(column) for column in columns.values()}) == 1


def test_ebbinghaus_as_printed():
    data = load_forgetting("ebbinghaus_1885_time")
    assert data["counted_minutes"].tolist() == [20, 64, 526, 1440, 2 * 1440, 6 * 1440, 31 * 1440]
    assert data["savings_percent"].tolist() == [58.2, 44.2, 35.8, 33.7, 27.8, 25.4, 21.1]
    assert data["probable_error_percent"].tolist() == [1, 1, 1, 1.2, 1.4, 1.3, 0.8]


def test_massed_readings_save_in_proportion():
    data = load_forgetting("ebbinghaus_1885_massed")
    saved = (data["seconds"][0] - data["seconds"][1:]) / data["readings"][1:]
    assert saved.round(1).tolist() == [12.9, 12.0, 12.3, 12.7, 13.6, 12.9]
    assert saved.mean() == pytest.approx(12.7, abs=0.05)


def test_the_trials_have_the_printed_means():
    trials, means = load_forgetting("ebbinghaus_1885_daily_trials"), load_forgetting("ebbinghaus_1885_daily")
    for syllables in (12, 24, 36):
        own = trials["syllables"] == syllables
        assert own.sum() == 7
        found = np.array([trials[f"day_{day}"][own].mean() for day in range(1, 7)])
        gap = np.abs(found - means["repetitions"][means["syllables"] == syllables])
        assert np.sort(gap)[-2] <= 0.6
        assert gap.max() < 0.9  # the sixth day of 24 syllables is printed as 14 where its trials give 13.1


def test_murre_and_dros_tables_agree():
    repetitions, four = load_forgetting("murre_dros_2015_repetitions"), load_forgetting("murre_dros_2015_savings")
    assert savings(repetitions["learned"], repetitions["relearned"]) == pytest.approx(four["dros"], abs=6e-4)
    ours = load_forgetting("ebbinghaus_1885_time")["savings_percent"] / 100
    assert four["ebbinghaus"] == pytest.approx(ours)
    for subject in ("mack", "dros"):
        assert four[subject][3] > four[subject][2]  # the jump up at one day


def test_an_unknown_name_is_refused_with_those_that_there_are():
    with pytest.raises(InputError, match="ebbinghaus_1885_time"):
        load_forgetting("../../pyproject")


def test_implied_strength_is_eq_1_turned_round():
    strength = np.array([0.5, 3.0, 20.0])
    assert implied_strength(np.exp(-4 / strength), 4.0) == pytest.approx(strength)


@pytest.mark.parametrize("wrong", [lambda: implied_strength([0.0]), lambda: implied_strength([1.0]), lambda: savings(0, 1)])
def test_savings_without_sense_are_refused(wrong):
    with pytest.raises(InputError):
        wrong()
    assert len(daily_strength([10, 5, 2])) == 2
