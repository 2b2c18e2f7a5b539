"""Packed thumbnails: a whole data set in one `.npz` file, ready for training and evaluation."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from greycard.errors import GreycardError
from greycard.illuminant import unit
from greycard.output import write_whole
from greycard.thumbnail import SIZE

FoldColumn = Literal["folds", "scene_folds"]

_LARGEST = 8_000_000_000
"""Bytes: a file that unpacks to more than this is refused before it is unpacked."""


@dataclass(frozen=True, eq=False)
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
    folds: NDArray[np.int64]
    scene_folds: NDArray[np.int64]

    def __len__(self) -> int:
        """How many images."""
        return len(self.images)

    def where(self, chosen: NDArray[np.bool_]) -> Packed:
        """The images for which `chosen` (N,) is True."""
        return Packed(**{field.name: getattr(self, field.name)[chosen] for field in fields(self)})

    def fold_numbers(self, column: FoldColumn) -> NDArray[np.int64]:
        """(N,) the fold of each image, or an error where the data set has no such split."""
        numbers: NDArray[np.int64] = getattr(self, column)
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
    _check(arrays, path)
    count = len(arrays["images"])
    none = np.full(count, -1)
    return Packed(
        images=arrays["images"].astype(np.uint16, copy=False),
        illuminants=unit(arrays["illuminants"]),
        cameras=arrays["cameras"],
        names=arrays["names"],
        datasets=np.full(count, path.stem),
        folds=arrays.get("folds", none).astype(np.int64),
        scene_folds=arrays.get("scene_folds", none).astype(np.int64),
    )


def save(data: Packed, path: str | Path) -> None:
    """Write a packed data set, whole or not at all. Folds that the data set does not have are left out."""
    arrays: dict[str, Any] = {
        "images": data.images,
        "illuminants": data.illuminants.astype(np.float32),
        "cameras": data.cameras,
        "names": data.names,
    }
    for column in ("folds", "scene_folds"):
        if np.any(getattr(data, column) >= 0):
            arrays[column] = getattr(data, column)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    write_whole(path, buffer.getvalue())


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
    except GreycardError:
        raise
    except Exception as error:  # archives fail in many ways: one line for the user
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
        # A member that is no array comes back as bytes.
        return {key: np.asarray(content[key]) for key in content.files}


def _check(arrays: dict[str, NDArray[Any]], path: Path) -> None:
    """Refuse arrays that do not have the shape and kind of a packed data set."""
    images = arrays["images"]
    if images.ndim != 4 or images.shape[1:] != (SIZE, SIZE, 3) or images.dtype.kind != "u" or images.itemsize != 2:
        raise GreycardError(
            f"{path}: images should be (N, {SIZE}, {SIZE}, 3) uint16, they are {images.shape} {images.dtype}"
        )
    count = len(images)
    if count == 0:
        raise GreycardError(f"{path}: holds no images")
    kinds = {"illuminants": "f", "cameras": "U", "names": "U", "folds": "ui", "scene_folds": "ui"}
    for key in kinds.keys() & arrays.keys():
        shape = (count, 3) if key == "illuminants" else (count,)
        if arrays[key].shape != shape or arrays[key].dtype.kind not in kinds[key]:
            wanted = {"f": "numbers", "U": "text", "ui": "integers"}[kinds[key]]
            found = f"{arrays[key].shape} {arrays[key].dtype}"
            raise GreycardError(f"{path}: {key} should be {wanted} of shape {shape}, they are {found}")
    bad = ~np.all(np.isfinite(arrays["illuminants"]) & (arrays["illuminants"] > 0), axis=1)
    if bad.any():
        raise GreycardError(f"{path}: the illuminant of {arrays['names'][bad][0]} is not positive")
    names, counts = np.unique(arrays["names"], return_counts=True)
    if counts.max() > 1:
        raise GreycardError(f"{path}: the name {names[counts.argmax()]} stands for more than one image")
