"""Sidecars proven by rendering: a grey patch comes out neutral in the programs that read them.

`apt-get install rawtherapee darktable` brings them on Debian.
"""

import os
import shutil
import subprocess

import numpy as np
import pytest
import tifffile

from conftest import two_matrices, write_dng
from greycard import encoding, raw, sidecars
from greycard.illuminant import angular_error, unit
from greycard.sidecars import Balance

TUNGSTEN = np.array([[0.7546, -0.1435, -0.0929], [-0.3846, 1.1488, 0.2692], [-0.0332, 0.1209, 0.637]])
DAYLIGHT = np.array([[0.7034, -0.0804, -0.1014], [-0.442, 1.2564, 0.2058], [-0.0851, 0.1994, 0.5758]])


@pytest.fixture(params=["chart", "warm", "green", "shade"])
def grey(request, tmp_path):
    """A RAW file with a grey patch: path, its light (3,), where the patch is as rows and columns of the whole."""
    if request.param == "chart":
        path = tmp_path / "Tafel ä.dng"
        shutil.copyfile(request.getfixturevalue("raw_folder") / "canon_eos_550d_colour_chart.dng", path)
        pixels = raw.read(path).pixels[457:473, 399:415]
        return path, unit(pixels.mean(axis=(0, 1))), (914 / 1156, 798 / 1734)
    light = unit({"warm": [0.8, 0.7, 0.25], "green": [0.45, 0.9, 0.5], "shade": [0.4, 0.75, 0.7]}[request.param])
    period = np.array([[light[0], light[1]], [light[1], light[2]]]) * 0.3 * 4095
    tags = two_matrices(TUNGSTEN, DAYLIGHT)
    return write_dng(tmp_path / "a.dng", np.tile(period, (100, 150)).astype(np.uint16), tags=tags), light, (0.5, 0.5)


def error_of(picture, place):
    """Degrees from neutral of a patch in a rendered file."""
    pixels = encoding.undo_srgb(tifffile.imread(picture))
    row, column = (round(part * size) for part, size in zip(place, pixels.shape[:2], strict=True))
    return float(angular_error(pixels[row : row + 30, column : column + 30].mean(axis=(0, 1)), np.ones(3)))


def run(command, folder):
    home = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config"), "XDG_CACHE_HOME": str(folder / "cache")}
    done = subprocess.run(command, cwd=folder, env=os.environ | home, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]


def balance_of(path, light):
    return Balance(light, raw.about(path).matrices)


@pytest.mark.skipif(not shutil.which("rawtherapee-cli"), reason="rawtherapee-cli is not installed")
def test_rawtherapee_makes_the_patch_neutral(grey, tmp_path):
    path, light, place = grey
    sidecars.write(path, "rawtherapee", balance_of(path, light))
    run(["rawtherapee-cli", "-q", "-o", "out.tif", "-t", "-b16", "-Y", "-s", "-c", path.name], tmp_path)
    assert error_of(tmp_path / "out.tif", place) < 1.0


@pytest.mark.skipif(not shutil.which("darktable-cli"), reason="darktable-cli is not installed")
@pytest.mark.parametrize("workflow", ["legacy", "modern"])
def test_darktable_makes_the_patch_neutral(grey, tmp_path, workflow):
    path, light, place = grey
    sidecar = sidecars.write(path, "darktable", balance_of(path, light))
    command = ["darktable-cli", path.name, sidecar.name, "out.tif", "--core", "--disable-opencl"]
    command += ["--library", ":memory:", "--conf", f"plugins/darkroom/chromatic-adaptation={workflow}"]
    command += ["--conf", "plugins/imageio/format/tiff/bpp=16", "--configdir", str(tmp_path / "config")]
    run(command, tmp_path)
    assert error_of(tmp_path / "out.tif", place) < 1.0
