"""Camera files: the candidates of a camera, written down to be used again and passed on; and tables of lights."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greycard import candidates as candidate_selection
from greycard.candidates import CandidateSet
from greycard.errors import GreycardError
from greycard.illuminant import Array
from greycard.output import write_whole

FORMAT = 1
_LARGEST = 10_000_000


@dataclass(frozen=True, eq=False)
class CameraFile:
    """Candidates of one camera. aliases: other names of it; origin: in words, where the candidates come from."""

    camera: str
    candidates: CandidateSet
    origin: str
    aliases: tuple[str, ...] = ()

    @property
    def file_name(self) -> str:
        """A name for the file: the camera's, in small letters and dashes."""
        return (re.sub(r"\W+", "-", self.camera.lower()).strip("-") or "camera") + ".json"


def from_lights(camera: str, measured: ArrayLike, count: int = 120, aliases: Iterable[str] = ()) -> CameraFile:
    """Candidates that stand for lights (m, 3) measured with the camera, with their shares as prior."""
    chosen = candidate_selection.select(measured, count)
    candidates = CandidateSet(chosen, bias=candidate_selection.log_prior(measured, chosen))
    return CameraFile(camera, candidates, f"{len(np.atleast_2d(measured))} measured lights", tuple(aliases))


def read_lights(path: str | Path) -> dict[str | None, Array]:
    """The lights (m, 3) in a CSV file with the columns r, g, b; for each camera, where it has a column camera."""
    path = Path(path)
    found: dict[str | None, list[list[float]]] = {}
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            for row in csv.DictReader(file):
                found.setdefault(row.get("camera") or None, []).append([float(row[channel]) for channel in "rgb"])
    except (OSError, KeyError, TypeError, ValueError, csv.Error) as error:
        raise GreycardError(f"{path}: expected a CSV file of numbers with the columns r, g, b") from error
    if not found:
        raise GreycardError(f"{path}: holds no lights; expected a CSV file with the columns r, g, b")
    return {camera: candidate_selection.check(lights, str(path)) for camera, lights in found.items()}


def write(path: str | Path, content: CameraFile) -> None:
    """Write a camera file, whole or not at all."""
    chosen = content.candidates
    about = {
        "greycard_camera": FORMAT,
        "camera": content.camera,
        "aliases": list(content.aliases),
        "origin": content.origin,
        "illuminants": [[round(value, 6) for value in row] for row in chosen.illuminants.tolist()],
        "log_prior": None if chosen.bias is None else [round(value, 4) for value in chosen.bias.tolist()],
    }
    write_whole(path, json.dumps(about, ensure_ascii=False, indent=1) + "\n")


def read(path: str | Path) -> CameraFile:
    """Read a camera file; one that is not is refused with the reason."""
    path = Path(path)
    try:
        if path.stat().st_size > _LARGEST:
            raise GreycardError(f"{path}: is too large for a camera file (over {_LARGEST:,} bytes)")
        about = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, OverflowError, RecursionError) as error:
        if isinstance(error, GreycardError):
            raise
        raise GreycardError(f"{path}: is no camera file that can be read ({error})") from error
    version = about.get("greycard_camera") if isinstance(about, dict) else None
    if not isinstance(version, int):
        raise GreycardError(f"{path}: is not a camera file; `greycard candidates build` writes them")
    if version > FORMAT:
        raise GreycardError(f"{path}: was written by a newer greycard (format {version}); upgrade to read it")
    return CameraFile(
        _text(about, "camera", path),
        CandidateSet(_illuminants(about, path), bias=_log_prior(about, path)),
        _text(about, "origin", path),
        _aliases(about, path),
    )


def read_all(paths: Iterable[str | Path]) -> dict[str, CandidateSet]:
    """The candidates of each camera, by its name and by its aliases; a folder stands for the .json files in it."""
    found: dict[str, CandidateSet] = {}
    for path in map(Path, paths):
        inside = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not inside:
            raise GreycardError(f"{path}: has no camera file (.json) in it; `greycard candidates build` writes them")
        for file in inside:
            content = read(file)
            found |= dict.fromkeys((content.camera, *content.aliases), content.candidates)
    return found


def _text(about: dict[str, Any], key: str, path: Path) -> str:
    if not isinstance(about.get(key), str) or not about[key].strip():
        raise GreycardError(f"{path}: {key} must be a text that is not empty")
    return str(about[key])


def _aliases(about: dict[str, Any], path: Path) -> tuple[str, ...]:
    names = about.get("aliases", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise GreycardError(f"{path}: aliases must be a list of names")
    return tuple(names)


def _illuminants(about: dict[str, Any], path: Path) -> Array:
    return candidate_selection.check(about.get("illuminants", []), f"{path}: illuminants")


def _log_prior(about: dict[str, Any], path: Path) -> NDArray[np.float32] | None:
    numbers = about.get("log_prior")
    if numbers is None:
        return None
    try:
        prior = np.asarray(numbers, dtype=np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        raise GreycardError(f"{path}: log_prior must be a list of numbers") from error
    if prior.shape != (len(about["illuminants"]),) or not np.all(np.isfinite(prior)):
        raise GreycardError(f"{path}: log_prior must have a finite number for each of the illuminants")
    return prior
