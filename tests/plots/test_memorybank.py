"""The forgetting figures: chances that are those of the draws, exact bands, and marks for what is kept and masked."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilstma_lab.plots.memorybank import FORMS, band, bank_spec, chance, kept_spec
from ilstma_lab.plots.spec import drawn, tables, titles

MANY = np.arange(20_000)


def trace(spec: dict, uid: str) -> dict:
    return next(part for part in spec["data"] if part["uid"] == uid)


def forms(days: int = 14, n: int = 135, recalls: int = 4) -> dict[str, np.ndarray]:
    alike = np.tile(np.arange(days + 1)[:, None], n)
    return {name: chance(form, alike, np.full(n, recalls)) for name, form in FORMS.items()}


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize(("day", "recalls"), [(0, 1), (1, 1), (2, 2), (5, 4)])
def test_the_chance_is_the_share_that_the_draws_keep(name: str, day: int, recalls: int):
    interval, times = np.full(len(MANY), day), np.full(len(MANY), recalls)
    share = float(chance(FORMS[name], interval[:1], times[:1])[0])
    kept = ~FORMS[name].forgotten(MANY, interval, times)
    assert abs(kept.mean() - share) < 4 * np.sqrt(share * (1 - share) / len(MANY)) + 1e-9


def test_a_new_draw_at_each_login_multiplies():
    five, once = np.array([5]), np.array([1])
    assert chance(FORMS["redrawn"], five, once)[0] == pytest.approx(np.exp(-15))
    assert chance(FORMS["paper"], five, once)[0] == pytest.approx(np.exp(-5))


def test_c2_a_recall_that_lies_ahead_counts_as_today():
    for form in FORMS.values():
        assert chance(form, np.array([-3, 0]), np.array([1, 2])).tolist() == [1, 1]


@given(st.lists(st.sampled_from([0.0, 0.01, 0.3, 0.5, 0.97, 1.0]), min_size=1, max_size=9))
def test_the_band_holds_95_percent_of_all_outcomes(chances: list[float]):
    low, high = (int(end[0]) for end in band(np.array([chances])))
    outcomes = np.array(np.meshgrid(*[[0, 1]] * len(chances))).reshape(len(chances), -1)  # (n, 2**n)
    p = np.array(chances)[:, None]
    law = np.prod(np.where(outcomes == 1, p, 1 - p), axis=0)
    counts = outcomes.sum(axis=0)
    assert law[counts < low].sum() < 0.025 + 1e-9
    assert law[counts > high].sum() <= 0.025 + 1e-9
    assert law[(counts >= low) & (counts <= high)].sum() >= 0.95 - 1e-9


def test_beyond_300_pieces_the_band_is_near_the_exact_one():
    exact = band(np.full((1, 300), 0.4))
    normal = band(np.full((1, 301), 0.4))
    assert [abs(float(a[0]) - float(b[0])) for a, b in zip(exact, normal, strict=True)] == pytest.approx([0, 0], abs=1.5)


def test_the_figure_names_what_the_chosen_form_keeps():
    spec = kept_spec(forms(), chosen="paper", day=5)
    assert titles(spec)[0] == "After 5 days the paper keeps 39 of 135 on average"
    assert "paper 39, inverted S 2.5, redrawn 3.2" in titles(spec)[2]
    assert trace(spec, "form-paper")["y"][5] == pytest.approx(135 * np.exp(-5 / 4))
    assert trace(spec, "form-inverted-s")["y"][5] == pytest.approx(135 * np.exp(-4))
    (table,) = tables(spec)
    assert table.head == ("day", "paper, mean", "inverted S, mean", "redrawn, mean", "public code, mean")
    drawn(spec)


def test_names_at_the_right_keep_clear_of_each_other():
    spec = kept_spec(forms(), chosen="paper", day=5)
    assert np.diff(trace(spec, "words-forms")["y"]).min() > 0.08 * 135
    assert "<b>paper</b>" in trace(spec, "words-forms")["text"]


def test_kept_is_filled_and_masked_is_hollow():
    days = [date(2026, 1, 9), date(2026, 1, 9), date(2026, 1, 12), date(2026, 1, 9)]
    spec = bank_spec(days, [1, 2, 1, 0], np.array([True, False, True, False]), chosen=2, now="14 Jan 2026")
    assert titles(spec)[0] == "2 pieces of 4 kept, 2 masked on 14 Jan 2026"
    assert (trace(spec, "dot-row")["x"].tolist(), trace(spec, "dot-row")["y"].tolist()) == ([0], [2])
    assert trace(spec, "hollow-row")["x"].tolist() == [0, 3]
    assert trace(spec, "hollow-row")["marker"]["symbol"] == "square-open"
    assert trace(spec, "dot-day")["marker"]["symbol"] == "diamond"
    assert trace(spec, "ink-ring")["x"] == [3]
    assert spec["layout"]["xaxis"]["ticktext"][0] == "9 Jan"
    drawn(spec)


def test_one_piece_can_be_drawn():
    drawn(bank_spec([date(2026, 1, 9)], [1], np.array([False]), chosen=0))
    drawn(kept_spec({"paper": np.ones((3, 1))}, chosen="paper", day=0))
