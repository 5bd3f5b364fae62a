"""The player without a browser: all that it shows is made from the Turn, and messages do what buttons do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ilstma_lab.errors import InputError
from ilstma_lab.models.call import Call
from ilstma_lab.reprs.film import ran, segments_at, spent
from ilstma_lab.reprs.markup import Html
from ilstma_lab.reprs.strip import CELLS
from ilstma_lab.reprs.timeline import model_share
from ilstma_lab.reprs.words import score, seconds
from ilstma_lab.retrieval.recall import Reading
from ilstma_lab.trace import Step, Turn, Verdict
from ilstma_lab.widgets import Player
from ilstma_lab.widgets.drawn import tree_of
from tests.stubs import StubJudge, StubReader, StubResponder, asking, stub_lab

ATTACK = "</script><img src=x onerror=alert(1)>"
HOSTILE = (ATTACK, "../../etc/passwd", "**bold** [a](http://b)", "שלום \u202eabc", "👨‍👩‍👧 ok", "word " * 40_000)


def hit(query, memory) -> Verdict:
    calls = (Call("judge", "stub", (("user", "enough?"),), "yes", 0.2, 30, 4),)
    return Verdict(True, "Yes.", used=(memory.cache[1].index,), reason="it is there", score=0.8, threshold=0.45, calls=calls)


def session(*questions: str, rows: int = 9, **parts) -> tuple[Turn, ...]:
    """The turns of a lab to which "hit" is a hit, "fail" fails, and asking(3) leads both branches to row 3."""
    parts.setdefault("responder", StubResponder({"fail": ConnectionError("the endpoint is down")}))
    lab = stub_lab(rows, judge=StubJudge({"hit": hit}), reader=StubReader({asking(3): Reading(3)}), **parts)
    for question in questions:
        lab.ask(question)
    return tuple(lab.turns)


@pytest.fixture(scope="module")
def turns() -> tuple[Turn, ...]:
    return session(asking(3), "hit", asking(5), "fail")


def nodes(view, cls: str = "") -> Iterator[list]:
    """All elements of a view that have the class."""
    for node in view:
        if isinstance(node, list):
            if not cls or cls in node[1].get("class", "").split():
                yield node
            yield from nodes(node[2:], cls)


def text(view) -> str:
    """The text of a view on one line, a space between elements."""
    parts = (node if isinstance(node, str) else text(node[2:]) for node in view)
    return " ".join(" ".join(parts).split())


def numbers(value) -> Iterator[int | float]:
    """All numbers in a Turn's plain values; keys of rows and steps are numbers as well."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from numbers(int(key) if str(key).isdigit() else None)
            yield from numbers(part)
    elif isinstance(value, list):
        for part in value:
            yield from numbers(part)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


def chips(view) -> set[int]:
    return {int(text(node[2:])) for node in nodes(view, "rc") if text(node[2:]).isdigit()}


@pytest.mark.parametrize("step", range(1, 10))
@pytest.mark.parametrize("at", range(4))
def test_every_row_score_and_time_on_the_screen_is_the_turns(turns, at, step):
    player = Player(turns, turn=at, step=step)
    turn, shown = turns[at], text(player.view)
    known = [
        number for earlier in turns[: at + 1] for number in numbers(earlier.to_dict())
    ]  # a hit tells what had cached its row
    assert chips(player.view) <= {number for number in known if isinstance(number, int)}
    scores = {score(number) for number in known}
    assert set(re.findall(r"(?<![\d,])[−]?\d*\.\d{3}(?!\d)", shown)) <= scores
    times = {seconds(number) for number in known} | {seconds(spent(turn, number)) for number in range(1, 10)}
    assert {" ".join(found) for found in re.findall(r"(<?[\d.]+) (ms|s)\b", shown)} <= times


@pytest.mark.parametrize("at", range(4))
def test_the_segments_are_those_that_judge_answer_and_next_turn_saw(turns, at):
    turn = turns[at]

    def tokens(step: int) -> dict[str, int]:
        return {held.view.name: held.view.tokens for held in segments_at(turn, step)}

    def views(kept) -> dict[str, int]:
        return {view.name: view.tokens for view in kept}

    assert tokens(2) == views(turn.segments_before)
    assert tokens(9) == views(turn.answered_from)
    if turn.failure is None:
        assert tokens(ran(turn)[-1]) == views(turn.segments_after)


@given(st.lists(st.sampled_from([asking(3), asking(5), "hit", "hit, or not?", "fail"]), min_size=1, max_size=5), st.data())
@settings(max_examples=8)
def test_next_walks_through_the_steps_that_ran_and_ends_where_the_turn_ended(questions, data):
    played = session(*[question if at or question != "hit" else asking(3) for at, question in enumerate(questions)])
    player = Player(played, turn=data.draw(st.integers(0, len(played) - 1)))
    turn, walked = player.current, [player.step]
    while player.step != ran(turn)[-1]:
        player.pressed("next", "")
        walked.append(player.step)
        used = sum(held.view.tokens for held in segments_at(turn, player.step))
        assert f"{used:,} of {turn.token_budget:,} tokens" in text(player.view)
    assert walked == list(dict.fromkeys(step.number for step in turn.steps))
    for _ in walked:
        player.pressed("back", "")
    assert player.step == walked[0]


def test_step_six_shows_both_branches_and_the_referee(turns):
    turn, player = turns[0], Player(turns, turn=0, step=6)
    (panel,) = nodes(player.view, "pn")
    for candidate in turn.recall.branch_b.candidates[:4]:
        assert score(candidate.score) in text([panel])
    assert "The reading names 3" in text([panel])
    assert "recall 3 alone" in text([panel])
    (tile,) = [node for node in nodes(player.view, "tile") if "is-relevant" in node[1]["class"]]
    assert chips([tile]) == set(turn.recalled)
    assert "filled" in tile[1]["class"].split()
    assert len([node for node in nodes(player.view, "dg-no") if "act" in node[1]["class"].split()]) == 1


def test_a_miss_clears_before_it_fills(turns):
    turn = turns[2]
    cleared = {held.view.name: held.news for held in segments_at(turn, 4)}
    assert cleared["cache"] == "cleared"
    assert not [held for held in segments_at(turn, 6) if held.view.name == "cache" and held.view.rows]
    filled = next(held for held in segments_at(turn, 7) if held.view.name == "cache")
    assert filled.view.rows == turn.prefetch.chosen


def test_prefetch_rows_show_their_arithmetic(turns):
    player = Player(turns[0], step=7)
    (panel,) = nodes(player.view, "pn-step")
    for row in turns[0].prefetch.rows:
        assert f"{score(row.time)} + {score(row.place)} = {score(row.score)}" in text([panel])


def test_a_hit_shows_why_and_what_waits_and_what_it_skips(turns):
    player = Player(turns, turn=1, step=3)
    shown = text(player.view)
    assert "A hit: answered from row" in shown
    assert f"1 row waits for the deferred write: {turns[1].waiting[0]}" in shown
    scored = next(row for row in turns[0].prefetch.rows if row.index == turns[1].recalled[0])
    assert f"{score(scored.time)} + {score(scored.place)} = {score(scored.score)}" in shown, "what had put it into the cache"
    assert {int(node[1]["data-value"]) for node in nodes(player.view, "tl-cell") if "skip" in node[1]["class"]} == (
        set(range(1, 10)) - set(ran(turns[1]))
    )
    player.step = 6
    assert "step 6 does not run on a hit" in text(player.view)
    player.pressed("next", "")
    assert player.step == 9


def test_the_models_share_of_the_seconds_is_told():
    turn = session(asking(3), "hit")[1]
    player = Player(replace(turn, seconds=0.4))
    assert "50.0 % is waiting for the model" in text(player.view)
    assert "no model was waited for" in text(Player(session(asking(3))).view)


def test_a_summary_made_after_the_answer_is_no_part_of_the_wait():
    turn = session(asking(3))[0]
    once = turn.steps[: len(ran(turn))]
    summing = Call("summarise", "m", (), "a summary", 9.0)
    late = replace(turn, calls={5: (summing,)}, steps=(*once, Step(5, 9.1, {}, {"summaries": 1}, "a group is full")))
    assert model_share(late) is None
    assert model_share(replace(late, steps=once, seconds=18.0)) == 0.5, "before the answer it is"
    shown = text(Player(late, step=5).view)
    assert "a group is full" in shown
    assert "a summary" in shown


def test_a_failed_turn_says_where_and_what_to_do(turns):
    player = Player(turns, step=9)
    shown = text(player.view)
    assert "the endpoint is down" in shown
    assert {int(node[1]["data-value"]) for node in nodes(player.view, "tl-cell") if "skip" in node[1]["class"]} >= {3, 7, 8}
    assert "not reached" in shown


def test_f7_a_turn_over_an_empty_table_can_be_played():
    (turn,) = session("anything?", rows=0)
    for step in range(1, 10):
        assert text(Player(turn, step=step).view)
    assert "Is there a row to find? No: nothing is recalled" in text(Player(turn, step=6).view)


def test_a_chinese_turn_keeps_its_characters():
    turn = session("旅馆在哪里？", responder=StubResponder(default="在波尔图。"))[0]
    shown = text(Player(turn, step=9).view)
    assert "旅馆在哪里？" in shown
    assert "在波尔图。" in shown


def test_a_turn_from_json_plays_the_same(turns):
    for turn in turns:
        again = Turn.from_dict(json.loads(turn.to_json()))
        for step in range(1, 10):
            assert Player(again, step=step).view == Player(turn, step=step).view


def test_a_table_of_a_hundred_thousand_rows_sends_no_more(turns):
    large = replace(turns[0], table_size=100_000, rows={**turns[0].rows})
    small, big = Player(turns[0], step=7), Player(large, step=7)
    assert len(json.dumps(big.view)) < len(json.dumps(small.view)) + 12_000
    (cells,) = nodes(big.view, "lm-cells")
    assert len([node for node in cells[2:] if node[0] == "i"]) == CELLS
    assert "100,000 rows" in text(big.view)


def test_a_row_a_segment_and_a_chunk_are_shown_when_pressed(turns):
    player, turn = Player(turns, turn=0, step=6), turns[0]
    player.pressed("show", "row 3")
    (card,) = nodes(player.view, "picked")
    row = turn.rows[3]
    assert row.user in text([card])
    assert row.assistant in text([card])
    assert row.source in text([card])
    player.pressed("show", "segment relevant")
    (card,) = nodes(player.view, "picked")
    relevant = next(view for view in turn.answered_from if view.name == "relevant")
    assert f"{relevant.tokens:,} of {turn.token_budget:,}" in text([card])
    player.pressed("show", f"chunk {turn.recall.branch_a.chunks[0].number}")
    (card,) = nodes(player.view, "picked")
    assert score(turn.recall.branch_a.chunks[0].score) in text([card])
    player.pressed("show", "")
    assert not list(nodes(player.view, "picked"))


def test_what_cannot_be_shown_is_refused_from_python_and_ignored_from_the_browser(turns):
    player = Player(turns, turn=0, step=6)
    for wrong in ("row 999", "row x", "segment attic", "chunk 77", ATTACK, "row"):
        with pytest.raises(InputError, match="nothing to show"):
            player.show(wrong)
        player.pressed("show", wrong)
    before = player.state()
    for message in ({}, {"do": 3}, {"do": "step", "value": "12"}, {"do": "step", "value": ATTACK}, {"do": "turn", "value": "-1"}):
        player._receive(player, message, [])
    assert player.state() == before


def test_wrong_turns_and_steps_are_refused(turns):
    for bad in ([], [3], "turn"):
        with pytest.raises(InputError, match="needs a Turn"):
            Player(bad)
    with pytest.raises(InputError, match="no step 10"):
        Player(turns, step=10)
    with pytest.raises(InputError, match="no turn 4"):
        Player(turns, turn=4)
    player = Player(turns)
    with pytest.raises(InputError, match="no step 0"):
        player.step = 0
    assert player.turn == 3, "the last turn, counted from 0"


def test_state_brings_the_player_back(turns):
    player = Player(turns, turn=2, step=6, show="segment cache")
    again = Player(turns, **json.loads(json.dumps(player.state())))
    assert again.view == player.view
    assert "Player(turns, turn=2, step=6, show='segment cache')" in player.python()
    compile(player.python(), "cell", "exec")


def test_turns_are_walked_by_buttons(turns):
    player = Player(turns, turn=0, step=6, show="row 3")
    player.pressed("turn", "1")
    assert (player.turn, player.step, player.state()["show"]) == (1, 6, "")
    assert [text(node[2:]).strip() for node in nodes(player.view, "on")] == ["2"]
    assert not list(nodes(Player(turns[0]).view, "pl-turns")), "one turn needs no list"


def hostile_turn(words: str) -> Turn:
    call = Call(words, words, ((words, words),), words, 0.1)
    turn = session("hit or not?", asking(3))[1]
    return replace(
        turn,
        question=words,
        answer=words,
        calls=dict.fromkeys((2, 6, 9), (call,)),
        labels=(words,),
        verdict=Verdict(False, words, reason=words),
        rows={index: replace(row, user=words, assistant=words, source=words) for index, row in turn.rows.items()},
        recall=replace(
            turn.recall,
            reason=words,
            branch_a=replace(
                turn.recall.branch_a,
                error=words,
                reading=Reading(None, raw=words, reason=words),
                chunks=tuple(replace(chunk, text=words) for chunk in turn.recall.branch_a.chunks),
            ),
            branch_b=replace(
                turn.recall.branch_b,
                error=words,
                candidates=tuple(replace(c, text=words, scores={words: 0.1}) for c in turn.recall.branch_b.candidates),
            ),
        ),
        steps=tuple(replace(s, note=words, error=words, read={words: words}, wrote={words: [words]}) for s in turn.steps),
        at=datetime(2026, 4, 16, tzinfo=UTC),
    )


@pytest.mark.parametrize("words", HOSTILE, ids=["script", "path", "markdown", "rtl", "emoji", "long"])
def test_g6_what_was_stored_is_text_wherever_it_stands(words):
    turn = hostile_turn(words)
    for show in ("", f"row {turn.recalled[0]}", "segment cache", f"chunk {turn.recall.branch_a.chunks[0].number}"):
        for step in ran(turn):
            player = Player(turn, step=step, show=show)
            found = {node[0] for node in nodes(player.view)}
            assert not found & {"img", "script", "a"}
            assert len(json.dumps(player.view)) < 400_000, "long texts are cut"
            assert len(player.static()) < 400_000 + 40_000
            assert "\u202e" not in text(player.view), "what turns the order of its neighbours is taken out"
    compile(player.python(), "cell", "exec")
    assert "…" in text(player.view) or len(words) < 100_000


def test_long_prompts_are_cut_with_a_mark_that_counts():
    shown = text(Player(hostile_turn("word " * 40_000), step=9).view)
    assert "cut here: 188,000 characters more in the Turn" in shown


def test_h2_what_stands_in_for_the_widget_needs_no_script(turns):
    bundle, _ = Player(turns, turn=0, step=6)._repr_mimebundle_()
    assert "<button" not in bundle["text/html"]
    assert "<script" not in bundle["text/html"]
    assert "Dual retrieval" in bundle["text/html"]
    assert "Recall the dialogue (step 6, the fourth of 8 on a miss)" in bundle["text/plain"]


@pytest.mark.parametrize("html", ["<script>x</script>", '<p onclick="x">y</p>', '<i src="x"></i>', '<a href="x">y</a>', "</p>"])
def test_g6_the_tree_refuses_what_could_load_or_run(html):
    with pytest.raises(ValueError, match=r"must not hold|closes nothing"):
        tree_of(Html(html))


def test_the_tree_gives_back_the_very_text():
    view = tree_of(Html('<p class="a">1 &lt; 2 &amp; <b>x</b></p><svg viewBox="0 0 1 1"></svg>'))
    assert view == [["p", {"class": "a"}, "1 < 2 & ", ["b", {}, "x"]], ["svg", {"viewBox": "0 0 1 1"}]]


def test_the_copied_code_names_what_was_given(turns):
    single = Player(turns[0], step=1)
    assert f"Player(turn, step=1)  # the turn that asks {turns[0].question!r}" in single.python()
    for several in (turns, list(turns[:1])):
        player, names = Player(several, turn=0, step=2), {"turns": several}
        exec(player.python().replace("Player(", "again = Player("), names)
        assert names["again"].view == player.view
    with pytest.raises(InputError, match="needs a Turn"):
        Player(None)
