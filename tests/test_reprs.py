"""How things look without a widget: what is said, that it is escaped, and that it is readable as text."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser

import pytest

from ilstma_lab import ILSTMA, Dialogue, ManualClock, MemoryTable
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.prefetch.selection import ScoredRow, Selection
from ilstma_lab.reprs.markup import Html, stylesheet, tag
from ilstma_lab.reprs.segments import cards
from ilstma_lab.reprs.steps import in_order
from ilstma_lab.reprs.why import referee, text_of, why
from ilstma_lab.reprs.words import line, plain
from ilstma_lab.retrieval.recall import BranchA, BranchB, Candidate, Chunk, Reading, Recall
from ilstma_lab.trace import Failure, RowView, SegmentView, Step, Turn, Verdict
from tests.stubs import StubJudge, StubReader, asking, quoting, stub_lab, stub_models, table_of

ATTACK = "</script><img src=x onerror=alert(1)>\"'&"
NOW = datetime(2026, 4, 16, 9, tzinfo=UTC)


class _Parsed(HTMLParser):
    """All tags and attribute values of a page, and its text without the style."""

    VOID = ("img", "br", "input")

    def __init__(self, html: str):
        super().__init__()
        self.tags, self.values, self.names, self.text, self._open = [], [], [], "", []
        self.feed(html)
        self.close()
        assert self._open == [], "every tag is closed"

    def handle_starttag(self, name, attributes):
        self.tags.append(name)
        self.names += [key for key, _ in attributes]
        self.values += [value for _, value in attributes]
        if name not in self.VOID:
            self._open.append(name)

    def handle_endtag(self, name):
        assert self._open.pop() == name

    def handle_data(self, data):
        if "style" not in self._open:
            self.text += data


def evil_recall(**changes) -> Recall:
    reading = Reading(412, raw=ATTACK, reason=ATTACK)
    a = BranchA((Chunk(0, (1, 2), ATTACK, 0.4), Chunk(1, (3,), ATTACK, 0.2)), read=1, reading=reading, seconds=1.21, error=ATTACK)
    b = BranchB(
        (
            Candidate(1, 1, 0.42, {ATTACK: 0.1}, won=True, text=ATTACK),
            Candidate(2, 2, 0.39, won=True, text=ATTACK),
            Candidate(3, 3, -0.2, kind="asked", echo_of=(1,), text=ATTACK),
        ),
        error=ATTACK,
    )
    return replace(Recall(ATTACK, (1, 2), "invented", a, b, reason=ATTACK), **changes)


def evil_turn(**changes) -> Turn:
    views = tuple(
        SegmentView(name, rows, ATTACK, 10, 5, ATTACK) for name, rows in (("cache", (1,)), ("summary", ()), ("history", ()))
    )
    step = Step(6, 1.2, {"x" + ATTACK: ATTACK, "rows": [1]}, {"y": {ATTACK: ATTACK}, "z": [ATTACK]}, ATTACK, ATTACK)
    turn = Turn(
        number=3,
        question=ATTACK,
        at=NOW,
        hit=False,
        answer=ATTACK,
        recalled=(1, 2),
        steps=(Step(1, 0.0004), Step(2, 0.86), step, Step(9, 1.4)),
        seconds=3.56,
        seconds_after=0.004,
        verdict=Verdict(False, ATTACK, reason=ATTACK),
        recall=evil_recall(),
        prefetch=Selection((ScoredRow(1, 1.336, 0.836, 0.5, 1, chosen=True),), centre=2, note=ATTACK),
        calls={},
        segments_before=views,
        answered_from=views,
        segments_after=views,
        rows={1: RowView(1, NOW, NOW, 1, ATTACK, ATTACK, ATTACK, "told")},
        waiting=(1,),
        table_size=70,
        token_budget=600,
        models=ATTACK,
        labels=(ATTACK,),
        failure=Failure(9, ATTACK, ATTACK),
    )
    return replace(turn, **changes)


def evil_table() -> MemoryTable:
    rows = [Dialogue(f"{n} {ATTACK}", ATTACK, NOW - timedelta(days=20 - n), ATTACK) for n in range(12)]
    table = MemoryTable.from_dialogues(rows, embedder=HashedEmbedder(dim=16), topic=ATTACK)
    table.set_personality(ATTACK)
    return table


def evil_memory():
    lab = stub_lab(evil_table())
    lab.ask(ATTACK)
    return lab.memory


@pytest.mark.parametrize("make", [evil_turn, evil_recall, evil_table, evil_memory])
def test_g6_nothing_that_was_stored_becomes_markup(make):
    thing = make()
    html = _Parsed(thing._repr_html_())
    assert not {"img", "script"} & set(html.tags)
    assert not [name for name in html.names if name.startswith("on")]
    assert "alert(1)" in html.text, "it is shown, as text"
    assert "alert(1)" in str(thing)


def test_g6_a_page_without_failure_escapes_too():
    html = _Parsed(evil_turn(failure=None, hit=True, verdict=Verdict(True, used=(1,), reason=ATTACK))._repr_html_())
    assert not {"img", "script"} & set(html.tags)


def test_g7_attribute_values_are_escaped():
    assert tag("p", title='" onclick="x', cls=ATTACK) == (
        '<p class="&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&quot;&#x27;&amp;" title="&quot; onclick=&quot;x"></p>'
    )
    assert tag("p", Html("<b>1</b>"), None, 3) == "<p><b>1</b>3</p>"


def test_control_characters_and_direction_marks_do_not_reach_a_terminal():
    assert plain("a\x1b[2Jb\u202ec\r\nd") == "a�[2Jb�c\nd"
    assert "\x1b" not in str(evil_turn(answer="\x1b]0;gone\x07"))


def test_a_table_and_a_lab_name_themselves_without_commands_to_a_terminal(tmp_path):
    table = table_of(2)
    table.topic = "\x1b]0;gone\x07tea\u202e\nand more"
    table.save(tmp_path / "a\x1b[2J.json")
    kept = MemoryTable.load(tmp_path / "a\x1b[2J.json", embedder=table.embedder)
    lab = ILSTMA(kept, models=stub_models(name="\x1b[2Jstub"), clock=ManualClock.after(kept))
    for shown in (repr(kept), str(kept), repr(lab), str(lab)):
        assert not set(shown) & set("\x1b\x07\u202e")
    assert "\n" not in repr(lab)
    assert "tea" in repr(lab)


def test_long_texts_are_cut_with_a_mark():
    assert line("word " * 50_000, 30).endswith("…")
    assert len(evil_turn(answer="x" * 200_000)._repr_html_()) < 60_000
    assert plain("x" * 2000) == "x" * 2000


def test_a_miss_tells_how_the_row_was_found():
    lab = stub_lab(reader=StubReader({asking(3): Reading(3)}), responder=type("R", (), {"answer": staticmethod(quoting)})())
    turn = lab.ask(asking(3))
    text, html = str(turn), _Parsed(turn._repr_html_()).text
    assert turn.recalled == (3,)
    assert "A miss: both searches point to row [3], so it alone is recalled" in text
    assert "so the judge was skipped. A named [3], B ranked [3] [" in text
    assert "the referee took [3] alone." in text
    assert "passport renewal office?" in html
    assert "noted passport renewal office!" in html


def test_a_hit_tells_the_arithmetic_that_had_put_the_row_there():
    judge = StubJudge({"hit": lambda query, memory: Verdict(True, "Yes.", used=(memory.cache[1].index,))})
    lab = stub_lab(judge=judge)
    first, second = lab.ask(asking(3)), lab.ask("hit")
    scored = first.prefetch.rows[1]
    reason = why(second, cached_by=first.prefetch)
    assert reason.scored == scored
    assert reason.place == f"no. 2 of {len(first.prefetch.rows)} in the window"
    assert text_of(reason.sentence).startswith(f"Row [{scored.index}] was in the cache")
    assert why(second).scored is None, "a Turn alone knows the rows, not an earlier turn's scores"


@pytest.mark.parametrize(
    ("used", "title", "words"),
    [((), "Why no memory", "no row is touched"), (None, "Why this memory", "all that were cached count")],
)
def test_a_hit_without_named_rows_says_so(used, title, words):
    reason = why(
        evil_turn(failure=None, hit=True, verdict=Verdict(True, "Yes.", used=used), recalled=(1,) if used is None else ())
    )
    assert reason.title == title
    assert words in text_of(reason.sentence)


def test_a_failed_judge_is_not_called_a_first_turn():
    turn = evil_turn(failure=None, verdict=None, steps=(Step(1, 0.0), Step(2, 0.1, error="ConnectionError")))
    assert "The judge failed" in text_of(why(turn).sentence)


@pytest.mark.parametrize(
    ("changes", "ruling"),
    [
        ({"decision": "agree", "recalled": (2,), "branch_a": BranchA(named=2)}, "Is [2] among [1] [2]? Yes: recall [2] alone"),
        ({"decision": "disagree", "branch_a": BranchA(named=7)}, "Is [7] among [1] [2]? No: recall B’s, [1] [2]"),
        ({"decision": "invented"}, "Is there a row [412]? No: recall B’s, [1] [2]"),
        ({"decision": "unread", "branch_a": BranchA()}, "Did A name a row? It had nothing to say: recall B’s, [1] [2]"),
        (
            {"decision": "empty", "recalled": (), "branch_a": BranchA(), "branch_b": BranchB()},
            "Is there a row to find? No: nothing is recalled",
        ),
    ],
)
def test_the_referee_gives_its_ruling(changes, ruling):
    recall = evil_recall(**changes)
    asks, says = referee(recall)
    assert f"{text_of(asks)} {text_of(says)}" == ruling
    assert ruling in str(recall)
    assert _Parsed(recall._repr_html_())


def test_both_branches_share_one_scale_and_losers_are_kept():
    html = evil_recall()._repr_html_()
    assert 'style="width:100.0%"' in html, "the best score of both branches fills its bar"
    assert 'style="width:95.2%"' in html, ".400 of .420"
    assert html.count("cand off") == 2, "an unread chunk and a row that lost"
    assert "−.200" in html
    assert 'style="width:0.0%"' in html


def test_skipped_steps_stand_where_they_would_have_run():
    turn = evil_turn(steps=tuple(Step(n, 0.1) for n in (1, 2, 4, 6, 5, 9, 8, 7, 8)))
    assert in_order(turn) == [1, 2, 3, 4, 6, 5, 9, 8, 7]
    assert in_order(evil_turn(steps=tuple(Step(n, 0.1) for n in (1, 2, 3, 9, 8)))) == [1, 2, 3, 4, 6, 5, 9, 8, 7]
    assert in_order(evil_turn(steps=())) == [1, 2, 3, 4, 6, 5, 9, 8, 7]


def test_segments_show_the_text_without_the_prompts_fence():
    view = SegmentView("summary", (), "<summary>\n  She &amp; he\n  moved.\n</summary>", 4)
    (card,) = cards([view], {})
    assert card.text == "She & he\nmoved."


def test_a_table_shows_its_ends_and_what_waits():
    table = evil_table()
    table.touch([0, 11], NOW, deferred=True)
    text = str(table)
    assert "12 rows; the next index is 12" in text
    assert "Recalls of 2 rows wait" in text
    assert "4 rows between" in text
    assert "      0*   11 days        1  told   0 </script>" in text
    assert table._repr_html_().count("rc dirty") == 2


def test_a_row_without_a_vector_is_marked(recwarn):
    class Dead(HashedEmbedder):
        def embed(self, texts, kind):
            raise ConnectionError("down")

    table = MemoryTable.from_dialogues([Dialogue("a", "b", NOW)], embedder=Dead(dim=8))
    assert "1 row waits for a vector" in str(table)
    assert "no vector yet" in table._repr_html_()


def test_f7_an_empty_table_and_an_empty_memory_can_be_looked_at():
    table = MemoryTable(embedder=HashedEmbedder(dim=8))
    assert "0 rows; the next index is 0" in str(table)
    lab = stub_lab(table)
    for thing in (table, lab.memory, lab.ask("anything?")):
        assert str(thing)
        assert _Parsed(thing._repr_html_())


def test_every_rule_of_the_stylesheet_stays_inside_our_outputs():
    css, depth, outside = stylesheet(), 0, ""
    for letter in css.split("*/")[-1]:
        depth += (letter == "{") - (letter == "}")
        outside += letter if depth == 0 and letter not in "{}" else ""
    assert set(outside.split()) == {".ilab"}
    assert "url(" not in css


def test_h1_reprs_need_neither_widgets_nor_plotly():
    code = "import sys; sys.modules.update(dict.fromkeys(['ipywidgets', 'anywidget', 'plotly'])); import ilstma_lab.reprs"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_why_does_not_deny_what_stood_in_the_prompt():
    from ilstma_lab.systems.chatrsum import ChatRsum
    from ilstma_lab.systems.memochat import MemoChat

    table = table_of(12)
    said = {MemoChat: "stand under the topics that were picked", ChatRsum: "the summary and the last turns stand"}
    for system, says in said.items():
        lab = system(table.fork(), models=stub_models(), clock=ManualClock.after(table))
        lab.summarise()
        assert says in text_of(why(lab.ask(asking(3))).sentence)
