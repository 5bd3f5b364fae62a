"""The lessons as pages that need no kernel and no network: executed, their plots live, their widgets in the first state.

`python -m ilstma_lab.teaching.gallery FOLDER [LESSON ...]` writes one page a lesson and an index; each opens from the file.
"""

from __future__ import annotations

import argparse
import html
import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ilstma_lab import resources
from ilstma_lab.errors import InputError
from ilstma_lab.reprs.markup import page, tag

if TYPE_CHECKING:
    from nbformat import NotebookNode

VIEW, STATE = "application/vnd.jupyter.widget-view+json", "application/vnd.jupyter.widget-state+json"
_PLOTLY = "plotly.min.js"
_SECONDS_A_CELL = 300
_SCRIPT = re.compile(r"<script\b.*?</script>", re.DOTALL)
_FROM_ELSEWHERE = re.compile(r'src="(?:https?:)?//|src=""|\bfrom "https?://|import "?https?://|cdnjs\.cloudflare')
"""Scripts of the page's frame that a public server would be asked for; lessons themselves hold none."""


def write_gallery(folder: Path, lessons: Sequence[Path]) -> None:
    """Execute `lessons` and write their pages, an index and plotly into `folder`; says which it is at."""
    folder.mkdir(parents=True, exist_ok=True)
    with as_file(files("plotly") / "package_data" / _PLOTLY) as source:
        shutil.copyfile(source, folder / _PLOTLY)
    titles = {}
    for lesson in lessons:
        print(f"{lesson.name} ...", flush=True)
        notebook = executed(lesson)
        titles[f"{lesson.stem}.html"] = _title(notebook)
        (folder / f"{lesson.stem}.html").write_text(page_of(notebook), encoding="utf-8")
    (folder / "index.html").write_text(_index(titles), encoding="utf-8")


def executed(lesson: Path) -> NotebookNode:
    """Return the notebook with the outputs of all its cells. Raises what nbclient raises where a cell fails."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(lesson, as_version=4)
    NotebookClient(notebook, timeout=_SECONDS_A_CELL, kernel_name="python3", store_widget_state=True).execute()
    return notebook


def page_of(notebook: NotebookNode) -> str:
    """Return an executed notebook as an HTML page; plotly is expected beside it."""
    from nbconvert import HTMLExporter

    models = notebook.metadata.get("widgets", {}).get(STATE, {}).get("state", {})
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if VIEW in data:
                figures = "".join(_figures(data.pop(VIEW)["model_id"], models))
                data["text/html"] = f"{data.get('text/html', '')}{figures}"
    notebook.metadata.pop("widgets", None)
    exporter = HTMLExporter(template_name="lab", mathjax_url="", require_js_url="", jquery_url="", embed_images=True)
    body, _ = exporter.from_notebook_node(notebook)
    body = _SCRIPT.sub(lambda found: "" if _FROM_ELSEWHERE.search(found[0]) else found[0], body)
    return body.replace("</head>", f'<script src="{_PLOTLY}"></script></head>', 1)


def _figures(model_id: str, models: Mapping[str, Any]) -> Iterator[str]:
    """Yield every figure among a widget and its children, as a place and the call that draws it."""
    model = models.get(model_id, {})
    state = model.get("state", {})
    if isinstance(state.get("view"), dict) and {"data", "layout"} <= set(state["view"]):
        view = _filled(state["view"], model.get("buffers", ()))
        layout = {**view["layout"], "template": state.get("template", {}), "autosize": True}
        drawn = json.dumps([view["data"], layout, {"responsive": True, "displayModeBar": False}]).replace("<", "\\u003c")
        title = f"<b>{html.escape(state.get('title', ''))}</b><br>{html.escape(state.get('sub', ''))}"
        yield (
            f'<p style="font-family:var(--jp-content-font-family)">{title}</p><div id="f{model_id}" role="img" '
            f'aria-label="{html.escape(state.get("alt", ""))}"></div><script>Plotly.newPlot("f{model_id}", ...{drawn})</script>'
        )
    for child in state.get("children", ()):
        yield from _figures(str(child).removeprefix("IPY_MODEL_"), models)


def _filled(view: dict[str, Any], buffers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the view with its arrays' bytes put back, which travel apart from it; plotly takes them as base64."""
    view = json.loads(json.dumps(view))
    for buffer in buffers:
        place: Any = view
        *path, last = buffer["path"][1:]
        for step in path:
            place = place[step]
        place[last] = buffer["data"]
    return view


def _title(notebook: NotebookNode) -> str:
    return notebook.cells[0].source.split("\n", 1)[0].lstrip("# ")


def _index(titles: Mapping[str, str]) -> str:
    links = (tag("p", tag("a", title, href=name)) for name, title in titles.items())
    body = page(tag("div", tag("h1", "Lessons"), *links, cls="pane"))
    return f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Lessons</title></head><body>{body}</body></html>\n'


def main() -> None:
    """Write the gallery that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("lessons", nargs="*", help="such as 04_strength (default: all)")
    options = parser.parse_args()
    found = sorted((resources.notebooks_dir() / "solutions").glob("*.ipynb"))
    chosen = [lesson for lesson in found if not options.lessons or lesson.stem in options.lessons]
    if len(chosen) < len(set(options.lessons)):
        raise InputError(f"no such lesson; there are {', '.join(lesson.stem for lesson in found)}")
    write_gallery(options.folder, chosen)


if __name__ == "__main__":
    main()
