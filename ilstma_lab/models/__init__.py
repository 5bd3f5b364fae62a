"""Embedders and language models: what thinks for the memory, offline or behind an endpoint."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ilstma_lab.models.asking import Chat
    from ilstma_lab.models.call import Call
    from ilstma_lab.models.cassette import Cassette
    from ilstma_lab.models.prompts.messages import Instructions
    from ilstma_lab.protocols import Embedder, HitJudge, Merger, Profiler, Reader, Responder, Summarizer


@dataclass(frozen=True)
class Models:
    """The parts that think. `name` is shown in every Turn; replace one with `dataclasses.replace(models, judge=...)`.

    `chat` is the language model behind them, None where they think offline.
    """

    name: str
    embedder: Embedder
    judge: HitJudge
    reader: Reader
    responder: Responder
    summarizer: Summarizer
    merger: Merger
    profiler: Profiler
    chat: Chat | None = None

    def instructed(self, instructions: Instructions) -> Models:
        """Return these parts with a responder that is told `instructions`; one that takes none stays as it is."""
        told = getattr(self.responder, "instructed", None)
        return replace(self, responder=told(instructions)) if told else self

    def forget(self, calls: Iterable[Call], texts: Sequence[str]) -> None:
        """Let the parts' cassettes forget the replies to `calls` and what says `texts`; the parts forget vectors of sentences."""
        from ilstma_lab.models.sentence_vectors import SentenceVectors

        parts, calls = tuple(vars(self).values()), tuple(calls)
        cassettes = {getattr(chat, "cassette", None) for part in parts for chat in (part, getattr(part, "chat", None))}
        for cassette in cassettes - {None}:
            cassette.forget(calls, texts)
        for part in parts:
            if isinstance(vectors := getattr(part, "vectors", None), SentenceVectors):
                vectors.clear()

    def quoting_nearest(self) -> Models:
        """Return these parts with an offline responder that quotes the nearest of the relevant rows, whatever their order."""
        nearest = getattr(self.responder, "quoting_nearest", None)
        return replace(self, responder=nearest()) if nearest else self


@lru_cache(maxsize=1)
def default_embedder() -> Embedder:
    """Return the one Universal Sentence Encoder that everything shares; its weights are read at the first text."""
    from ilstma_lab.models.embedders import UniversalSentenceEncoder

    return UniversalSentenceEncoder()


def offline(embedder: Embedder | None = None) -> Models:
    """Return parts that need no network, no key and no language model: they compare, count and quote."""
    from ilstma_lab.models.extractive_answer import ExtractiveResponder
    from ilstma_lab.models.extractive_judge import ExtractiveJudge
    from ilstma_lab.models.extractive_profile import ExtractiveProfiler
    from ilstma_lab.models.extractive_reader import ExtractiveReader
    from ilstma_lab.models.extractive_summary import ExtractiveMerger, ExtractiveSummarizer
    from ilstma_lab.models.sentence_vectors import SentenceVectors
    from ilstma_lab.models.unsent import OFFLINE_MODEL

    embedder = embedder or default_embedder()
    vectors = SentenceVectors()
    return Models(
        name=OFFLINE_MODEL,
        embedder=embedder,
        judge=ExtractiveJudge(vectors=vectors),
        reader=ExtractiveReader(),
        responder=ExtractiveResponder(vectors=vectors),
        summarizer=ExtractiveSummarizer(),
        merger=ExtractiveMerger(embedder),
        profiler=ExtractiveProfiler(),
    )


def endpoint(
    model: str,
    *,
    embedding_model: str | None = None,
    base_url: str | None = None,
    timeout: float = 60,
    judge_calls: int = 1,
    cassette: Cassette | None = None,
    fields: dict[str, object] | None = None,
) -> Models:
    """Return parts that prompt `model` at an OpenAI-compatible endpoint; the key comes from OPENAI_API_KEY alone.

    `base_url` or OPENAI_BASE_URL names the endpoint; `timeout` in seconds. Without `embedding_model` the default offline embedder
    is used. With a cassette that replays, nothing is sent. `fields` go into each request as they are. Raises ModelError where
    address or key is missing.
    """
    from ilstma_lab.models import prompted
    from ilstma_lab.models.chat import ChatClient
    from ilstma_lab.models.endpoint_embedder import EndpointEmbedder

    replays = cassette is not None and cassette.mode == "replay"
    client = None if replays else ChatClient(model, base_url=base_url, timeout=timeout, fields=fields)
    chat = client if cassette is None else cassette.around(model, client)
    embedder = EndpointEmbedder(embedding_model, base_url=base_url, timeout=timeout) if embedding_model else default_embedder()
    return Models(
        name=model,
        embedder=embedder,
        judge=prompted.PromptedJudge(chat, calls=judge_calls),
        reader=prompted.PromptedReader(chat),
        responder=prompted.PromptedResponder(chat),
        summarizer=prompted.PromptedSummarizer(chat),
        merger=prompted.PromptedMerger(chat),
        profiler=prompted.PromptedProfiler(chat),
        chat=chat,
    )
