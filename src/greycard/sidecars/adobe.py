"""Adobe's .xmp for Camera Raw and Lightroom: crs:Temperature and crs:Tint.

Computed with the colour matrices of a DNG, as its specification has them; elsewhere with the matrix for daylight alone,
so only approximately. Not tested with Lightroom. Adobe's programs read sidecars of the makers' own formats; a DNG keeps
its settings inside, so they ignore one that lies beside it.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from greycard.camera import ColourMatrices
from greycard.errors import GreycardError
from greycard.illuminant import Array, colour_science, unit
from greycard.sidecars.balance import Balance, Kept
from greycard.sidecars.xmp import Document

_URI = "http://ns.adobe.com/camera-raw-settings/1.0/"
_CRS = f"{{{_URI}}}"
TINTS_PER_DUV = 3000
"""A tint is the distance from the Planckian locus in CIE 1960 uv, on this scale; greenish lights are positive."""
_NEWEST = 20.0


def path_of(picture: Path) -> Path:
    """IMG_1.xmp for IMG_1.CR2."""
    return picture.with_suffix(".xmp")


def written(old: bytes | None, balance: Balance, path: Path, overwrite: bool) -> str:
    """The text of a sidecar with this white balance."""
    temperature, tint = settings(balance, path)
    ElementTree.register_namespace("crs", _URI)
    document = Document(old, path)
    _check_version(document, path)
    if document.get(f"{_CRS}WhiteBalance") is not None and not overwrite:
        raise Kept(f"{path}: has a white balance already; use --overwrite to replace it")
    for name, value in (("WhiteBalance", "Custom"), ("Temperature", f"{temperature}"), ("Tint", f"{tint:+d}")):
        document.set(f"{_CRS}{name}", value)
    if old is None:
        document.set(f"{_CRS}HasSettings", "True")
    return document.text()


def read(content: bytes, matrices: ColourMatrices | None, path: Path) -> Array | None:
    """(3,) the light that a temperature and a tint stand for; None where the sidecar has none of its own."""
    document = Document(content, path)
    if matrices is None or document.get(f"{_CRS}WhiteBalance") in (None, "As Shot", "Auto"):
        return None
    try:
        temperature = float(document.get(f"{_CRS}Temperature") or "")
        duv = float(document.get(f"{_CRS}Tint") or "0") / TINTS_PER_DUV
    except ValueError:
        return None
    if not (1_000 <= temperature <= 25_000 and abs(duv) <= 0.05):
        return None
    colour = colour_science()
    uv = colour.temperature.CCT_to_uv_Ohno2013(np.array([temperature, duv]))
    seen = matrices.at(temperature) @ np.asarray(colour.xy_to_XYZ(colour.UCS_uv_to_xy(uv)))
    return unit(seen) if np.all(seen > 0) else None


def settings(balance: Balance, path: Path) -> tuple[int, int]:
    """Temperature in kelvin, in Adobe's steps, and tint."""
    light = None if balance.matrices is None else balance.matrices.temperatures([unit(balance.light)])[0]
    if light is None:
        raise GreycardError(f"{path}: the light has no colour temperature, or the camera's matrix is not known")
    tint = round(min(150.0, max(-150.0, light.duv * TINTS_PER_DUV)))
    return round(min(50_000.0, max(2_000.0, light.cct)) / 10) * 10, tint


def _check_version(document: Document, path: Path) -> None:
    version = document.get(f"{_CRS}ProcessVersion") or "0"
    try:
        newer = float(version) > _NEWEST
    except ValueError:
        newer = True
    if newer:
        raise GreycardError(f"{path}: is of process version {version}, newer than greycard knows; it was not touched")
