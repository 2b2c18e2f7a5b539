"""Packed thumbnails: a whole data set in one `.npz` file, ready for training and evaluation."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from greycard.errors import GreycardError
from greycard.thumbnail import SIZE

FoldColumn = Literal["folds", "scene_folds"]

_LARGEST = 8_000_000_000
"""Bytes: a file that unpacks to more than this is refused before it is unpacked."""


@dataclass(frozen=True)
class Packed:
    """Labelled thumbnails; one row of every array is one image.

    images: (N, 64, 64, 3) linear, black removed; a cell that is 0 in all channels is masked.
    illuminants: (N, 3) ground truth, unit length. cameras, names, datasets: (N,) str.
    folds, scene_folds: (N,) number of the cross-validation fold, or -1 where the data set has no such split.
    """

    images: NDArray[np.uint16]
    illuminants: NDArray[np.float64]
    cameras: NDArray[np.str_]
    names: NDArray[np.str_]
    datasets: NDArray[np.str_]
    folds: NDArray[np.int8]
    scene_folds: NDArray[np.int8]

    def __len__(self) -> int:
        """How many images."""
        return len(self.images)

    def where(self, chosen: NDArray[np.bool_]) -> Packed:
        """The images for which `chosen` (N,) is True."""
        return Packed(**{field.name: getattr(self, field.name)[chosen] for field in fields(self)})

    def fold_numbers(self, column: FoldColumn) -> NDArray[np.int8]:
        """(N,) the fold of each image, or an error where the data set has no such split."""
        numbers: NDArray[np.int8] = getattr(self, column)
        if np.any(numbers < 0):
            missing = ", ".join(np.unique(self.datasets[numbers < 0]))
            raise GreycardError(
                f"{missing}: has no {column!r}; expected an array of that name with a number for each image"
            )
        return numbers

    def digests(self) -> NDArray[np.uint64]:
        """(N,) a digest of the pixels of each image, by which it is known again under another name."""
        rows = np.ascontiguousarray(self.images)
        return np.array(
            [int.from_bytes(hashlib.sha256(row.tobytes()).digest()[:8], "little") for row in rows], np.uint64
        )


def load(path: str | Path) -> Packed:
    """Read a packed data set; what is wrong with it is said by name."""
    path = Path(path)
    if not path.is_file():
        raise GreycardError(f"{path}: there is no such file; expected a packed data set (.npz)")
    arrays = _arrays(path)
    count = len(arrays["images"])
    none = np.full(count, -1, dtype=np.int8)
    packed = Packed(
        images=arrays["images"],
        illuminants=arrays["illuminants"].astype(np.float64),
        cameras=arrays["cameras"].astype(np.str_),
        names=arrays["names"].astype(np.str_),
        datasets=np.full(count, path.stem),
        folds=arrays.get("folds", none),
        scene_folds=arrays.get("scene_folds", none),
    )
    _check(packed, path)
    norms = np.linalg.norm(packed.illuminants, axis=1, keepdims=True)
    return replace(packed, illuminants=packed.illuminants / norms)


def concatenate(parts: Sequence[Packed]) -> Packed:
    """Several data sets as one; each image keeps the name of its own."""
    return Packed(
        **{field.name: np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Packed)}
    )


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
        arrays = _unpack(path, size)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        if isinstance(error, GreycardError):
            raise
        raise GreycardError(
            f"{path}: cannot be read as a packed data set ({' '.join(str(error).split())[:100]})"
        ) from error
    missing = [key for key in ("images", "illuminants", "cameras", "names") if key not in arrays]
    if missing:
        raise GreycardError(f"{path}: is no packed data set: {', '.join(missing)} missing")
    return arrays


def _unpack(path: Path, size: int) -> dict[str, NDArray[Any]]:
    """All arrays of the file, unless they would fill the memory; never a pickle."""
    if size > _LARGEST:
        raise GreycardError(f"{path}: unpacks to {size:,} bytes; up to {_LARGEST:,} are read")
    with np.load(path, allow_pickle=False) as content:
        return {key: content[key] for key in content.files}


def _check(packed: Packed, path: Path) -> None:
    count = len(packed.images)
    if packed.images.shape != (count, SIZE, SIZE, 3) or packed.images.dtype != np.uint16:
        raise GreycardError(
            f"{path}: images should be (N, {SIZE}, {SIZE}, 3) uint16, "
            f"they are {packed.images.shape} {packed.images.dtype}"
        )
    if count == 0:
        raise GreycardError(f"{path}: holds no images")
    for key, shape in (
        ("illuminants", (count, 3)),
        *((key, (count,)) for key in ("cameras", "names", "folds", "scene_folds")),
    ):
        if getattr(packed, key).shape != shape:
            raise GreycardError(f"{path}: {key} should have the shape {shape}, it has {getattr(packed, key).shape}")
    bad = ~np.all(np.isfinite(packed.illuminants) & (packed.illuminants > 0), axis=1)
    if bad.any():
        raise GreycardError(f"{path}: the illuminant of {packed.names[bad][0]} is not positive")
    names, counts = np.unique(packed.names, return_counts=True)
    if counts.max() > 1:
        raise GreycardError(f"{path}: the name {names[counts.argmax()]} stands for more than one image")
