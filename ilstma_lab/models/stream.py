"""An answer that comes in pieces, and the record of the call that made it."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from ilstma_lab.models.call import Call


class Stream(Iterator[str]):
    """The pieces of an answer, as they come. `call` is the record of the whole once the last piece has come, else None.

    >>> answer = Stream.of(Call("answer", "a model", (), "Hello."))
    >>> list(answer), answer.call.reply
    (['Hello.'], 'Hello.')
    """

    def __init__(self, pieces: Generator[str, None, Call]):
        self.call: Call | None = None
        self._pieces = pieces

    @classmethod
    def of(cls, call: Call) -> Stream:
        """Return a stream of one piece: the reply of `call`."""

        def whole() -> Generator[str, None, Call]:
            yield call.reply
            return call

        return cls(whole())

    def __next__(self) -> str:
        try:
            return next(self._pieces)
        except StopIteration as end:
            self.call = end.value or self.call
            raise StopIteration from None

    def close(self) -> None:
        """Stop the answer here and let go of the connection; `call` stays None."""
        self._pieces.close()
