"""Every error of the kit shares one base class, and its message says what to do."""


class IlstmaError(Exception):
    """Base class: catch this to catch all that the kit raises on purpose."""


class InputError(IlstmaError, ValueError):
    """What was given cannot be used: a blank question, a bad parameter, a malformed row."""


class FormatError(IlstmaError, ValueError):
    """A file is not in a format that the kit reads; the message names the file and the place."""


class EmbeddingMismatchError(IlstmaError, ValueError):
    """Vectors of another embedder or dimension; the message names both."""


class TableFileError(IlstmaError):
    """A table's file cannot be read or written."""


class TableBusyError(TableFileError):
    """Another process, or another table in this one, writes to the same file."""


class ModelError(IlstmaError):
    """A language model or embedding endpoint failed; the message says what to do."""


class UnknownPromptError(IlstmaError):
    """A replay met a prompt that was never sent, and was told to stop there."""
