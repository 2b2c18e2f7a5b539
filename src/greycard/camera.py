"""Cameras: finding one by name, and the colour matrices that say what their RGB means."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable
from functools import cache
from importlib import resources

import numpy as np

from greycard.errors import GreycardError
from greycard.illuminant import Array


def find(name: str, known: Iterable[str]) -> str:
    """The known camera that is meant by a name: capitals, blanks and punctuation do not matter."""
    if not isinstance(name, str):
        raise GreycardError(f"camera: expected a name such as 'Canon EOS 5D', got {name!r}")
    by_key = {_key(camera): camera for camera in known}
    if _key(name) in by_key:
        return by_key[_key(name)]
    close = difflib.get_close_matches(_key(name), by_key, n=1, cutoff=0.6)
    hint = f"did you mean {by_key[close[0]]!r}? " if close else ""
    raise GreycardError(
        f"camera {name!r} is not known; {hint}known: {', '.join(sorted(by_key.values())) or 'none'}. "
        "Leave the camera out to use the candidates of all of them, or give candidates of its own"
    )


def is_known(name: str, known: Iterable[str]) -> bool:
    """Whether `find` would find it."""
    return _key(name) in map(_key, known)


@cache
def colour_matrix(name: str) -> Array | None:
    """(3, 3) XYZ-to-camera matrix under D65 of a bundled camera, or None where it is not known."""
    matrix = _matrices().get(_key(name))
    return None if matrix is None else np.asarray(matrix, dtype=np.float64)


@cache
def _matrices() -> dict[str, list[list[float]]]:
    text = resources.files("greycard").joinpath("models/colour_matrices.json").read_text(encoding="utf-8")
    return {_key(camera): matrix for camera, matrix in json.loads(text)["xyz_to_camera"].items()}


def _key(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
