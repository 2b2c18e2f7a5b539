"""Writing rendered pictures: PNG, JPEG or 16-bit TIFF in sRGB, with the essential metadata, whole or not at all."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from greycard.errors import GreycardError
from greycard.metadata import Metadata, exif
from greycard.output import write_whole

Format = Literal["jpeg", "png", "tiff"]
SUFFIXES: dict[Format, str] = {"jpeg": ".jpg", "png": ".png", "tiff": ".tif"}
_JPEG_QUALITY = 93
_JPEG_SIDE = 65_500
_LARGEST_TIFF = 4_000_000_000


def write(path: Path, picture: NDArray[Any], kind: Format, metadata: Metadata) -> None:
    """Write a picture (H, W, 3) in sRGB: 8 bits as JPEG or PNG, 16 bits as TIFF."""
    encoders: dict[Format, Callable[[NDArray[Any], Metadata, Path], bytes]]
    encoders = {"jpeg": _jpeg, "png": _png, "tiff": _tiff}
    write_whole(path, encoders[kind](np.ascontiguousarray(picture), metadata, path))


def _jpeg(picture: NDArray[np.uint8], metadata: Metadata, path: Path) -> bytes:
    import imagecodecs

    if max(picture.shape) > _JPEG_SIDE:
        raise GreycardError(f"{path}: a JPEG has at most {_JPEG_SIDE} pixels a side; use --format png or tiff")
    encoded = bytes(imagecodecs.jpeg8_encode(picture, level=_JPEG_QUALITY, subsampling="444"))
    block = b"Exif\0\0" + exif(metadata)
    return encoded[:2] + b"\xff\xe1" + struct.pack(">H", len(block) + 2) + block + encoded[2:]


def _png(picture: NDArray[np.uint8], metadata: Metadata, path: Path) -> bytes:
    import imagecodecs

    # One filter for all rows and little search: faster than libpng's own choice.
    encoded = bytes(imagecodecs.png_encode(picture, level=1, filter=imagecodecs.PNG.FILTER.PAETH))
    header = 8 + 12 + 13  # the signature and the first chunk
    chunks = _chunk(b"sRGB", b"\0") + _chunk(b"eXIf", exif(metadata))
    return encoded[:header] + chunks + encoded[header:]


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _tiff(picture: NDArray[np.uint16], metadata: Metadata, path: Path) -> bytes:
    height, width, _ = picture.shape
    if picture.nbytes > _LARGEST_TIFF:
        raise GreycardError(f"{path}: would be larger than a TIFF may be; use --format png")
    tags = [
        (256, 4, width),
        (257, 4, height),
        (258, 3, (16, 16, 16)),
        (259, 3, 1),
        (262, 3, 2),
        (273, 4, 0),
        (277, 3, 3),
        (278, 4, height),
        (279, 4, picture.nbytes),
        (284, 3, 1),
    ]
    return exif(metadata, tags, picture.astype("<u2", copy=False).tobytes())
