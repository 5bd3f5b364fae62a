"""A chat model that replies by purpose, for the systems that ask it more than one thing."""

from __future__ import annotations

from dataclasses import replace

from ilstma_lab.models import Models, offline
from ilstma_lab.models.call import Call
from ilstma_lab.models.prompted import PromptedResponder
from ilstma_lab.models.stream import Stream


class Chat:
    """Replies with `replies[purpose]`: a text, an exception to raise, or a function of the messages; `asked` keeps what came."""

    model = "scripted"

    def __init__(self, replies):
        self.replies = {"answer": "I see."} | replies
        self.asked = []

    def complete(self, messages, *, purpose, schema=None, on_piece=None):
        self.asked.append((purpose, messages))
        reply = self.replies[purpose]
        reply = reply(messages) if callable(reply) else reply
        if isinstance(reply, BaseException):
            raise reply
        return Call(purpose, self.model, messages, reply)

    def stream(self, messages, *, purpose):
        def pieces():
            call = self.complete(messages, purpose=purpose)
            yield call.reply
            return call

        return Stream(pieces())

    def of(self, purpose):
        return [messages for asked, messages in self.asked if asked == purpose]


def endpoint(chat, embedder) -> Models:
    """The models of a lab whose upkeep and answers ask `chat`."""
    return replace(offline(embedder), name="scripted", responder=PromptedResponder(chat), chat=chat)
