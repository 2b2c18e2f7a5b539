"""Pictures for people: white balance, the camera's colours, sRGB."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greycard.illuminant import Array, gains
from greycard.output import write_whole

_XYZ_TO_SRGB = np.array([[3.2406, -1.5372, -0.4986], [-0.9689, 1.8758, 0.0415], [0.0557, -0.2040, 1.0570]])


def camera_to_srgb(xyz_to_camera: ArrayLike) -> Array:
    """(3, 3) matrix from white-balanced camera RGB to linear sRGB; white stays white (Coffin's dcraw, 1997)."""
    camera = np.asarray(xyz_to_camera, dtype=np.float64) @ np.linalg.inv(_XYZ_TO_SRGB)
    return np.linalg.inv(camera / camera.sum(axis=1, keepdims=True))


def srgb(pixels: NDArray[np.floating], illuminant: ArrayLike, to_srgb: ArrayLike | None = None) -> NDArray[np.uint8]:
    """(H, W, 3) linear pixels -> 8-bit sRGB in which the illuminant is white.

    to_srgb: (3, 3) from white-balanced camera RGB to linear sRGB; without it the camera's own primaries are shown.
    The exposure is set so that one pixel in a hundred is white or brighter.
    """
    balanced = np.asarray(pixels, dtype=np.float64) * gains(illuminant)
    if to_srgb is not None:
        balanced = balanced @ np.asarray(to_srgb, dtype=np.float64).T
    exposed = np.clip(balanced / max(float(np.percentile(balanced, 99)), 1e-12), 0, 1)
    encoded = np.where(exposed <= 0.0031308, 12.92 * exposed, 1.055 * exposed ** (1 / 2.4) - 0.055)
    return np.asarray(np.round(encoded * 255), dtype=np.uint8)


def write_png(path: str | Path, picture: NDArray[np.uint8]) -> None:
    """Write an 8-bit picture (H, W, 3), whole or not at all."""
    import imagecodecs

    write_whole(path, bytes(imagecodecs.png_encode(picture)))
