"""RawTherapee's .pp3: a temperature and a green, by its own model.

RawTherapee takes the white of a temperature in linear sRGB, divides its green by `Green`, and sends it through the
camera's matrix for daylight: what it then sees is made neutral. Its whites are not quite those of the CIE, so they were
measured (`scripts/measure_rawtherapee.py`, version 5.9).
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from greycard.camera import ColourMatrices
from greycard.errors import GreycardError
from greycard.illuminant import Array, unit
from greycard.render import XYZ_TO_SRGB
from greycard.sidecars.balance import Balance, Kept

_WHITES = np.array(
    [
        (2000, 4.1384, 0.0460),
        (2250, 3.3737, 0.1288),
        (2500, 2.8704, 0.2089),
        (2750, 2.5056, 0.2854),
        (3000, 2.2368, 0.3577),
        (3250, 2.0278, 0.4292),
        (3500, 1.8625, 0.4980),
        (3750, 1.7266, 0.5621),
        (4000, 1.6185, 0.6257),
        (4001, 1.5496, 0.5627),
        (4250, 1.4586, 0.6187),
        (4500, 1.3811, 0.6737),
        (5000, 1.2586, 0.7763),
        (5500, 1.1636, 0.8726),
        (6000, 1.0901, 0.9582),
        (6500, 1.0307, 1.0354),
        (7000, 0.9805, 1.1058),
        (7500, 0.9413, 1.1699),
        (8000, 0.9084, 1.2274),
        (9000, 0.8525, 1.3255),
        (10000, 0.8113, 1.4077),
        (12000, 0.7545, 1.5340),
        (20000, 0.6502, 1.7863),
        (25000, 0.6246, 1.8648),
    ]
)
"""Kelvin, red over green and blue over green of RawTherapee's white in linear sRGB."""
_DAYLIGHT = 4001
"""Kelvin from which that is daylight; below, it is a blackbody."""
_NEWEST = 399
"""A pp3 of a later version is not touched."""
_SECTION = "White Balance"


def path_of(picture: Path) -> Path:
    """IMG_1.CR2.pp3 for IMG_1.CR2."""
    return picture.with_name(f"{picture.name}.pp3")


def written(old: bytes | None, balance: Balance, path: Path, overwrite: bool) -> str:
    """The text of a sidecar with this white balance."""
    temperature, green = settings(balance, path)
    values = {
        "Enabled": "true",
        "Setting": "Custom",
        "Temperature": str(temperature),
        "Green": f"{green:.5f}",
        "Equal": "1",
        "TemperatureBias": "0",
    }
    if old is None:
        lines = [f"{key}={value}" for key, value in values.items()]
        return "\n".join(["[Version]", "AppVersion=5.9", "Version=349", "", f"[{_SECTION}]", *lines, ""])
    sections = _sections(old, path)
    if "Setting" in sections.get(_SECTION, {}) and not overwrite:
        raise Kept(f"{path}: has a white balance already; use --overwrite to replace it")
    return _changed(old.decode("utf-8"), values)


def read(content: bytes, matrices: ColourMatrices | None, path: Path) -> Array | None:
    """(3,) the light that a custom temperature and green stand for; None where the sidecar has none."""
    section = _sections(content, path).get(_SECTION, {})
    if section.get("Setting") != "Custom" or section.get("Enabled", "true") != "true" or matrices is None:
        return None
    try:
        temperature, green = float(section["Temperature"]), float(section["Green"])
    except (KeyError, ValueError):
        return None
    if not (1_500 <= temperature <= 60_000 and green > 0):
        return None
    white = _white(temperature)
    seen = _srgb_to_camera(matrices) @ np.array([white[0], 1 / green, white[1]])
    return unit(seen) if np.all(seen > 0) else None


def settings(balance: Balance, path: Path) -> tuple[int, float]:
    """Temperature in kelvin and green that make the light neutral in RawTherapee."""
    if balance.matrices is None:
        raise GreycardError(f"{path}: the camera's colour matrix is not known, so neither is RawTherapee's temperature")
    red, green, blue = np.linalg.solve(_srgb_to_camera(balance.matrices), unit(balance.light))
    warmth = _WHITES[:, 1] / _WHITES[:, 2]
    if min(red, green, blue) <= 0 or not warmth[-1] <= red / blue <= warmth[0]:
        raise GreycardError(f"{path}: this light is beyond what RawTherapee's temperature and green can say")
    # Red over blue settles the temperature, and green makes up for the rest.
    daylight = _WHITES[:, 0] >= _DAYLIGHT
    branch = daylight if red / blue <= warmth[daylight][0] else ~daylight
    mired = np.interp(-np.log(red / blue), -np.log(warmth[branch]), 1e6 / _WHITES[branch, 0])
    temperature = round(1e6 / float(mired))
    return temperature, float(red / (green * _white(temperature)[0]))


def _white(temperature: float) -> Array:
    """(2,) red over green and blue over green of RawTherapee's white."""
    branch = _WHITES[(_WHITES[:, 0] >= _DAYLIGHT) == (temperature >= _DAYLIGHT)]
    mired = 1e6 / branch[::-1, 0]
    logs = [np.interp(1e6 / temperature, mired, np.log(branch[::-1, column])) for column in (1, 2)]
    return np.asarray(np.exp(logs))


def _srgb_to_camera(matrices: ColourMatrices) -> Array:
    """(3, 3): of two matrices, RawTherapee takes the second, which is that for daylight."""
    return np.asarray(matrices.matrices[-1] @ np.linalg.inv(XYZ_TO_SRGB))


def _sections(content: bytes, path: Path) -> dict[str, dict[str, str]]:
    """Keys and values of each section, or why this is no pp3."""
    found: dict[str, dict[str, str]] = {}
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise GreycardError(f"{path}: is no RawTherapee sidecar (not UTF-8); mend or remove it") from error
    for line in text.splitlines():
        head = re.fullmatch(r"\s*\[(.+)\]\s*", line)
        if head:
            current = found.setdefault(head[1], {})
        elif "=" in line and found:
            key, value = line.split("=", 1)
            current[key.strip()] = value.strip()
    if not found:
        raise GreycardError(f"{path}: is no RawTherapee sidecar (it has no section); mend or remove it")
    version = found.get("Version", {}).get("Version", "0")
    if not version.isdecimal() or int(version) > _NEWEST:
        raise GreycardError(
            f"{path}: is of version {version}, newer than greycard knows ({_NEWEST}); it was not touched"
        )
    return found


def _changed(text: str, values: dict[str, str]) -> str:
    """The text with other values in its white-balance section, every other line as it was."""
    lines, left, inside = [], dict(values), False
    for line in text.splitlines():
        if line.strip().startswith("["):
            if inside:
                lines += [f"{key}={value}" for key, value in left.items()]
                left = {}
            inside = line.strip() == f"[{_SECTION}]"
        key = line.split("=", 1)[0].strip()
        lines.append(f"{key}={left.pop(key)}" if inside and key in left else line)
    if left:
        lines += ([] if inside else ["", f"[{_SECTION}]"]) + [f"{key}={value}" for key, value in left.items()]
    return "\n".join([*lines, ""])
