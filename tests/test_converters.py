"""Sidecars proven by rendering: a grey patch comes out neutral in the programs that read them.

`apt-get install rawtherapee darktable` brings them on Debian. What it takes is in `benchmarks/converters.py`, which
prints the angles.
"""

import shutil

import numpy as np
import pytest

from conftest import two_matrices, write_dng
from converters import CAMERAS, CONVERTERS, Patch
from greycard.illuminant import unit

TUNGSTEN = np.array([[0.7546, -0.1435, -0.0929], [-0.3846, 1.1488, 0.2692], [-0.0332, 0.1209, 0.637]])
DAYLIGHT = np.array([[0.7034, -0.0804, -0.1014], [-0.442, 1.2564, 0.2058], [-0.0851, 0.1994, 0.5758]])
LIGHTS = {"warm": [0.8, 0.7, 0.25], "green": [0.45, 0.9, 0.5], "shade": [0.4, 0.75, 0.7]}


@pytest.fixture(params=[*CAMERAS, *LIGHTS])
def patch(request, tmp_path):
    """A real camera's grey patch, or a made-up camera's under a light."""
    if request.param in CAMERAS:
        return CAMERAS[request.param](request.getfixturevalue("raw_folder"), tmp_path)
    light = unit(LIGHTS[request.param])
    period = np.array([[light[0], light[1]], [light[1], light[2]]]) * 0.3 * 4095
    mosaic = np.tile(period, (100, 150)).astype(np.uint16)
    path = write_dng(tmp_path / "a.dng", mosaic, tags=two_matrices(TUNGSTEN, DAYLIGHT))
    return Patch(path, light, (0.5, 0.5))


@pytest.mark.parametrize("name", CONVERTERS)
def test_the_patch_comes_out_neutral(patch, name):
    converter = CONVERTERS[name]
    if not shutil.which(converter.name):
        pytest.skip(f"{converter.name} is not installed")
    assert converter.degrees(patch) < 1.0
