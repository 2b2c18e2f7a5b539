"""One labelled picture of a public data set, as its authors lay it out, and its way to a thumbnail."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from greycard import photo, thumbnail
from greycard.errors import GreycardError
from greycard.illuminant import Array, unit
from greycard.photo import Photo
from greycard.thumbnail import Thumbnail

Box = tuple[float, float, float, float]
"""(left, top, right, bottom) in pixels; right and bottom are the first column and row outside."""
Polygon = tuple[tuple[float, float], ...]
"""Corners (x, y) in pixels, in order around the shape."""


@dataclass(frozen=True)
class LabelledPicture:
    """Where a picture lies, how to read it, and what its light is.

    illuminant: the label (r, g, b) of any length, or None where `grey_box` holds a neutral patch to measure it from.
    black: stored value of no light. white: stored value of saturation; None for the largest that the file can hold;
    `white_below_maximum`: so much below the largest value of the picture instead, where its authors define it so.
    hidden: polygons that cover calibration objects; their corners refer to a picture of the size `hidden_in`
    (width, height), or to the picture's own where that is None.
    fold, scene_fold: cross-validation folds, or -1.
    known_linear: linear by the word of the data set's authors, whatever a file's metadata says.
    """

    path: Path
    name: str
    camera: str
    illuminant: tuple[float, float, float] | None
    black: float = 0.0
    white: float | None = None
    white_below_maximum: float | None = None
    hidden: tuple[Polygon, ...] = ()
    hidden_in: tuple[float, float] | None = None
    grey_box: Box | None = None
    fold: int = -1
    scene_fold: int = -1
    known_linear: bool = True


@dataclass(frozen=True)
class Listing:
    """The pictures of a data set, and a line for each thing that is missing or does not fit."""

    pictures: list[LabelledPicture] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def thumbnail_and_light(picture: LabelledPicture) -> tuple[Thumbnail, Array]:
    """The thumbnail (64, 64, 3) of a picture without its calibration objects, and its light (3,), unit length."""
    shown = _read(picture)
    if picture.illuminant is not None:
        light = np.asarray(picture.illuminant, dtype=np.float64)
    elif picture.grey_box is not None:
        light = _patch_colour(shown, picture.grey_box)
    else:
        raise GreycardError(f"{picture.path}: has neither a label nor a grey patch to measure it from")
    if not np.all(np.isfinite(light)) or np.any(light <= 0):
        raise GreycardError(f"{picture.path}: its illuminant {light.tolist()} is not positive in every channel")
    return thumbnail.from_photo(_without_hidden(shown, picture)), unit(light)


def box_polygon(box: Box) -> Polygon:
    """The corners of a box."""
    left, top, right, bottom = box
    return ((left, top), (right, top), (right, bottom), (left, bottom))


def inside(polygon: Polygon, height: int, width: int) -> NDArray[np.bool_]:
    """(height, width) True where the centre of a pixel lies inside a polygon (even-odd rule)."""
    x, y = np.arange(width)[None, :] + 0.5, np.arange(height)[:, None] + 0.5
    found = np.zeros((height, width), dtype=bool)
    for (x0, y0), (x1, y1) in zip(polygon, (*polygon[1:], polygon[0]), strict=True):
        if y0 != y1:
            crosses = (y0 <= y) != (y1 <= y)
            found ^= crosses & (x < x0 + (y - y0) * (x1 - x0) / (y1 - y0))
    return found


def _read(picture: LabelledPicture) -> Photo:
    """The pixels with their levels."""
    shown = photo.read(picture.path, black=picture.black, white=picture.white, known_linear=picture.known_linear)
    if picture.white_below_maximum is not None:
        white = float(shown.pixels.max()) - picture.white_below_maximum
        if white <= picture.black:
            raise GreycardError(f"{picture.path}: no pixel is brighter than the black level {picture.black:g}")
        shown = replace(shown, white=np.full(3, white, dtype=np.float32))
    return shown


def _without_hidden(shown: Photo, picture: LabelledPicture) -> Photo:
    height, width = shown.shape
    hidden = list(picture.hidden)
    if picture.hidden_in is not None:
        across, down = width / picture.hidden_in[0], height / picture.hidden_in[1]
        hidden = [tuple((x * across, y * down) for x, y in polygon) for polygon in hidden]
    if picture.grey_box is not None:
        hidden.append(box_polygon(picture.grey_box))
    if not hidden:
        return shown
    masks = [inside(polygon, height, width) for polygon in hidden]
    return replace(shown, mask=np.any([*masks, *([] if shown.mask is None else [shown.mask])], axis=0))


def _patch_colour(shown: Photo, box: Box) -> Array:
    """(3,) mean colour of a neutral patch, above black; one that is clipped or outside the picture is refused."""
    height, width = shown.shape
    left, top, right, bottom = (round(edge) for edge in box)
    if not (0 <= left < right <= width and 0 <= top < bottom <= height):
        raise GreycardError(
            f"{shown.name}: the grey patch {left},{top},{right},{bottom} is not inside the picture, which has "
            f"{width} x {height} pixels; expected left,top,right,bottom"
        )
    patch = shown.pixels[top:bottom, left:right].astype(np.float64) - shown.black
    clipped = np.mean(np.any(patch >= thumbnail.SATURATION * (shown.white - shown.black), axis=-1))
    if clipped > 0.01:
        raise GreycardError(f"{shown.name}: {clipped:.0%} of the grey patch is clipped, so its colour is not known")
    return np.asarray(patch.mean(axis=(0, 1)))
