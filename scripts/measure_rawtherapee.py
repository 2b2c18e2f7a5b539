"""Measures the whites of RawTherapee's temperatures: the table in src/greycard/sidecars/rawtherapee.py.

    python scripts/measure_rawtherapee.py

For each temperature a RAW file of one colour goes through rawtherapee-cli; from what is left of that colour follows
what the program would have made neutral. Prints kelvin, red over green and blue over green of that white.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import numpy as np
import tifffile

from greycard import encoding
from greycard.illuminant import colour_science
from greycard.render import XYZ_TO_SRGB, camera_to_srgb

TEMPERATURES = (
    *(1500, 1750, 2000, 2250, 2500, 2750, 3000, 3250, 3500, 3750, 4000, 4001, 4250, 4500, 5000, 5500, 6000, 6500, 7000),
    *(7500, 8000, 9000, 10_000, 12_000, 15_000, 20_000, 25_000),
)
MATRIX = np.array([[0.7034, -0.0804, -0.1014], [-0.442, 1.2564, 0.2058], [-0.0851, 0.1994, 0.5758]])


def fractions(values: np.ndarray) -> list[int]:
    return [part for value in np.ravel(values) for part in (round(float(value) * 1_000_000), 1_000_000)]


def near(temperature: float) -> np.ndarray:
    """About what the camera sees of this temperature, so that the picture comes out nearly neutral."""
    colour = colour_science()
    xy = colour.CCT_to_xy(min(max(temperature, 1700), 24_000), method="Kang 2002")
    seen = np.maximum(MATRIX @ colour.xy_to_XYZ(xy), 0.02)
    return seen / seen.max()


def rendered(seen: np.ndarray, temperature: int, folder: Path) -> np.ndarray:
    """Linear sRGB of a RAW file of one colour."""
    values = np.round(seen * 0.3 * 4095).astype(np.uint16)
    mosaic = np.tile(np.array([[values[0], values[1]], [values[1], values[2]]]), (100, 150))
    tags = [
        (271, 2, 0, "Alpha", True),
        (272, 2, 0, "One", True),
        (33421, 3, 2, (2, 2), True),
        (33422, 1, 4, bytes([0, 1, 1, 2]), True),
        (50706, 1, 4, bytes([1, 4, 0, 0]), True),
        (50708, 2, 0, "Alpha One", True),
        (50717, 4, 1, 4095, True),
        (50721, 10, 9, fractions(MATRIX), True),
        (50728, 5, 3, fractions(seen), True),
        (50778, 3, 1, 21, True),
    ]
    tifffile.imwrite(folder / "a.dng", mosaic, photometric="cfa", metadata=None, extratags=tags)
    profile = f"[White Balance]\nEnabled=true\nSetting=Custom\nTemperature={temperature}\nGreen=1\nEqual=1\n"
    (folder / "a.pp3").write_text(f"[Version]\nAppVersion=5.9\nVersion=349\n\n{profile}", encoding="utf-8")
    command = ["rawtherapee-cli", "-q", "-o", "a.tif", "-t", "-b16", "-Y", "-p", "a.pp3", "-c", "a.dng"]
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    picture = encoding.undo_srgb(tifffile.imread(folder / "a.tif"))
    return picture[60:140, 80:220].mean(axis=(0, 1))


def main() -> None:
    to_camera = np.linalg.inv(camera_to_srgb(MATRIX))
    with tempfile.TemporaryDirectory() as folder:
        for temperature in TEMPERATURES:
            seen = near(temperature)
            neutral = seen / (to_camera @ rendered(seen, temperature, Path(folder)))
            white = XYZ_TO_SRGB @ np.linalg.solve(MATRIX, neutral)
            print(f"({temperature}, {white[0] / white[1]:.4f}, {white[2] / white[1]:.4f}),", flush=True)


if __name__ == "__main__":
    main()
