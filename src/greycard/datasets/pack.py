"""Packing: the pictures of a data set to thumbnails in one file, on all cores; what cannot be packed is told.

A picture that is done is kept beside the target until all are, so that an interrupted run goes on where it was.
"""

from __future__ import annotations

import hashlib
import io
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from greycard.datasets import packed
from greycard.datasets.packed import Packed
from greycard.datasets.picture import LabelledPicture, thumbnail_and_light
from greycard.errors import GreycardError
from greycard.illuminant import Array
from greycard.output import write_whole
from greycard.thumbnail import Thumbnail, log_image
from greycard.workers import Failure, each

_SCALE = 65535
"""Packed value of a cell as bright as the picture's white level."""
_COARSE = 8000
"""Values that do not reach this would lose colour by rounding."""


@dataclass(frozen=True)
class Report:
    """How many pictures were packed, and a line for each that was not."""

    packed: int
    failures: list[str]


def pack(
    pictures: Sequence[LabelledPicture],
    out: Path,
    *,
    workers: int | None = None,
    progress: Callable[[], object] = lambda: None,
) -> Report:
    """Write the thumbnails of all pictures that can be read to `out`, in the order given.

    workers: processes; by default one for each core. progress: called after each picture, done or failed.
    """
    parts = out.with_name(f"{out.name}.parts")
    _check_names(pictures)
    failures: dict[int, str] = {}
    for index, answer in each(partial(_pack_one, parts=parts), pictures, workers=workers):
        if isinstance(answer, Failure):
            failures[index] = answer.about(pictures[index].path)
        progress()
    kept = [picture for index, picture in enumerate(pictures) if index not in failures]
    if kept:
        packed.save(_collect(kept, parts, out.stem), out)
    shutil.rmtree(parts, ignore_errors=True)
    return Report(len(kept), [failures[index] for index in sorted(failures)])


def quantised(cells: Thumbnail) -> NDArray[np.uint16]:
    """A thumbnail as packed files hold it: white is 65535; values as they are where white is not known.

    One that would use only a small part of the range, or exceed it, is scaled to all of it: exposure means nothing.
    """
    brightest = float(cells.max())
    scale = 1.0 if brightest > 1 else float(_SCALE)
    if not _COARSE <= brightest * scale <= _SCALE:
        scale = _SCALE / max(brightest, 1e-12)
    return np.asarray(np.clip(np.round(cells * scale), 0, _SCALE), dtype=np.uint16)


def _pack_one(picture: LabelledPicture, parts: Path) -> None:
    """Thumbnail and light of one picture into a file of its own, unless it is there already."""
    part = _part(picture, parts)
    if part.is_file():
        return
    cells, light = thumbnail_and_light(picture)
    stored = quantised(cells)
    log_image(stored, str(picture.path))  # refuses one with too few cells now rather than in training
    buffer = io.BytesIO()
    np.savez(buffer, cells=stored, light=light)
    write_whole(part, buffer.getvalue())


def _part(picture: LabelledPicture, parts: Path) -> Path:
    """Where a packed picture waits. A changed file or changed settings have another name."""
    try:
        state = picture.path.stat()
    except OSError as error:
        raise GreycardError(f"{picture.path}: there is no such file; the data set should have it") from error
    content = repr((picture, state.st_size, state.st_mtime_ns))
    return parts / f"{hashlib.sha256(content.encode()).hexdigest()[:24]}.npz"


def _collect(pictures: Sequence[LabelledPicture], parts: Path, dataset: str) -> Packed:
    images, lights = zip(*(_waiting(_part(picture, parts)) for picture in pictures), strict=True)
    return Packed(
        images=np.stack(images),
        illuminants=np.stack(lights),
        cameras=np.array([picture.camera for picture in pictures]),
        names=np.array([picture.name for picture in pictures]),
        datasets=np.full(len(pictures), dataset),
        folds=np.array([picture.fold for picture in pictures]),
        scene_folds=np.array([picture.scene_fold for picture in pictures]),
    )


def _waiting(part: Path) -> tuple[NDArray[np.uint16], Array]:
    with np.load(part, allow_pickle=False) as content:
        return content["cells"], content["light"]


def _check_names(pictures: Sequence[LabelledPicture]) -> None:
    """A name stands for one picture only, and there is at least one."""
    if not pictures:
        raise GreycardError("there are no pictures to pack")
    names = [picture.name for picture in pictures]
    twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
    if twice:
        raise GreycardError(f"the name {twice} stands for more than one picture")
