"""White balance in the sidecar files of raw converters: written, and read back as labels.

Each program has its own file here, which answers to the same three names: `path_of` (where it looks for a picture's
sidecar), `written` (the text of a sidecar with a white balance in it) and `read` (the light that a sidecar stands for).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import cast, get_args

import numpy as np

from greycard import raw
from greycard.camera import ColourMatrices
from greycard.errors import GreycardError
from greycard.illuminant import Array, angular_error
from greycard.output import write_whole
from greycard.sidecars.balance import Balance, Kept, Program

_LARGEST = 20_000_000
"""Bytes: a larger file is no sidecar."""


UNNAMED = "not named"
"""What stands for the camera of a file that does not name it."""


def check(program: str) -> Program:
    """The name of a program that reads sidecars, or the reason why it is none."""
    for known in get_args(Program):
        if program == known:
            return cast("Program", known)
    raise GreycardError(f"--for: expected one of {', '.join(get_args(Program))}, got {program!r}")


def write(picture: Path, program: Program, balance: Balance, *, overwrite: bool = False) -> Path:
    """Write the white balance of a picture where a program reads it, and tell the sidecar's path.

    What else an existing sidecar says is kept; its own white balance too, unless it may be overwritten (else `Kept` is
    raised). The picture itself is never written to.
    """
    writer = _of(program)
    path: Path = writer.path_of(picture)
    write_whole(path, writer.written(_content(path), balance, path, overwrite))
    return path


@dataclass(frozen=True, eq=False)
class Label:
    """A light (3,) that somebody chose, and the camera that saw it, `UNNAMED` where the file does not say."""

    camera: str
    light: Array


def label(picture: Path, program: Program | None = None) -> Label | None:
    """The white balance that somebody chose for a RAW file; None where its sidecars hold none.

    program: whose sidecars; by default those of any, in the order rawtherapee, darktable, adobe. A balance that is the
    camera's own is nobody's choice.
    """
    about = raw.about(picture)
    light = _light(picture, about.matrices, (program,) if program else get_args(Program))
    if light is None or (about.as_shot is not None and float(angular_error(light, about.as_shot)) < 0.05):
        return None
    return Label(about.camera or UNNAMED, light)


def read_labels(pictures: Iterable[Path], program: Program | None = None) -> tuple[list[Path], list[str], Array]:
    """The RAW files whose sidecars hold a white balance that somebody chose: files, cameras, illuminants (n, 3).

    program: as in `label`.
    """
    found = [(picture, one) for picture in pictures if (one := label(picture, program)) is not None]
    lights = np.array([one.light for _, one in found], dtype=np.float64).reshape(-1, 3)
    return [picture for picture, _ in found], [one.camera for _, one in found], lights


def _light(picture: Path, matrices: ColourMatrices | None, programs: tuple[Program, ...]) -> Array | None:
    for program in programs:
        reader = _of(program)
        path: Path = reader.path_of(picture)
        content = _content(path)
        found: Array | None = None if content is None else reader.read(content, matrices, path)
        if found is not None:
            return found
    return None


def _of(program: Program) -> ModuleType:
    return import_module(f"greycard.sidecars.{check(program)}")


def _content(path: Path) -> bytes | None:
    """What is in a sidecar; None where there is none."""
    try:
        if path.stat().st_size > _LARGEST:
            raise GreycardError(f"{path}: is too large for a sidecar")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise GreycardError(f"{path}: cannot be read ({error.strerror or error})") from error


__all__ = ["Balance", "Kept", "Label", "Program", "check", "label", "read_labels", "write"]
