"""One connection to an OpenAI-compatible endpoint: its key, its retries, and errors that say what to do."""

from __future__ import annotations

import ipaddress
import os
import re
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import urlsplit

from ilstma_lab.errors import ModelError

T = TypeVar("T")
Sleep = Callable[[float], None]

KEY_VARIABLE, URL_VARIABLE = "OPENAI_API_KEY", "OPENAI_BASE_URL"
FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 60.0
_NO_KEY_NEEDED = "no-key-needed"
_SHORTEST_KEY, _BLOT = 16, "[key]"
_WORTH_A_RETRY = (408, 409, 425, 429, 500, 502, 503, 504, 529)


class Connection:
    """A connection to `base_url` (or OPENAI_BASE_URL), with the key of OPENAI_API_KEY; no field of it holds the key.

    An endpoint on this machine or a private network needs no key. `timeout` in seconds, for each try; a try that fails
    for a passing reason is made again up to `retries` times, after .5, 1, 2 ... seconds or what Retry-After asks for, up to 60.
    `http_client` (httpx2) and `sleep` are there for tests. Raises ModelError where address or key is missing.
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        timeout: float = 60.0,
        retries: int = 3,
        sleep: Sleep = time.sleep,
        http_client: Any = None,
    ):
        self._url = (base_url or os.environ.get(URL_VARIABLE, "")).strip()
        self.endpoint = _label(self._url)
        self.timeout = timeout
        self.retries = retries
        self._sleep = sleep
        self._http_client = http_client
        self._client = None
        self._key()

    def __repr__(self) -> str:
        return f"Connection({self.endpoint!r})"

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_client": None}  # the client holds the key; another process makes its own

    @property
    def host(self) -> str:
        """The endpoint's host, and its port where one is named."""
        return urlsplit(self.endpoint).netloc

    def ask(self, request: Callable[[Any], T]) -> T:
        """Return `request(client)`, tried again where the failure may pass. Raises ModelError, `Refused` for 400 and 422."""
        import openai

        for attempt in range(self.retries + 1):
            try:
                return request(self._openai())
            except openai.APIStatusError as error:
                wait = _wait(error, attempt)
                if error.status_code in (400, 422):
                    raise Refused(self._message(error), _refused_text(error)) from None
                if wait is None or attempt == self.retries:
                    raise self.failed(error) from None
            except openai.APIConnectionError as error:
                wait = FIRST_WAIT_SECONDS * 2**attempt
                if attempt == self.retries:
                    raise self.failed(error) from None
            except (openai.OpenAIError, ValueError) as error:  # ValueError: what came is no JSON
                raise self.failed(error) from None
            self._sleep(wait)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def failed(self, error: Exception) -> ModelError:
        """Return the ModelError for what the client raised: endpoint, what happened, what to do; the key is blotted out."""
        return ModelError(self._message(error))

    def _message(self, error: Exception) -> str:
        status = getattr(error, "status_code", None)
        what = f"answered {status}: {_short(error)}" if status else f"failed: {_short(error)}"
        return f"{self.endpoint} {what}. {_advice(error, status, self.timeout)}"

    def _openai(self) -> Any:
        if self._client is None:
            import openai

            self._client = openai.OpenAI(
                api_key=self._key(), base_url=self._url, timeout=self.timeout, max_retries=0, http_client=self._http_client
            )
        return self._client

    def _key(self) -> str:
        key = os.environ.get(KEY_VARIABLE, "").strip()
        if not (key.isascii() and key.isprintable()):
            raise ModelError(f"{KEY_VARIABLE} holds characters that no key has: copy the key again, without anything around it")
        if key or _is_local(self._url):
            return key or _NO_KEY_NEEDED
        raise ModelError(f"{self.endpoint} needs a key: set the environment variable {KEY_VARIABLE} and start again")


class Refused(ModelError):
    """The endpoint understood the request and does not take it (400, 422); `text` is its explanation, lower-cased."""

    def __init__(self, message: str, text: str):
        super().__init__(message)
        self.text = text


def without_key(said: str) -> tuple[str, str]:
    """Return what an endpoint said with the key blotted out, and apart from it an ending that may be the key's beginning.

    A word of fewer than 16 characters, such as "ollama", stands for a key that is none, and is left where it is.
    """
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if len(key) < _SHORTEST_KEY:
        return said, ""
    said = said.replace(key, _BLOT)
    end = next((n for n in range(min(len(key) - 1, len(said)), 0, -1) if key.startswith(said[-n:])), 0)
    return said[: len(said) - end], said[len(said) - end :]


def _label(url: str) -> str:
    try:
        parts = urlsplit(url)
        unclear = parts.port == 0 or bool(re.search(r"\s", parts.hostname or ""))
    except ValueError:  # brackets that do not fit, a port that is no number up to 65535
        unclear = True
    if unclear:
        raise ModelError(
            "the base URL cannot be read: write scheme, host, port and path, without blanks, such as http://127.0.0.1:11434/v1 "
            "or http://[::1]:8080/v1; a port is a number from 1 to 65535"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        given = f" (got {parts.scheme or 'no'} scheme)" if url else ""
        raise ModelError(
            f"no endpoint{given}: pass base_url or set {URL_VARIABLE}, such as http://127.0.0.1:11434/v1 or https://api.openai.com/v1"
        )
    if parts.username or parts.password:
        raise ModelError(f"the address of {parts.hostname} holds a name or password: put the key into {KEY_VARIABLE} alone")
    return "".join(without_key(f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/")))


def _is_local(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".local", ".localhost", ".internal"))


def _wait(error: Any, attempt: int) -> float | None:
    """Return the seconds to wait before the next try, None where another try would not help."""
    if error.status_code not in _WORTH_A_RETRY or getattr(error, "code", None) == "insufficient_quota":
        return None
    asked = _retry_after(error.response.headers)
    wait = FIRST_WAIT_SECONDS * 2**attempt if asked is None else asked
    return wait if wait <= LONGEST_WAIT_SECONDS else None


def _retry_after(headers: Any) -> float | None:
    value = headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:  # a date, counted from the server's own clock
        return max(0.0, (parsedate_to_datetime(value) - parsedate_to_datetime(headers.get("date", ""))).total_seconds())
    except (TypeError, ValueError):
        return None


def _refused_text(error: Any) -> str:
    return _without_key(f"{getattr(error, 'param', '') or ''} {error.message} {error.body}").lower()


def _short(error: Exception) -> str:
    text = _without_key(" ".join(str(getattr(error, "message", "") or error or type(error).__name__).split()))
    return text[:300].rstrip(".") or type(error).__name__


def _without_key(text: str) -> str:
    key = os.environ.get(KEY_VARIABLE, "").strip()
    return text.replace(key, _BLOT) if key else text


def _advice(error: Exception, status: int | None, timeout: float) -> str:
    if "Timeout" in type(error).__name__:
        return f"It took longer than {timeout:g} s: give a longer timeout, or a smaller model."
    if status in (401, 403):
        return f"Check the key in {KEY_VARIABLE}, and that it may use this model."
    if status == 404:
        return "Check the model's name and the base URL (it usually ends in /v1)."
    if status == 429:
        return "The limit or the quota is used up: wait, or check the account."
    if status in (400, 413, 422):
        return "Check the model's name; if the prompt is too long for it, lower the token budget."
    if status and status >= 500:
        return "The endpoint itself fails: try again later."
    if isinstance(error, ValueError):
        return "What it sent cannot be read: ask again, and check that the base URL is that of an OpenAI-compatible endpoint."
    return "Check that the endpoint runs and that the base URL is right."
