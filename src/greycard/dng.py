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

from greycard.camera import ColourMatrices, full_name, is_usable
from greycard.illuminant import Array, unit
from greycard.photo import bilinear
from greycard.thumbnail import SIZE

_OF_FILE = (271, 272, 50708, 50721, 50722, 50723, 50724, 50727, 50728, 50778, 50779)
"""Tags about the whole file: its camera, the camera's colours, and the as-shot white."""
_OF_SENSOR = (33421, 33422, 51009, 51022)
"""Tags of the page with the sensor's pixels: their pattern, and the opcodes that hold gain maps."""
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

    as_shot: (3,) unit illuminant. shading: (64, 64, 3) gains on the thumbnail's grid. balanced: as in `photo.Photo`.
    """

    camera: str | None = None
    matrices: ColourMatrices | None = None
    as_shot: Array | None = None
    shading: NDArray[np.float32] | None = None
    balanced: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _GainMap:
    """start, pitch: the pixels that it is about, first and every how many (down, across). plane, planes: first and how
    many. values: (64, 64, k) gains at the centres of a thumbnail's cells; the last also serves the planes beyond k.
    """

    start: tuple[int, int]
    pitch: tuple[int, int]
    plane: int
    planes: int
    values: NDArray[np.float32]


def tags(path: Path) -> Tags:
    """The tags of a DNG file; empty, with a note, where they cannot be read."""
    import tifffile

    try:
        with tifffile.TiffFile(path) as file:
            first = file.pages.first
            pages = [first, *(first.pages or [])]
            head = _values(first, _OF_FILE)
            sensor = next((page for page in pages if int(page.photometric) in (32803, 34892)), first)
            own = _values(sensor, _OF_SENSOR)
        matrices, notes = _matrices(head)
        return Tags(
            camera=_camera(head),
            matrices=matrices,
            as_shot=_as_shot(head),
            shading=_shading(own),
            balanced=_balanced(head),
            notes=tuple(notes),
        )
    except Exception as error:  # strangers' files fail in the parser's own way; LibRaw has read the pixels
        return Tags(notes=(f"its tags cannot be read ({' '.join(str(error).split())[:80]})",))


def _values(page: Any, codes: tuple[int, ...]) -> dict[int, Any]:
    """The tags of a page that are of use; the others, such as makers' notes, are not worth the time to read them."""
    return {tag.code: tag.value for tag in page.tags if tag.code in codes}


def _camera(head: dict[int, Any]) -> str | None:
    return full_name(head.get(271), head.get(272)) or (str(head[50708]).strip("\0 ") if head.get(50708) else None)


def _matrices(head: dict[int, Any]) -> tuple[ColourMatrices | None, list[str]]:
    """AnalogBalance x CameraCalibration x ColorMatrix for each calibration illuminant that can be used."""
    balance = _numbers(head.get(50727), 3)
    found, temperatures, notes = [], [], []
    for matrix_code, calibration_code, light_code in ((50721, 50723, 50778), (50722, 50724, 50779)):
        if matrix_code not in head:
            continue
        numbers = _numbers(head[matrix_code], 9)
        if numbers is None:
            notes.append(f"the colour matrix in tag {matrix_code} cannot be used: it is not nine numbers")
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
        temperatures.append(CALIBRATION_TEMPERATURES.get(head.get(light_code, 0)))
    if not found:
        return None, notes
    if len(found) == 2 and (None in temperatures or temperatures[0] == temperatures[1]):
        notes.append("the calibration illuminants are not known: the second colour matrix alone is used")
        return ColourMatrices((found[1],)), notes
    return ColourMatrices(tuple(found), tuple(t for t in temperatures if t) if len(found) == 2 else ()), notes


def _balanced(head: dict[int, Any]) -> bool:
    """Whether AnalogBalance says that the stored values went through gains of their own for red, green and blue."""
    balance = _numbers(head.get(50727), 3)
    return balance is not None and bool(np.ptp(balance) > 1e-3 * np.max(np.abs(balance)))


def _as_shot(head: dict[int, Any]) -> Array | None:
    neutral = _numbers(head.get(50728), 3)
    return unit(neutral) if neutral is not None and np.all(neutral > 0) else None


def _numbers(value: Any, count: int) -> NDArray[np.float64] | None:
    """The numbers of a tag: as they are, or as fractions in turn numerator and denominator."""
    if value is None:
        return None
    try:
        flat = np.asarray(value, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        return None
    if len(flat) == 2 * count:
        with np.errstate(divide="ignore", invalid="ignore"):
            flat = flat[::2] / flat[1::2]
    return flat if len(flat) == count and np.all(np.isfinite(flat)) else None


def _shading(own: dict[int, Any]) -> NDArray[np.float32] | None:
    """(64, 64, 3) gains of the GainMap opcodes at the centres of a thumbnail's cells, or None where there are none."""
    on_sensor, on_planes = (
        [found for number, data in _opcodes(own.get(code)) if number == _GAIN_MAP and (found := _gain_map(data))]
        for code in (51009, 51022)
    )
    if not on_sensor and not on_planes:
        return None
    pattern = _pattern(own)
    if pattern is None:
        return _plane_gains(on_sensor + on_planes)
    return _pattern_gains(on_sensor, pattern) * _plane_gains(on_planes)


def _pattern(own: dict[int, Any]) -> NDArray[np.intp] | None:
    """(p, q) channel of each place in the period of the sensor's pattern; None for a picture of three planes."""
    size, colours = own.get(33421), own.get(33422)
    if not isinstance(size, tuple) or not isinstance(colours, bytes) or len(size) != 2:
        return None
    return np.array(list(colours)).reshape(size) if 0 < size[0] * size[1] == len(colours) else None


def _pattern_gains(maps: list[_GainMap], pattern: NDArray[np.intp]) -> NDArray[np.float32]:
    """(64, 64, 3) gains of maps that are each about some places of a pattern (p, q), such as its first green."""
    places = np.ones((*pattern.shape, SIZE, SIZE), np.float32)
    for each in maps:
        rows, columns = (
            np.unique((start + pitch * np.arange(period)) % period)
            for start, pitch, period in zip(each.start, each.pitch, pattern.shape, strict=True)
        )
        places[np.ix_(rows, columns)] *= each.values[..., 0]
    gains = np.ones((SIZE, SIZE, 3), np.float32)
    for channel in {0, 1, 2} & set(pattern.ravel().tolist()):
        gains[..., channel] = places[pattern == channel].mean(axis=0)
    return gains


def _plane_gains(maps: list[_GainMap]) -> NDArray[np.float32]:
    """(64, 64, 3) gains of maps that are about planes of colour."""
    gains = np.ones((SIZE, SIZE, 3), np.float32)
    for each in maps:
        for channel in range(each.plane, min(each.plane + each.planes, 3)):
            gains[..., channel] *= each.values[..., min(channel - each.plane, each.values.shape[-1] - 1)]
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


def _gain_map(data: bytes) -> _GainMap | None:
    """What a GainMap opcode says, or None where it makes no sense."""
    if len(data) < 76:
        return None
    top, left, _, _, plane, planes, row_pitch, column_pitch, rows, columns = struct.unpack(">10I", data[:40])
    geometry = struct.unpack(">4d", data[40:72])
    (map_planes,) = struct.unpack(">I", data[72:76])
    count = rows * columns * map_planes
    if not 0 < count <= _LARGEST_MAP or len(data) < 76 + 4 * count or not np.all(np.isfinite(geometry)):
        return None
    points = np.frombuffer(data, ">f4", count, 76).reshape(rows, columns, map_planes).astype(np.float32)
    if not np.all(np.isfinite(points)) or np.any(points <= 0):
        return None
    spacing_v, spacing_h, origin_v, origin_h = geometry
    centres = (np.arange(SIZE) + 0.5) / SIZE
    down = np.clip((centres - origin_v) / spacing_v if spacing_v else 0 * centres, 0, rows - 1)
    across = np.clip((centres - origin_h) / spacing_h if spacing_h else 0 * centres, 0, columns - 1)
    return _GainMap((top, left), (row_pitch, column_pitch), plane, planes, bilinear(points, down, across))
