"""The essential metadata of a photograph: who took it when and how, which way is up; read from files, written as Exif.

Exif 2.32 and TIFF 6.0; tag numbers are their own.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from greycard import __version__, raw_header
from greycard.raw import SUFFIXES

_TIME = "%Y:%m:%d %H:%M:%S"
_FLIPS = {1: 0, 2: 1, 3: 3, 4: 2, 5: 4, 6: 6, 7: 7, 8: 5}
"""Exif's orientations as LibRaw's flips: 1 mirrors left and right, 2 top and bottom, then 4 exchanges the axes."""
_LONGEST = 200
"""Letters of a name that are kept."""

Entry = tuple[int, int, Any]
"""A tag of a TIFF directory: its number, its type (2 text, 3 short, 4 long, 5 fraction, 7 bytes), its value."""


@dataclass(frozen=True)
class Metadata:
    """What is kept of a file's metadata; None where it does not tell.

    seconds: exposure time. focal_length: millimetres. flip: which way is up, in LibRaw's numbers.
    """

    make: str | None = None
    model: str | None = None
    lens: str | None = None
    taken: datetime | None = None
    seconds: float | None = None
    f_number: float | None = None
    iso: int | None = None
    focal_length: float | None = None
    artist: str | None = None
    rights: str | None = None
    flip: int = 0


def read(path: Path) -> Metadata:
    """The metadata of a file, as far as it can be read: that of a picture is no reason to refuse it."""
    import tifffile

    suffix = path.suffix.lower()
    if suffix not in SUFFIXES and suffix not in (".tif", ".tiff"):
        return Metadata()
    try:
        with tifffile.TiffFile(path) as file:
            return _from_tags({tag.code: tag.value for tag in file.pages.first.tags})
    except Exception:  # not built like a TIFF, or broken in the parser's own way
        return _from_libraw(path) if suffix in SUFFIXES else Metadata()


def exif(metadata: Metadata, more: Sequence[Entry] = (), pixels: bytes = b"") -> bytes:
    """A little-endian TIFF with the metadata: by itself an Exif block; with pixels and their tags, a whole picture.

    more: further tags of the first directory; a tag 273 (where the pixels lie) is filled in here.
    """
    head: list[Entry] = [
        (271, 2, metadata.make),
        (272, 2, metadata.model),
        (274, 3, 1),
        (305, 2, f"greycard {__version__}"),
        (306, 2, _time(metadata)),
        (315, 2, metadata.artist),
        (33432, 2, metadata.rights),
        *more,
    ]
    own: list[Entry] = [
        (33434, 5, metadata.seconds),
        (33437, 5, metadata.f_number),
        (34855, 3, metadata.iso),
        (36864, 7, b"0232"),
        (36867, 2, _time(metadata)),
        (37386, 5, metadata.focal_length),
        (40961, 3, 1),  # sRGB
        (42036, 2, metadata.lens),
    ]
    start = 8 + len(_directory([*head, (34665, 4, 0)], 8))
    second = _directory(own, start)
    places = {273: start + len(second), 34665: start}
    filled = [(tag, kind, places.get(tag, value)) for tag, kind, value in [*head, (34665, 4, 0)]]
    return b"II*\0" + struct.pack("<I", 8) + _directory(filled, 8) + second + pixels


def _directory(entries: Sequence[Entry], at: int) -> bytes:
    """A TIFF directory that begins at a byte, followed by the values that do not fit into it."""
    kept = sorted((entry for entry in entries if entry[2] is not None), key=lambda entry: entry[0])
    beyond = at + 2 + 12 * len(kept) + 4
    table, values = struct.pack("<H", len(kept)), b""
    for tag, kind, value in kept:
        count, content = _content(kind, value)
        if len(content) <= 4:
            table += struct.pack("<HHI", tag, kind, count) + content.ljust(4, b"\0")
        else:
            table += struct.pack("<HHII", tag, kind, count, beyond + len(values))
            values += content + b"\0" * (len(content) % 2)
    return table + struct.pack("<I", 0) + values


def _content(kind: int, value: Any) -> tuple[int, bytes]:
    """How many values, and their bytes."""
    if kind == 2:
        text = str(value).encode("utf-8") + b"\0"
        return len(text), text
    if kind == 7:
        return len(value), bytes(value)
    if kind == 5:
        fraction = Fraction(value).limit_denominator(1_000_000)
        return 1, struct.pack("<II", fraction.numerator, fraction.denominator)
    numbers = value if isinstance(value, tuple) else (value,)
    return len(numbers), struct.pack(f"<{len(numbers)}{'H' if kind == 3 else 'I'}", *numbers)


def _time(metadata: Metadata) -> str | None:
    return metadata.taken.strftime(_TIME) if metadata.taken else None


def _from_tags(tags: dict[int, Any]) -> Metadata:
    exif_tags = tags.get(34665)
    own: dict[str, Any] = exif_tags if isinstance(exif_tags, dict) else {}
    iso = _number(own.get("ISOSpeedRatings"), 65535)
    return Metadata(
        make=_text(tags.get(271)),
        model=_text(tags.get(272)),
        lens=_text(own.get("LensModel")),
        taken=_moment(own.get("DateTimeOriginal"), own.get("SubsecTimeOriginal")) or _moment(tags.get(306)),
        seconds=_number(own.get("ExposureTime")),
        f_number=_number(own.get("FNumber")),
        iso=None if iso is None else round(iso),
        focal_length=_number(own.get("FocalLength")),
        artist=_text(tags.get(315)),
        rights=_text(tags.get(33432)),
        flip=_FLIPS.get(tags.get(274, 1), 0),
    )


def _from_libraw(path: Path) -> Metadata:
    """What LibRaw tells of the formats that are not built like a TIFF."""
    import rawpy

    raw = rawpy.RawPy()
    try:
        raw.open_file(str(path))
        other = raw.other
        return Metadata(
            model=raw_header.camera(path),
            lens=_text(raw.lens.model),
            taken=other.timestamp if other.timestamp and other.timestamp.year > 1970 else None,
            seconds=_number(other.shutter_speed),
            f_number=_number(other.aperture),
            iso=round(_number(other.iso_speed, 65535) or 0) or None,
            focal_length=_number(other.focal_length),
            artist=_text(other.artist),
            flip=int(raw.sizes.flip) & 7,
        )
    except (rawpy.LibRawError, OSError):
        return Metadata()
    finally:
        raw.close()


def _text(value: Any) -> str | None:
    return value.strip("\0 ")[:_LONGEST] or None if isinstance(value, str) else None


def _number(value: Any, highest: float = 4e9) -> float | None:
    """A positive number: as it is, or as a numerator and a denominator."""
    try:
        number = float(value[0]) / float(value[1]) if isinstance(value, tuple) and len(value) == 2 else float(value)
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    return number if 0 < number <= highest else None


def _moment(value: Any, fraction: Any = None) -> datetime | None:
    try:
        moment = datetime.strptime(str(value).strip("\0 "), _TIME)
    except ValueError:
        return None
    digits = str(fraction).strip("\0 ") if fraction is not None else ""
    return moment.replace(microsecond=int(digits[:6].ljust(6, "0"))) if digits.isdecimal() else moment
