"""Outputs of any cell in a real JupyterLab: what was said is shown as it was said."""

from __future__ import annotations

from pathlib import Path

import nbformat

CODE = """from IPython.display import HTML
from ilstma_lab.reprs.markup import page, tag

HTML(page(tag("p", "A spa weekend, $410 a night, was $165 before.")))"""


def test_amounts_in_dollars_are_no_formula(server, open_lesson):
    cells = [nbformat.v4.new_code_cell(CODE)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), Path(server.root) / "dollars.ipynb")
    notebook = open_lesson("dollars.ipynb")
    notebook.run_all()
    output = notebook.page.locator(".jp-OutputArea .ilab")
    output.get_by_text("A spa weekend, $410 a night, was $165 before.").wait_for()
    assert output.locator("mjx-container").count() == 0
