"""Is a picture linear in light? What the metadata of PNG and TIFF files say of it, and how to undo an sRGB curve."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST_PROFILE_BYTES = 10_000_000
_NOT_LINEAR = "its ICC profile has a tone curve that is not linear"


def of_png(chunks: Mapping[bytes, bytes]) -> str | None:
    """Why a PNG is not linear, or None; by the precedence of the PNG specification: cICP, iCCP, sRGB, gAMA."""
    if b"cICP" in chunks:
        return None if chunks[b"cICP"][1:2] == b"\x08" else "its cICP chunk names a transfer curve that is not linear"
    if b"iCCP" in chunks:
        packed = chunks[b"iCCP"].split(b"\0", 1)[1][1:]
        return of_icc_profile(zlib.decompressobj().decompress(packed, _MOST_PROFILE_BYTES))
    if b"sRGB" in chunks:
        return "its metadata says that it is sRGB"
    if b"gAMA" in chunks:
        gamma = max(struct.unpack(">I", chunks[b"gAMA"][:4])[0] / 100_000, 1e-5)
        return None if abs(gamma - 1) < 0.01 else f"its metadata says that it is encoded with gamma 1/{1 / gamma:.2f}"
    return None


def of_tiff(tags: Mapping[int, Any]) -> str | None:
    """Why a TIFF is not linear, or None: its ICC profile (34675), transfer function (301) or Exif colour space."""
    if tags.get(34675):
        return of_icc_profile(bytes(tags[34675]))
    if tags.get(301) is not None and not _is_straight(np.ravel(tags[301])):
        return "its metadata names a transfer function that is not linear"
    exif = tags.get(34665)
    if isinstance(exif, Mapping) and exif.get("ColorSpace") == 1:
        return "its metadata says that it is sRGB"
    return None


def of_icc_profile(profile: bytes) -> str | None:
    """Why pixels with this ICC profile are not linear, or None: its red tone curve is anything but the identity."""
    count = struct.unpack(">I", profile[128:132])[0] if len(profile) >= 132 else 0
    for entry in range(min(count, 100)):
        signature, offset, _ = struct.unpack(">4sII", profile[132 + 12 * entry : 144 + 12 * entry])
        if signature == b"rTRC":
            return None if _is_identity(profile[offset:]) else _NOT_LINEAR
    return "its ICC profile names no tone curve, so that nothing says that it is linear"


def undo_srgb(pixels: NDArray[Any]) -> NDArray[np.float32]:
    """Undo the sRGB transfer curve (IEC 61966-2-1): linear floats from 0 to 1.

    pixels: integers of the full range of their type, or floats from 0 to 1.
    """
    full = np.iinfo(pixels.dtype).max if pixels.dtype.kind in "ui" else 1.0
    encoded = pixels.astype(np.float32) / np.float32(full)
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4).astype(np.float32)


def _is_identity(curve: bytes) -> bool:
    """Whether an ICC curve leaves values as they are: a table or a parametric curve (ICC.1, 10.6 and 10.18)."""
    if curve[:4] == b"curv":
        points = struct.unpack(">I", curve[8:12])[0]
        if points <= 1:
            return points == 0 or curve[12:14] == b"\x01\x00"
        return _is_straight(np.frombuffer(curve[12 : 12 + 2 * points], dtype=">u2"))
    return curve[:4] == b"para" and curve[8:10] == b"\0\0" and curve[12:16] == b"\0\1\0\0"


def _is_straight(table: NDArray[Any]) -> bool:
    """Whether a table of output values rises in equal steps; three tables in a row are one for each channel."""
    values = np.asarray(table, dtype=np.float64)
    if len(values) >= 3 and len(values) % 3 == 0 and np.any(np.diff(values) < 0):
        values = values[: len(values) // 3]
    straight = np.linspace(0, 65535, len(values))
    return bool(np.abs(values - straight).max() < 0.005 * 65535)
