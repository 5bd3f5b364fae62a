"""The gallery: an executed lesson as a page that asks no server for anything, its figures drawn by the plotly beside it."""

from __future__ import annotations

import json
import re

import nbformat
import pytest

from ilstma_lab import app
from ilstma_lab.errors import InputError
from ilstma_lab.teaching import gallery

CELLS = (
    "from ilstma_lab.forgetting.strength import SigmoidStrength\n"
    "from ilstma_lab.plots.forgetting import strength_spec\n"
    "from ilstma_lab.widgets import LightFigure\n"
    "LightFigure(strength_spec(SigmoidStrength()))",
    "print('<script>alert(1)</script>')",
)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gallery")
    cells = [nbformat.v4.new_markdown_cell("# A lesson of two cells"), *map(nbformat.v4.new_code_cell, CELLS)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "99_tiny.ipynb")
    gallery.write_gallery(folder / "out", [folder / "99_tiny.ipynb"])
    return folder / "out"


def test_a_page_holds_its_figure_with_the_numbers(pages):
    page = (pages / "99_tiny.html").read_text(encoding="utf-8")
    (drawn,) = re.findall(r"Plotly\.newPlot\(\"f\w+\", \.\.\.(\[.*?\])\)</script>", page)
    data, layout, _ = json.loads(drawn.replace("\\u003c", "<"))
    assert any(trace.get("uid") == "dot" for trace in data)
    assert layout["template"]["layout"]["showlegend"] is False
    assert "16.75" in page, "the table for those who read rather than look"
    assert (pages / "plotly.min.js").stat().st_size > 1_000_000


def test_a_page_asks_nobody_for_anything(pages):
    for name in ("99_tiny.html", "index.html"):
        page = (pages / name).read_text(encoding="utf-8")
        assert not re.findall(r'(?:src|href)="(?:https?:)?//[^"]*\.(?:js|mjs|css)', page)
        assert "cdnjs" not in page
    assert 'href="99_tiny.html"' in (pages / "index.html").read_text(encoding="utf-8")


def test_what_a_cell_prints_stays_text(pages):
    assert "<script>alert(1)</script>" not in (pages / "99_tiny.html").read_text(encoding="utf-8")


def test_the_app_says_what_it_needs(monkeypatch):
    monkeypatch.setattr(app, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'ilstma-lab\[app\]'"):
        app.serve()


def test_the_app_serves_this_machine_alone_and_lets_the_page_ask_nobody(monkeypatch):
    started = []
    monkeypatch.setattr(app, "find_spec", lambda name: True)
    monkeypatch.setattr("subprocess.call", lambda command: started.append(command) or 0)
    assert app.serve(port=9000, browser=False) == 0
    (command,) = started
    assert {"--port=9000", "--Voila.ip=127.0.0.1", "--no-browser"} <= set(command)
    assert "default-src 'self'" in next(part for part in command if "Content-Security-Policy" in part)
