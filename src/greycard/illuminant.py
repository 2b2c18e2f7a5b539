"""Colours of light: unit vectors, r/g-b/g, angular and reproduction error, colour temperature and tint.

An illuminant is the camera's linear response (r, g, b) to a white surface under that light, of unit length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greycard.errors import GreycardError

Array = NDArray[np.float64]


def unit(illuminants: ArrayLike) -> Array:
    """Illuminants scaled to unit length.

    illuminants: (..., 3), positive.

    >>> unit([3.0, 4.0, 0.0001]).round(2).tolist()
    [0.6, 0.8, 0.0]
    """
    vectors = np.asarray(illuminants, dtype=np.float64)
    if vectors.ndim == 0 or vectors.shape[-1] != 3:
        raise GreycardError(
            f"illuminants: expected three numbers (r, g, b) each, got an array of shape {vectors.shape}"
        )
    if not np.all(np.isfinite(vectors)) or not np.all(vectors > 0):
        raise GreycardError("illuminants: every channel must be a positive finite number")
    # Scaled by the largest channel first, so that tiny and huge values do not under- or overflow when squared.
    vectors = vectors / vectors.max(axis=-1, keepdims=True)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


def to_chromaticity(illuminants: ArrayLike) -> Array:
    """(..., 3) illuminants -> (..., 2) their r/g and b/g."""
    vectors = np.asarray(illuminants, dtype=np.float64)
    return np.stack([vectors[..., 0] / vectors[..., 1], vectors[..., 2] / vectors[..., 1]], axis=-1)


def from_chromaticity(chromaticities: ArrayLike) -> Array:
    """(..., 2) r/g and b/g -> (..., 3) unit illuminants."""
    ratios = np.asarray(chromaticities, dtype=np.float64)
    return unit(np.stack([ratios[..., 0], np.ones_like(ratios[..., 0]), ratios[..., 1]], axis=-1))


def gains(illuminant: ArrayLike) -> Array:
    """(3,) illuminant -> (r, 1, b): the multipliers that make its white neutral."""
    vector = unit(illuminant)
    return np.asarray(vector[..., 1:2] / vector)


def angular_error(estimates: ArrayLike, truths: ArrayLike) -> Array:
    """Angle between illuminants in degrees; exact also for tiny angles, where arccos loses its digits (Kahan 2006).

    estimates, truths: (..., 3).
    """
    a, b = unit(estimates), unit(truths)
    return np.asarray(np.degrees(2 * np.arctan2(np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1))))


def reproduction_error(estimates: ArrayLike, truths: ArrayLike) -> Array:
    """Angle in degrees between the white that a correction leaves and true white (Finlayson & Zakizadeh 2014).

    estimates, truths: (..., 3).
    """
    return angular_error(unit(truths) / unit(estimates), np.ones(3))


def colour_science() -> Any:
    """The colour-science library: imported only where it is used, because that takes a second.

    Importing it changes how NumPy prints arrays everywhere; that is undone here.
    """
    with np.printoptions():
        import colour
    return colour


@dataclass(frozen=True)
class Temperature:
    """Correlated colour temperature in kelvin and distance from the Planckian locus in CIE 1960 uv (Ohno 2014)."""

    cct: float
    duv: float


def temperatures(illuminants: ArrayLike, xyz_to_camera: ArrayLike) -> list[Temperature | None]:
    """Colour temperature and Duv of lights, for a camera whose XYZ-to-camera matrix is known.

    illuminants: (n, 3); xyz_to_camera: (3, 3). None stands where a light has no temperature: outside 1,000 to 25,000 K,
    or so far from the Planckian locus (|Duv| above 0.05) that CIE 015 calls the number meaningless.
    """
    colour = colour_science()
    vectors = np.atleast_2d(unit(illuminants))
    xyz = np.linalg.solve(np.asarray(xyz_to_camera, dtype=np.float64), vectors.T).T
    found: list[Temperature | None] = []
    for row in xyz:
        if not np.all(row > 0):
            found.append(None)
            continue
        uv = colour.UCS_to_uv(colour.XYZ_to_UCS(row))
        cct, duv = (float(value) for value in colour.temperature.uv_to_CCT_Ohno2013(uv))
        found.append(Temperature(cct, duv) if 1_000 <= cct <= 25_000 and abs(duv) <= 0.05 else None)
    return found
