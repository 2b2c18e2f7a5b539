"""Make and model in the headers of RAW files, which rawpy does not tell."""

from __future__ import annotations

import struct
from pathlib import Path

from greycard.camera import full_name

_READ = 1_000_000
"""Bytes from the beginning of a file in which its make and model stand."""
_TIFF = (b"II*\0", b"MM\0*", b"IIRO", b"IIRS", b"MMOR", b"IIU\0")
"""How files begin that are built like a TIFF: most makers', Olympus's and Panasonic's."""


def camera(path: Path) -> str | None:
    """Make and model of the camera that wrote a RAW file, or None where they are not found."""
    with path.open("rb") as file:
        head = file.read(_READ)
    if head[:4] in _TIFF:
        return _from_tiff(head)
    if head[:8] == b"FUJIFILM":
        return full_name("Fujifilm", head[28:60].split(b"\0")[0].decode("ascii", "replace"))
    at = head.find(b"CMT1")  # a Canon CR3 keeps a small TIFF in a box of this name
    return _from_tiff(head[at + 4 :]) if at >= 0 else None


def _from_tiff(data: bytes) -> str | None:
    """Make and model of the first directory of a TIFF."""
    order = "<" if data[:2] == b"II" else ">"
    found: dict[int, str] = {}
    try:
        (at,) = struct.unpack_from(f"{order}I", data, 4)
        (count,) = struct.unpack_from(f"{order}H", data, at)
        for entry in range(min(count, 500)):
            tag, kind, length, offset = struct.unpack_from(f"{order}HHII", data, at + 2 + 12 * entry)
            if tag in (271, 272) and kind == 2:
                start = offset if length > 4 else at + 2 + 12 * entry + 8
                found[tag] = data[start : start + min(length, 200)].split(b"\0")[0].decode("ascii", "replace")
    except struct.error:
        return None
    return full_name(found.get(271), found.get(272))
