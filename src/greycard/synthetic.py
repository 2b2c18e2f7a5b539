"""Scenes made from spectra, whose light is known: illuminant x reflectance x camera (the paper's equation 1).

Spectra of lights and surfaces and the sensitivities of a real camera come with colour-science.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greycard import candidates as candidate_selection
from greycard.errors import GreycardError
from greycard.illuminant import Array, colour_science, unit

CAMERA = "Nikon D5100 (spectral)"
"""The simulated camera: sensitivities measured at the National Physical Laboratory (Darrodi et al. 2015)."""


_WAVELENGTHS = np.arange(400, 701, 10)


@dataclass(frozen=True)
class Scene:
    """A picture with a known answer: linear pixels (H, W, 3) from 0 to 1, and the illuminant (3,), unit length."""

    pixels: NDArray[np.float32]
    illuminant: Array


def scene(light: str = "A", seed: int = 0, height: int = 256, width: int = 384) -> Scene:
    """A table-top of overlapping surfaces under one light, as a camera would see it, with shading and noise.

    light: a CIE illuminant of colour-science ("A", "D65", "FL2", "LED-B3", ...) or a temperature such as "3200K".
    """
    generator = np.random.default_rng(seed)
    spectrum = light_spectrum(light)
    white = spectrum @ _sensitivities()
    reflectances = _surfaces(generator, 160)
    colours = (reflectances * spectrum) @ _sensitivities() / white.max()
    which = _arrangement(generator, len(colours), height, width)
    pixels = colours[which] * _shading(generator, height, width)[..., None]
    pixels *= 0.9 / np.percentile(pixels, 99.5)
    pixels += generator.normal(0, 1, pixels.shape) * np.sqrt(pixels * 1e-4 + 1e-7)
    return Scene(np.clip(pixels, 0, 1).astype(np.float32), unit(white))


def camera_candidates(n: int = 120) -> Array:
    """(n, 3) candidates for the simulated camera: blackbodies, daylights and lamps, with tints around them."""
    temperatures = 1e6 / np.linspace(1e6 / 12_000, 1e6 / 2_000, 30)
    spectra = [light_spectrum(f"{temperature:.0f}K") for temperature in temperatures]
    spectra += [light_spectrum(f"FL{number}") for number in range(1, 13)]
    whites = np.stack([spectrum @ _sensitivities() for spectrum in spectra])
    tints = np.exp(np.linspace(-0.08, 0.08, 5))
    tinted = whites[None] * np.stack([np.ones(5), tints, np.ones(5)], axis=-1)[:, None]
    return candidate_selection.select(tinted.reshape(-1, 3), n)


def light_spectrum(light: str) -> Array:
    """(31,) spectral power from 400 to 700 nm: an illuminant's name, or a temperature in kelvin ("3200K").

    From 4,000 K on, a temperature means daylight of the CIE D series; below, a blackbody.
    """
    colour = colour_science()
    if light in colour.SDS_ILLUMINANTS:
        return _sampled(colour.SDS_ILLUMINANTS[light])
    try:
        temperature = float(light.removesuffix("K"))
    except ValueError:
        temperature = 0.0
    if not 1_000 <= temperature <= 25_000:
        raise GreycardError(f"light {light!r}: expected 1000K to 25000K, or one of {', '.join(colour.SDS_ILLUMINANTS)}")
    if temperature < 4_000:
        return _sampled(colour.sd_blackbody(temperature))
    xy = colour.CCT_to_xy(temperature, method="CIE Illuminant D Series")
    return _sampled(colour.sd_CIE_illuminant_D_series(xy))


def camera_to_srgb() -> Array:
    """(3, 3) from the simulated camera's white-balanced RGB to linear sRGB: fitted to a chart, white kept white."""
    colour = colour_science()
    surfaces, daylight = _chart(), light_spectrum("D65")
    camera = (surfaces * daylight) @ _sensitivities() / (daylight @ _sensitivities())
    observer = _sampled(colour.MSDS_CMFS["CIE 1931 2 Degree Standard Observer"])
    xyz = (surfaces * daylight) @ observer / (daylight @ observer)[1]
    target = np.asarray(colour.XYZ_to_RGB(xyz, "sRGB"))
    matrix = np.linalg.lstsq(camera, target, rcond=None)[0].T
    return np.asarray(matrix / matrix.sum(axis=1, keepdims=True))


@cache
def _sensitivities() -> Array:
    """(31, 3) of the camera."""
    colour = colour_science()
    return _sampled(colour.MSDS_CAMERA_SENSITIVITIES["Nikon 5100 (NPL)"])


@cache
def _chart() -> Array:
    """(24, 31) reflectances of the patches of a ColorChecker (Ohta 1997)."""
    colour = colour_science()
    return np.stack([_sampled(patch) for patch in colour.SDS_COLOURCHECKERS["ColorChecker N Ohta"].values()])


def _sampled(spectra: Any) -> Array:
    """Values of a colour-science spectrum (31,), or of several (31, k), from 400 to 700 nm."""
    shape = colour_science().SpectralShape(400, 700, 10)
    return np.array(spectra.copy().align(shape).values, dtype=np.float64)


def _surfaces(generator: np.random.Generator, count: int) -> Array:
    """(count, 31) reflectances: chart patches mixed with greys, because most of the world is not very colourful.

    Nor is it neutral: wood, soil, stone and leaves absorb short wavelengths. The greys do so as far as makes the mean
    of a scene that of photographs: white-balanced, those of the public data sets have r/g near 1.05, b/g near 0.9.
    """
    chart = _chart()
    patches = chart[generator.integers(len(chart), size=count)]
    short = np.clip((550 - _WAVELENGTHS) / 150, 0, 1)
    greys = generator.uniform(0.04, 0.9, (count, 1)) * (1 - generator.uniform(0, 0.5, (count, 1)) * short)
    colourfulness = generator.beta(1.2, 3.0, (count, 1))
    return np.asarray(colourfulness * patches + (1 - colourfulness) * greys)


def _arrangement(generator: np.random.Generator, count: int, height: int, width: int) -> NDArray[np.intp]:
    """(H, W) number of the surface at each pixel: overlapping boxes and ellipses, smaller ones on top."""
    rows, columns = np.mgrid[0:height, 0:width]
    which = np.zeros((height, width), dtype=np.intp)
    for index in range(1, count):
        size = max(0.5 * (1 - index / count), 0.06) * min(height, width)
        y, x = generator.uniform(0, height), generator.uniform(0, width)
        tall, wide = size * generator.uniform(0.4, 1.6, 2)
        down, right = (rows - y) / tall, (columns - x) / wide
        inside = down**2 + right**2 < 1 if index % 2 else np.maximum(abs(down), abs(right)) < 1
        which[inside] = index
    return which


def _shading(generator: np.random.Generator, height: int, width: int) -> Array:
    """(H, W) smooth change of the light's strength across the scene."""
    y, x = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j]
    slope_y, slope_x = generator.uniform(-0.35, 0.35, 2)
    return np.asarray((1 + slope_y * y + slope_x * x) * (1 - 0.2 * (x**2 + y**2)))
