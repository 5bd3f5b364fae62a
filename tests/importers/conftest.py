"""A small file of every format, written by hand from the format's description."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest


def node(ident, parent, role=None, text="", **message):
    """One node of a ChatGPT tree."""
    content = {"content_type": "text", "parts": [text]}
    body = {"author": {"role": role}, "create_time": None, "content": content, "recipient": "all", "metadata": {}} | message
    return {"id": ident, "message": body if role else None, "parent": parent, "children": []}


MEMORYBANK = {
    " Ivy ": {
        "name": "Ivy",
        "meta_information": {"hobbies": "tea"},
        "summary": {},
        "history": {
            "2024-02-02": [{"query": "The kettle broke.", "response": "A pity."}, {"query": "", "response": "Are you there?"}],
            "2024-02-01": [{"query": "I drink oolong.", "response": "Noted."}],
            "2024-02-03": [],
        },
    },
    "Oskar": {"name": "Oskar", "history": {"2024-02-01": [{"query": "I row.", "response": "Where?"}]}},
}
SCM = [
    {"id": "long_1", "token_count": 9, "dialogue": ["q0", "a0", "q1", "a1", "q2"]},
    {"id": "long_2", "token_count": 9, "dialogue": [f"t{i}" for i in range(24)]},
]
LOCOMO = [
    {
        "sample_id": "conv-1",
        "qa": [{"question": "Who rows?", "evidence": ["D2:1"], "category": 4}],
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Ben",
            "session_2": [{"speaker": "Ben", "dia_id": "D2:1", "text": "I row."}],
            "session_2_date_time": "12:05 am on 2 January, 2024",
            "session_1": [
                {"speaker": "Ana", "dia_id": "D1:1", "text": "Look!", "img_url": ["u"], "blip_caption": "a photo of a kettle"},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "Nice."},
                {"speaker": "Ana", "dia_id": "D1:3", "text": "Bye."},
            ],
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_3_date_time": "1:56 pm on 8 May, 2024",
        },
    }
]
LONGMEMEVAL = {
    "question_id": "q1",
    "question": "Where?",
    "haystack_dates": ["2024/02/02 (Fri) 10:00", "2024/02/01 (Thu) 23:59", "2024/02/02 (Fri) 10:00"],
    "haystack_session_ids": ["s_b", "s_a", "s_b"],
    "haystack_sessions": [
        [{"role": "user", "content": "b0"}, {"role": "assistant", "content": "b1", "has_answer": True}],
        [
            {"role": "assistant", "content": "a0"},
            {"role": "user", "content": "a1"},
            {"role": "assistant", "content": "a2"},
            {"role": "user", "content": "a3"},
        ],
        [{"role": "user", "content": "c0"}, {"role": "assistant", "content": " "}, {"role": "user", "content": "c2"}],
    ],
}
CHATGPT = [
    {
        "title": "Tea",
        "conversation_id": "id-1",
        "create_time": 1706781600.0,
        "current_node": "u2",
        "mapping": {
            "root": node("root", None),
            "hid": node("hid", "root", "user", "custom", metadata={"is_visually_hidden_from_conversation": True}),
            "u1": node("u1", "hid", "user", "Which tea?"),
            "old": node("old", "u1", "assistant", "Black."),
            "new": node("new", "u1", "assistant", "Oolong.", create_time=1706781660.0),
            "call": node("call", "new", "assistant", "search()", recipient="browser"),
            "tool": node("tool", "call", "tool", "result"),
            "u2": node(
                "u2",
                "tool",
                "user",
                create_time=1706868000.5,
                content={
                    "content_type": "multimodal_text",
                    "parts": [
                        {"content_type": "image_asset_pointer"},
                        {"content_type": "audio_transcription", "text": "This one?"},
                    ],
                },
            ),
        },
    },
    {"title": "Tea", "conversation_id": "id-2", "current_node": None, "mapping": {}},
]
SHAREGPT = [
    {
        "id": "s1",
        "conversations": [
            {"from": "system", "value": "Be kind."},
            {"from": "gpt", "value": "Welcome."},
            {"from": "human", "value": "Hi"},
            {"from": "human", "value": "I row."},
            {"from": "gpt", "value": "Good."},
            {"from": "human", "value": "Draw it."},
            {"from": "gpt", "value": ""},
            {"from": "human", "value": "Bye."},
        ],
    }
]


def telegram(ident, sender, text, **more):
    """One message of a Telegram chat."""
    stamp = {"date": "2024-02-01T10:00:00", "date_unixtime": str(1706778000 + 60 * ident)}
    return {"id": ident, "type": "message", "from": sender, "from_id": f"user{sender}", "text": text} | stamp | more


TELEGRAM = {
    "name": "Ben",
    "type": "personal_chat",
    "id": 77,
    "messages": [
        {"id": 1, "type": "service", "actor": "Ana", "action": "phone_call", "date": "2024-02-01T09:00:00", "text": ""},
        telegram(2, "Ana", "Dinner?"),
        telegram(3, "Ben", ["Yes, ", {"type": "bold", "text": "Friday"}], text_entities=[]),
        telegram(4, "Ana", "", photo="(not included)"),
        telegram(5, None, "Who is this?", forwarded_from="X"),
    ],
}
ANDROID = """\
25/1/24, 09:00 - Messages and calls are end-to-end encrypted.
25/1/24, 09:01 - Ana: Dinner on Friday?
25/1/24, 9:03\u202fPM - Ben: Yes!
Two things:
1) tea
2/2/24, 09:05 - Ana: <Media omitted>
2/2/24, 09:06 - Ana: IMG-1.jpg (file attached)
Our boat
2/2/24, 09:07 - Ben: This message was deleted
2/2/24, 09:08 - Ben changed the group description
"""
IOS = """\
[01/31/2024, 12:00:12 AM] Ana: \u200eMessages and calls are end-to-end encrypted.
[01/31/2024, 12:01:40 AM] \u202a+49 170 0000000\u202c: Dinner?\r
\u200e[02/01/2024, 9:05:33\u202fPM] ~\u202fAna: \u200eimage omitted
[02/01/2024, 9:06:33\u202fPM] ~\u202fAna: Look: \u200e<This message was edited>
\u200e[02/01/2024, 9:07:00 PM] Ana: \u200eYou deleted this message.
"""
JSONL = """\
{"user": "I row.", "assistant": "Where?", "at": "2024-02-02T08:00:00+08:00", "source": "diary 7", "mood": 3}

{"user": "On the lake.", "assistant": "", "at": 1706745600}
"""
CSV = 'User;assistant;at;source\n"I row; often";"Where?\nWhen?";2024-02-01;p7\nHi;Hello;2024-02-02T01:00Z;\n'

SAMPLES: dict[str, Any] = {
    "memorybank": MEMORYBANK,
    "scm": SCM,
    "locomo": LOCOMO,
    "longmemeval": LONGMEMEVAL,
    "chatgpt": CHATGPT,
    "sharegpt": SHAREGPT,
    "telegram": TELEGRAM,
    "whatsapp": ANDROID,
    "jsonl": JSONL,
    "csv": CSV,
}


@pytest.fixture(scope="session")
def samples() -> dict[str, Any]:
    """A file's content by the name of its format."""
    return SAMPLES | {"ios": IOS}


@pytest.fixture
def save(tmp_path: Path) -> Callable[..., Path]:
    """Write bytes, a text or a JSON value into a file, and return its path."""

    def write(content: Any, name: str = "chat.txt") -> Path:
        text = content if isinstance(content, str | bytes) else json.dumps(content, ensure_ascii=False)
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
        return path

    return write


@pytest.fixture
def soon() -> Callable[..., AbstractContextManager[None]]:
    """A block that may take `seconds` of the processor: many times what it needs, so that only growth of another order fails."""

    @contextmanager
    def within(*, seconds: float) -> Iterator[None]:
        begun = time.process_time()
        yield
        assert time.process_time() - begun < seconds

    return within
