"""How long `greycard balance` takes for a RAW file, beside rawpy's own full postprocess of it.

    python benchmarks/balance.py FILE [--rounds 7]

Both open the file and end with 8-bit sRGB pixels; greycard also estimates the light. They take turns, so that a busy
machine is busy for both; the medians are printed, and that of the estimate by itself. Also printed: how far the colours
that LibRaw interpolates (PPG, which greycard uses, and AHD, its default) are from the truth, for scenes made from
spectra whose every pixel is known.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import rawpy
import tifffile

import greycard
from greycard import photo, render, synthetic


def rawpy_alone(path: Path) -> None:
    with rawpy.imread(str(path)) as raw:
        raw.postprocess(use_camera_wb=True)


def balanced(path: Path, estimator: greycard.Estimator) -> float:
    picture = photo.read(path)
    start = time.perf_counter()
    light = estimator.estimate_photo(picture).illuminant
    taken = time.perf_counter() - start
    render.full_size(path, picture, light, render.Scene.of(picture, None, light).to_srgb)
    return taken


def seconds(path: Path, rounds: int) -> dict[str, float]:
    estimator = greycard.load()
    balanced(path, estimator)  # the first estimate of a process waits for colour-science
    times: dict[str, list[float]] = {"rawpy": [], "greycard": [], "estimate": []}
    for _ in range(rounds):
        start = time.perf_counter()
        rawpy_alone(path)
        middle = time.perf_counter()
        times["estimate"].append(balanced(path, estimator))
        times["greycard"].append(time.perf_counter() - middle)
        times["rawpy"].append(middle - start)
    return {name: round(statistics.median(values), 2) for name, values in times.items()}


def interpolation_errors(scenes: int = 4) -> dict[str, float]:
    """Root mean square error of interpolated scenes, as a share of white."""
    errors: dict[str, list[float]] = {"PPG": [], "AHD": []}
    for seed in range(scenes):
        truth = synthetic.scene("D65", seed, 512, 768).pixels
        stored = np.round(truth * 16383).astype(np.uint16)
        mosaic = stored[..., 1].copy()
        mosaic[::2, ::2], mosaic[1::2, 1::2] = stored[::2, ::2, 0], stored[1::2, 1::2, 2]
        for name, values in errors.items():
            found = interpolated(mosaic, rawpy.DemosaicAlgorithm[name]) / 65535
            inside = (slice(8, -8), slice(8, -8))
            scale = np.sum(found[inside] * truth[inside]) / np.sum(found[inside] ** 2)  # LibRaw may set its own white
            values.append(float(np.sqrt(np.mean((scale * found[inside] - truth[inside]) ** 2))))
    return {name: round(statistics.mean(values), 5) for name, values in errors.items()}


def interpolated(mosaic: np.ndarray, algorithm: rawpy.DemosaicAlgorithm) -> np.ndarray:
    tags = [
        (33421, 3, 2, (2, 2), True),
        (33422, 1, 4, bytes([0, 1, 1, 2]), True),
        (50706, 1, 4, bytes([1, 4, 0, 0]), True),
        (50717, 4, 1, 16383, True),
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scene.dng"
        tifffile.imwrite(path, mosaic, photometric="cfa", metadata=None, extratags=tags)
        with rawpy.imread(str(path)) as raw:
            return raw.postprocess(
                user_wb=[1, 1, 1, 1],
                output_color=rawpy.ColorSpace.raw,
                demosaic_algorithm=algorithm,
                output_bps=16,
                gamma=(1, 1),
                no_auto_bright=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    with rawpy.imread(str(options.file)) as raw:
        megapixels = round(raw.sizes.width * raw.sizes.height / 1e6, 1)
    found = {"megapixels": megapixels, "seconds": seconds(options.file, options.rounds)}
    print(json.dumps(found | {"interpolation_error": interpolation_errors()}))


if __name__ == "__main__":
    main()
