"""What a DNG file's tags tell beyond its pixels: camera, colour matrices, as-shot white and lens shading.

Adobe's Digital Negative specification 1.7; tag numbers and opcodes are its own.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greycard.camera import ColourMatrices, full_name
from greycard.illuminant import Array, unit
from greycard.thumbnail import SIZE

_GAIN_MAP = 9
_LARGEST_MAP = 1_000_000
"""Points: a larger gain map is no gain map."""
CALIBRATION_TEMPERATURES = {
    1: 5500,
    2: 4150,
    3: 2856,
    4: 5500,
    9: 5500,
    10: 6500,
    11: 7500,
    12: 6430,
    13: 5000,
    14: 4150,
    15: 3450,
    17: 2856,
    18: 4874,
    19: 6774,
    20: 5503,
    21: 6504,
    22: 7504,
    23: 5003,
    24: 3200,
}
"""EXIF's light sources (tag LightSource) in kelvin."""


@dataclass(frozen=True)
class Tags:
    """What was found; a note says what was there but could not be used.

    as_shot: (3,) unit illuminant. shading: (64, 64, 3) gains on the thumbnail's grid.
    """

    camera: str | None = None
    matrices: ColourMatrices | None = None
    as_shot: Array | None = None
    shading: NDArray[np.float32] | None = None
    notes: tuple[str, ...] = ()


def tags(path: Path) -> Tags:
    """The tags of a DNG file; empty, with a note, where they cannot be read."""
    import tifffile

    try:
        with tifffile.TiffFile(path) as file:
            first = file.pages.first
            pages = [first, *(first.pages or [])]
            head: dict[int, Any] = {tag.code: tag.value for tag in first.tags}
            sensor = next((page for page in pages if int(page.photometric) in (32803, 34892)), first)
            own: dict[int, Any] = {tag.code: tag.value for tag in sensor.tags}
    except Exception as error:  # strangers' files fail in the parser's own way; LibRaw has read the pixels
        return Tags(notes=(f"its tags cannot be read ({' '.join(str(error).split())[:80]})",))
    matrices, notes = _matrices(head)
    return Tags(
        camera=_camera(head),
        matrices=matrices,
        as_shot=_as_shot(head),
        shading=_shading(own),
        notes=tuple(notes),
    )


def is_usable(matrix: NDArray[np.floating]) -> bool:
    """Whether an XYZ-to-camera matrix (3, 3) can be inverted and sends daylight to positive values."""
    if matrix.shape != (3, 3) or not np.all(np.isfinite(matrix)) or abs(float(np.linalg.det(matrix))) < 1e-6:
        return False
    return bool(np.all(matrix @ [0.9505, 1.0, 1.0888] > 0))


def _camera(head: dict[int, Any]) -> str | None:
    return full_name(head.get(271), head.get(272)) or (str(head[50708]).strip("\0 ") if head.get(50708) else None)


def _matrices(head: dict[int, Any]) -> tuple[ColourMatrices | None, list[str]]:
    """AnalogBalance x CameraCalibration x ColorMatrix for each calibration illuminant that can be used."""
    balance = _numbers(head.get(50727), 3)
    found, temperatures, notes = [], [], []
    for matrix_code, calibration_code, light_code in ((50721, 50723, 50778), (50722, 50724, 50779)):
        numbers = _numbers(head.get(matrix_code), 9)
        if numbers is None:
            continue
        calibration = _numbers(head.get(calibration_code), 9)
        whole = numbers.reshape(3, 3)
        if calibration is not None:
            whole = calibration.reshape(3, 3) @ whole
        if balance is not None:
            whole = balance[:, None] * whole
        if not is_usable(whole):
            notes.append(f"the colour matrix in tag {matrix_code} cannot be used: it is singular or darkens daylight")
            continue
        found.append(whole)
        temperatures.append(CALIBRATION_TEMPERATURES.get(int(head.get(light_code) or 0)))
    if not found:
        return None, notes
    if len(found) == 2 and (None in temperatures or temperatures[0] == temperatures[1]):
        notes.append("the calibration illuminants are not known: the second colour matrix alone is used")
        return ColourMatrices((found[1],)), notes
    return ColourMatrices(tuple(found), tuple(t for t in temperatures if t) if len(found) == 2 else ()), notes


def _as_shot(head: dict[int, Any]) -> Array | None:
    neutral = _numbers(head.get(50728), 3)
    return unit(neutral) if neutral is not None and np.all(neutral > 0) else None


def _numbers(value: Any, count: int) -> NDArray[np.float64] | None:
    """The numbers of a tag: as they are, or as fractions in turn numerator and denominator."""
    if value is None:
        return None
    flat = np.asarray(value, dtype=np.float64).ravel()
    if len(flat) == 2 * count:
        with np.errstate(divide="ignore", invalid="ignore"):
            flat = flat[::2] / flat[1::2]
    return flat if len(flat) == count and np.all(np.isfinite(flat)) else None


def _shading(own: dict[int, Any]) -> NDArray[np.float32] | None:
    """(64, 64, 3) gains of the GainMap opcodes at the centres of a thumbnail's cells, or None where there are none."""
    width, height = int(own.get(256, 0)), int(own.get(257, 0))
    pattern = own.get(33422)
    gains = np.ones((SIZE, SIZE, 3), np.float32)
    counts = np.zeros(3)
    sums = np.zeros((SIZE, SIZE, 3), np.float32)
    for code in (51009, 51022):
        for kind, data in _opcodes(own.get(code)):
            if kind != _GAIN_MAP:
                continue
            found = _gain_map(data, height, width, pattern)
            for channel, values in found:
                sums[..., channel] += values
                counts[channel] += 1
    if not counts.any():
        return None
    used = counts > 0
    gains[..., used] = sums[..., used] / counts[used]
    return gains


def _opcodes(content: Any) -> Iterator[tuple[int, bytes]]:
    """(number, data) of each opcode of a list; what does not fit ends it."""
    if not isinstance(content, bytes) or len(content) < 4:
        return
    at = 4
    for _ in range(min(struct.unpack(">I", content[:4])[0], 1000)):
        if at + 16 > len(content):
            return
        number, _, _, size = struct.unpack(">IIII", content[at : at + 16])
        yield number, content[at + 16 : at + 16 + size]
        at += 16 + size


def _gain_map(data: bytes, height: int, width: int, pattern: Any) -> list[tuple[int, NDArray[np.float32]]]:
    """The channels that a gain map is about, each with its gains (64, 64) at the centres of a thumbnail's cells."""
    if len(data) < 76 or min(height, width) == 0:
        return []
    top, left, _, _, plane, planes, row_pitch, column_pitch, rows, columns = struct.unpack(">10I", data[:40])
    spacing_v, spacing_h, origin_v, origin_h = struct.unpack(">4d", data[40:72])
    (map_planes,) = struct.unpack(">I", data[72:76])
    count = rows * columns * map_planes
    if not 0 < count <= _LARGEST_MAP or len(data) < 76 + 4 * count:
        return []
    points = np.frombuffer(data, ">f4", count, 76).reshape(rows, columns, map_planes).astype(np.float32)
    if not np.all(np.isfinite(points)) or np.any(points <= 0):
        return []
    centres = (np.arange(SIZE) + 0.5) / SIZE
    down = np.clip((centres - origin_v) / spacing_v if spacing_v else 0 * centres, 0, rows - 1)
    across = np.clip((centres - origin_h) / spacing_h if spacing_h else 0 * centres, 0, columns - 1)
    values = bilinear(points, down, across)
    if row_pitch == 2 and column_pitch == 2 and pattern is not None and len(pattern) == 4:
        channel = int(pattern[2 * (top % 2) + left % 2])
        return [(channel, values[..., 0])] if channel < 3 else []
    return [
        (channel, values[..., min(channel - plane, map_planes - 1)]) for channel in range(plane, min(plane + planes, 3))
    ]


def bilinear(points: NDArray[np.float32], down: Array, across: Array) -> NDArray[np.float32]:
    """Values of a grid (rows, columns, k) at fractional rows and columns: (len(down), len(across), k)."""
    top, left = np.floor(down).astype(int), np.floor(across).astype(int)
    bottom, right = np.minimum(top + 1, points.shape[0] - 1), np.minimum(left + 1, points.shape[1] - 1)
    y, x = (down - top)[:, None, None], (across - left)[None, :, None]
    upper = points[top][:, left] * (1 - x) + points[top][:, right] * x
    lower = points[bottom][:, left] * (1 - x) + points[bottom][:, right] * x
    return np.asarray(upper * (1 - y) + lower * y, dtype=np.float32)
