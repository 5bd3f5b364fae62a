"""What holds for all tests: the same random examples in CI each time, no endpoint, and no way out of this machine."""

from __future__ import annotations

import os
import sys

import pytest
from hypothesis import settings

settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("thorough", deadline=None, max_examples=1_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "local"))

_HERE = ("127.", "::1", "localhost", "0.0.0.0")


def _stay_here(event: str, arguments: tuple) -> None:
    """An audit hook (it cannot be taken off): a test that connects to another machine fails at that line."""
    if event == "socket.connect":
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else ""  # a path: a socket file on this machine
    elif event == "socket.getaddrinfo":
        host = arguments[0] or ""
    else:
        return
    host = host.decode() if isinstance(host, bytes) else str(host)
    if host and not host.startswith(_HERE):
        raise RuntimeError(f"a test tried to reach {host!r}; tests use this machine only")


sys.addaudithook(_stay_here)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come last: while Playwright runs, no other event loop can be run in this thread."""
    items.sort(key=lambda item: "tests/browser/" in item.path.as_posix())


@pytest.fixture(autouse=True)
def _no_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys and endpoints of whoever runs the tests are not the tests' business."""
    for name in [name for name in os.environ if name.startswith("OPENAI_")]:
        monkeypatch.delenv(name)
