"""Cameras: finding one by name, and the colour matrices that say what their RGB means."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greycard.errors import GreycardError
from greycard.illuminant import Array, Temperature
from greycard.illuminant import temperatures as light_temperatures

_START = 5000.0
"""Kelvin from which the search for a light's temperature starts."""
_ROUNDS = 30
SOLD_AS = {
    "Canon EOS 550D": ("Canon EOS Kiss X4", "Canon EOS Rebel T2i"),
    "Canon EOS 600D": ("Canon EOS Kiss X5", "Canon EOS Rebel T3i"),
    "Canon EOS-1Ds Mark III": ("Canon EOS 1Ds Mk III",),
    "Olympus E-PL6": ("Olympus PEN E-PL6", "Olympus PEN Lite E-PL6"),
    "Panasonic DMC-GX1": ("Panasonic Lumix GX1", "Panasonic Lumix DMC-GX1"),
    "Sony SLT-A57": ("Sony Alpha 57", "Sony Alpha SLT-A57", "Sony SLT-A57V"),
}
"""Names under which the bundled cameras were sold, or are written, elsewhere."""


@dataclass(frozen=True, eq=False)
class ColourMatrices:
    """What sends XYZ to a camera's RGB: one matrix (3, 3), or two that were measured under lights of two temperatures.

    calibrated_at: the temperatures of the two lights in kelvin; empty where one matrix serves all lights.
    """

    matrices: tuple[Array, ...]
    calibrated_at: tuple[float, ...] = ()

    def __eq__(self, other: object) -> bool:
        """Whether the numbers are the same; files of one camera bring equal matrices."""
        return isinstance(other, ColourMatrices) and self._numbers == other._numbers

    def __hash__(self) -> int:
        """By the numbers."""
        return hash(self._numbers)

    @property
    def _numbers(self) -> tuple[tuple[float, ...], bytes]:
        return self.calibrated_at, b"".join(matrix.tobytes() for matrix in self.matrices)

    def at(self, temperature: float) -> Array:
        """(3, 3) the matrix for a light of this colour temperature, interpolated in its inverse (DNG specification)."""
        if not self.has_two:
            return self.matrices[0]
        first, second = self.calibrated_at
        share = (1 / temperature - 1 / first) / (1 / second - 1 / first)
        share = min(1.0, max(0.0, share))
        return np.asarray((1 - share) * self.matrices[0] + share * self.matrices[1])

    def temperatures(self, illuminants: list[Array]) -> list[Temperature | None]:
        """Colour temperature and Duv of lights (3,) of this camera; None as in `illuminant.temperatures`."""
        if not self.has_two:
            return light_temperatures(illuminants, self.matrices[0])
        return [self._settled(light) for light in illuminants]

    @property
    def has_two(self) -> bool:
        """Whether there are two matrices to choose between."""
        return len(self.calibrated_at) == 2

    def _settled(self, light: Array) -> Temperature | None:
        """The temperature that its own matrix tells: a few rounds settle it (DNG specification)."""
        for start in (_START, *self.calibrated_at):  # a wrong matrix may find no temperature at all
            guess = start
            for _ in range(_ROUNDS):
                (found,) = light_temperatures([light], self.at(guess))
                if found is None:
                    break
                if abs(found.cct - guess) < 1:
                    return found
                # Half of the way, in inverse temperature: all of it may lead to and fro between two answers for ever.
                guess = 2 / (1 / guess + 1 / found.cct)
        return None


def full_name(make: Any, model: Any) -> str | None:
    """Make and model as one name: the make's first word ("NIKON CORPORATION"), unless the model says it already."""
    make, model = (value.strip("\0 ") if isinstance(value, str) else "" for value in (make, model))
    maker = make.split(" ", 1)[0]
    if not model:
        return None
    return model if model.lower().startswith(maker.lower()) else f"{maker} {model}"


def find(name: str, known: Iterable[str]) -> str:
    """The known camera that is meant by a name or alias: capitals, blanks and punctuation do not matter."""
    if not isinstance(name, str):
        raise GreycardError(f"camera: expected a name such as 'Canon EOS 5D', got {name!r}")
    by_key = {_key(camera): camera for camera in known}
    for key in (_key(name), _key(_sold_as(name))):
        if key in by_key:
            return by_key[key]
    close = difflib.get_close_matches(_key(name), by_key, n=1, cutoff=0.6)
    hint = f"did you mean {by_key[close[0]]!r}? " if close else ""
    raise GreycardError(
        f"camera {name!r} is not known; {hint}known: {', '.join(sorted(by_key.values())) or 'none'}. "
        "Leave the camera out to use the candidates of all of them, or give candidates of its own"
    )


def is_known(name: str, known: Iterable[str]) -> bool:
    """Whether `find` would find it."""
    return isinstance(name, str) and not {_key(name), _key(_sold_as(name))}.isdisjoint(map(_key, known))


@cache
def colour_matrices(name: str) -> ColourMatrices | None:
    """The XYZ-to-camera matrix under D65 of a bundled camera, or None where it is not known."""
    matrix = _matrices().get(_key(_sold_as(name)))
    return None if matrix is None else ColourMatrices((np.asarray(matrix, dtype=np.float64),))


def read_matrices(path: Path) -> dict[str, ColourMatrices]:
    """The matrices in a JSON file {"xyz_to_camera": {camera: [[...], [...], [...]]}}, by camera."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))["xyz_to_camera"]
        found = {str(camera): np.asarray(matrix, dtype=np.float64) for camera, matrix in content.items()}
    except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise GreycardError(
            f'{path}: expected JSON {{"xyz_to_camera": {{camera: 3 x 3 numbers}}}} ({error})'
        ) from error
    wrong = next((camera for camera, matrix in found.items() if not is_usable(matrix)), None)
    if wrong:
        raise GreycardError(f"{path}: the matrix of {wrong} is not 3 x 3, or singular, or darkens daylight")
    return {camera: ColourMatrices((matrix,)) for camera, matrix in found.items()}


def is_usable(matrix: NDArray[np.floating]) -> bool:
    """Whether an XYZ-to-camera matrix (3, 3) can be inverted and sends daylight to positive values."""
    if matrix.shape != (3, 3) or not np.all(np.isfinite(matrix)) or abs(float(np.linalg.det(matrix))) < 1e-6:
        return False
    return bool(np.all(matrix @ [0.9505, 1.0, 1.0888] > 0))


@cache
def _matrices() -> dict[str, list[list[float]]]:
    text = resources.files("greycard").joinpath("models/colour_matrices.json").read_text(encoding="utf-8")
    return {_key(camera): matrix for camera, matrix in json.loads(text)["xyz_to_camera"].items()}


def folder_name(camera: str) -> str:
    """A name for a folder: the camera's, without what would lead elsewhere; a data set may call it as it likes."""
    return re.sub(r"[^\w .()+-]", "_", camera).strip(". ") or "_"


def _sold_as(name: str) -> str:
    """The name by which greycard knows a camera that is called otherwise elsewhere; else the name itself."""
    wanted = _key(name)
    return next((camera for camera, others in SOLD_AS.items() if wanted in map(_key, others)), name)


def _key(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
