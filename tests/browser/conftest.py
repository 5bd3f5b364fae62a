"""One JupyterLab and one Chromium for all browser tests; each module opens its notebooks in pages of their own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator

import pytest

from ilstma_lab import resources


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/browser/" in item.path.as_posix():
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium() -> Iterator[object]:
    """A started Chromium; without one the tests are skipped, or fail where REQUIRE_CHROMIUM=1."""
    give_up = pytest.fail if os.environ.get("REQUIRE_CHROMIUM") == "1" else pytest.skip
    try:
        from playwright.sync_api import sync_playwright

        from tests.browser.driver import CHROMIUM, launch
    except ImportError as error:
        give_up(f"playwright cannot be imported ({error}): pip install playwright")
    if not CHROMIUM.is_file():
        give_up(f"there is no Chromium at {CHROMIUM}: install it (Debian: apt-get install chromium), or name one in BROWSER_PATH")
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, chromium: object) -> Iterator[object]:
    """A JupyterLab over a working copy of the lessons."""
    from tests.browser.driver import LabServer

    folder = tmp_path_factory.mktemp("lab") / "lessons"
    shutil.copytree(resources.notebooks_dir(), folder)
    with LabServer(folder) as lab:
        yield lab


@pytest.fixture(scope="session")
def context(chromium) -> Iterator[object]:
    """One browser context: its pages share a cache, so that JupyterLab's own code is fetched once."""
    context = chromium.new_context(viewport={"width": 1400, "height": 1600}, reduced_motion="reduce")
    yield context
    context.close()


@pytest.fixture(scope="module")
def open_lesson(server, context) -> Iterator[Callable[[str], object]]:
    """Open a lesson by name and return its `Notebook`; kernels and pages are closed at the end of the module."""
    from tests.browser.driver import Notebook

    opened: list[Notebook] = []

    def open_(name: str) -> Notebook:
        notebook = Notebook(context.new_page(), server)
        opened.append(notebook)
        notebook.open(name)
        return notebook

    yield open_
    for notebook in opened:
        notebook.shut_down()
        notebook.page.close()
