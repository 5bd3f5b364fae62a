"""The code of what a variant is made of, also where its class stands in a notebook cell."""

from __future__ import annotations

import ast
import inspect
import linecache
from types import FunctionType


def code_of(made: type | FunctionType) -> str:
    """Return the code of a class or function, decorators included; "" where Python cannot tell it.

    Python looks for a class in its module's file, which a notebook has not; its methods know the cell that they stand in.
    """
    try:
        return inspect.getsource(made)
    except (OSError, TypeError):
        return _class_in_cell(made) if inspect.isclass(made) else ""


def _class_in_cell(made: type) -> str:
    for method in vars(made).values():
        if isinstance(method, FunctionType) and (lines := linecache.getlines(method.__code__.co_filename)):
            for node in ast.walk(ast.parse("".join(lines))):
                if isinstance(node, ast.ClassDef) and node.name == made.__name__:
                    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                    return "".join(lines[first - 1 : node.end_lineno])
    return ""
