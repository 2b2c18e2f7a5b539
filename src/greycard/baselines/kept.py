"""Estimates that an earlier run of a method has left, and whether they would be the same today."""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import greycard
from greycard.baselines.method import Method

FOLLOWED = (
    "greycard.baselines.",
    "greycard.training.",
    "greycard.candidates",
    "greycard.illuminant",
    "greycard.statistics",
)
"""Whose files can change what a method says; the rest of the package reads and checks."""


def identity(*about: Any) -> str:
    """A digest of what decides the estimates of a run: all that JSON can hold."""
    return hashlib.sha256(json.dumps(about).encode()).hexdigest()


def source(method: Method) -> dict[str, str]:
    """The text of the file of a method, and of those that it imports, also by way of others.

    Of somebody's own method these are the modules beside it.
    """
    waiting, found = [Path(inspect.getfile(type(method)))], dict[str, str]()
    while waiting:
        path = waiting.pop()
        name = f"{path.parent.name}/{path.name}"
        if name not in found:
            found[name] = path.read_text(encoding="utf-8")
            waiting += _imported(found[name], path.parent)
    return dict(sorted(found.items()))


def load(path: Path, wanted: str) -> dict[str, Any] | None:
    """What was written to `path` under the identity that is wanted; None where it is missing, damaged or of another."""
    try:
        kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return kept if kept["identity"] == wanted else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _imported(text: str, folder: Path) -> Iterator[Path]:
    """The files of the package, and those beside it in its folder, that a module imports, also inside functions."""
    root = Path(greycard.__file__).parents[1]
    for node in ast.walk(ast.parse(text)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}", *(f"{node.module}.{name}" for name in names)]
        paths = [root.joinpath(*name.split(".")).with_suffix(".py") for name in names if name.startswith(FOLLOWED)]
        paths += [folder / f"{name}.py" for name in names if name.isidentifier()]
        yield from (path for path in paths if path.is_file())
