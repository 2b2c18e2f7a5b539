"""How neutral a grey patch comes out of the raw converters that read greycard's sidecars.

    python benchmarks/converters.py RAW_FOLDER

Two cameras: the neutral patch of a colour chart (Canon EOS 550D), and a flat surface outdoors that is taken for grey
(GoPro Fusion). The patch's own colour goes into a sidecar as the light, the converter renders the file, and the angle
between the rendered patch and neutral is printed, in degrees of linear sRGB; also what it is without a sidecar.
`apt-get install rawtherapee darktable` brings the converters on Debian.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import tifffile

from greycard import encoding, raw, sidecars
from greycard.illuminant import Array, angular_error, unit
from greycard.sidecars import Balance, Program

SIDE = 30
"""Pixels along each side of a patch."""


@dataclass(frozen=True)
class Patch:
    """A RAW file with a grey patch: its light (3,), and where the patch begins as shares of height and width."""

    path: Path
    light: Array
    place: tuple[float, float]


@dataclass(frozen=True)
class Converter:
    """A program with the command that renders: from a file and its sidecar, or None, to out.tif in their folder."""

    program: Program
    command: Callable[[Path, Path | None], list[str]]

    @property
    def name(self) -> str:
        """What is to be started."""
        return f"{self.program}-cli"

    def degrees(self, patch: Patch, *, with_sidecar: bool = True) -> float:
        """How far from neutral the patch is rendered."""
        folder, sidecar = patch.path.parent, None
        if with_sidecar:
            balance = Balance(patch.light, raw.about(patch.path).matrices)
            sidecar = sidecars.write(patch.path, self.program, balance, overwrite=True)
        home = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config"), "XDG_CACHE_HOME": str(folder / "cache")}
        command = [self.name, *self.command(patch.path, sidecar)]
        try:
            subprocess.run(command, cwd=folder, env=os.environ | home, check=True, capture_output=True, timeout=300)
        except subprocess.CalledProcessError as error:
            raise RuntimeError(f"{self.name}: {error.stderr.decode(errors='replace')[-2000:]}") from error
        pixels = encoding.undo_srgb(tifffile.imread(folder / "out.tif"))
        (folder / "out.tif").unlink()
        row, column = (round(share * size) for share, size in zip(patch.place, pixels.shape[:2], strict=True))
        rendered = pixels[row : row + SIDE, column : column + SIDE].mean(axis=(0, 1))
        return float(angular_error(rendered, [1, 1, 1]))


def _rawtherapee(picture: Path, sidecar: Path | None) -> list[str]:
    profile = [] if sidecar is None else ["-s"]
    return ["-q", "-o", "out.tif", "-t", "-b16", "-Y", *profile, "-c", picture.name]


def _darktable(picture: Path, sidecar: Path | None, *, workflow: str) -> list[str]:
    command = [picture.name, *([] if sidecar is None else [sidecar.name]), "out.tif", "--core", "--disable-opencl"]
    command += ["--library", ":memory:", "--conf", f"plugins/darkroom/chromatic-adaptation={workflow}"]
    return [*command, "--conf", "plugins/imageio/format/tiff/bpp=16", "--configdir", str(picture.parent / "config")]


CONVERTERS = {
    "rawtherapee": Converter("rawtherapee", _rawtherapee),
    "darktable, legacy workflow": Converter("darktable", partial(_darktable, workflow="legacy")),
    "darktable, modern workflow": Converter("darktable", partial(_darktable, workflow="modern")),
}


def chart(raw_folder: Path, folder: Path) -> Patch:
    """The chart's neutral patch."""
    return _patch(raw_folder / "canon_eos_550d_colour_chart.dng", folder, 457, 399)


def outdoors(raw_folder: Path, folder: Path) -> Patch:
    """A flat, nearly grey surface in daylight."""
    return _patch(raw_folder / "gopro_fusion.dng", folder, 535, 500)


CAMERAS = {"Canon EOS 550D": chart, "GoPro Fusion": outdoors}


def _patch(path: Path, folder: Path, row: int, column: int) -> Patch:
    """A patch of 16 periods of the sensor's pattern a side, in a copy of the file with a name that is not ASCII.

    The copy is the right way up as it is: RawTherapee leaves a mirrored picture mirrored, darktable does not.
    """
    planes = raw.read(path).pixels
    light = unit(planes[row : row + 16, column : column + 16].mean(axis=(0, 1)))
    copied = Path(shutil.copyfile(path, folder / f"Tafel ä{path.suffix}"))
    with tifffile.TiffFile(copied, mode="r+b") as file:
        if "Orientation" in file.pages.first.tags:
            file.pages.first.tags["Orientation"].overwrite(1)
    return Patch(copied, light, (row / planes.shape[0], column / planes.shape[1]))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("raw_folder", type=Path)
    options = parser.parse_args()
    for camera, patch_of in CAMERAS.items():
        for name, converter in CONVERTERS.items():
            if not shutil.which(converter.name):
                parser.error(f"{converter.name} is not installed")
            with tempfile.TemporaryDirectory() as folder:
                patch = patch_of(options.raw_folder, Path(folder))
                without = converter.degrees(patch, with_sidecar=False)
                found = {"camera": camera, "converter": name, "degrees": round(converter.degrees(patch), 2)}
                print(json.dumps(found | {"degrees_without_sidecar": round(without, 2)}), flush=True)


if __name__ == "__main__":
    main()
