"""The code of what a variant is made of, also where its class stands in a notebook cell."""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
from pathlib import Path
from types import FunctionType


def code_of(made: type | FunctionType) -> str:
    """Return the code of a class or function, decorators included; "" where Python cannot tell it.

    Python looks for a class in its module's file, which a notebook has not; its methods know the cell that they stand in.
    """
    try:
        return inspect.getsource(made)
    except (OSError, TypeError):
        return _class_in_cell(made) if inspect.isclass(made) else ""


def code_behind(made: type | FunctionType) -> str:
    """Return the code of `made`, of the classes that it stands on, and of the module files in which they stand.

    What comes with the kit or with Python is left out. Not seen: modules that these files import, and what they read.
    """
    stands_on = [each for each in (inspect.getmro(made) if inspect.isclass(made) else (made,)) if not _is_given(each)]
    files = dict.fromkeys(getattr(sys.modules.get(each.__module__), "__file__", None) for each in stands_on)
    return "\n".join([*map(code_of, stands_on), *map(_text_of, filter(None, files))])


def _is_given(made: type | FunctionType) -> bool:
    """Tell whether it comes with the kit or with Python."""
    top = made.__module__.partition(".")[0]
    return top == "ilstma_lab" or (top != "__main__" and top in sys.stdlib_module_names)


def _text_of(file: str) -> str:
    try:
        return Path(file).read_bytes().decode("utf-8", errors="replace")
    except OSError:
        return ""


def _class_in_cell(made: type) -> str:
    for method in vars(made).values():
        if isinstance(method, FunctionType) and (lines := linecache.getlines(method.__code__.co_filename)):
            for node in ast.walk(ast.parse("".join(lines))):
                if isinstance(node, ast.ClassDef) and node.name == made.__name__:
                    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                    return "".join(lines[first - 1 : node.end_lineno])
    return ""
