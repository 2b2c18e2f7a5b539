"""How long `greycard balance` takes for a RAW file, beside rawpy's own full postprocess of it.

    python benchmarks/balance.py FILE [--rounds 7]

Both open the file and end with 8-bit sRGB pixels, and then with a JPEG by the same encoder; greycard also estimates the
light. They take turns, so that a busy machine is busy for both. Printed are the medians of seconds on the clock and of
processor time, their ratios, and what the stages of greycard take. Both have one thread, as each process of `balance`
has, unless OMP_NUM_THREADS says otherwise. Also printed: how far the colours that LibRaw interpolates (PPG, which
greycard uses, and AHD, its default) are from the truth, for scenes made from spectra whose every pixel is known.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

# One thread for both, as each process of `balance` has; LibRaw and NumPy read this when they are loaded.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import rawpy
import tifffile

import greycard
from greycard import metadata, photo, picture_file, render, synthetic


class Watch:
    """Seconds on the clock and of processor time of named stages, one of each a round."""

    def __init__(self) -> None:
        self.taken: dict[str, list[tuple[float, float]]] = {}

    @contextmanager
    def stage(self, name: str):
        clock, processor = time.perf_counter(), time.process_time()
        yield
        spent = (time.perf_counter() - clock, time.process_time() - processor)
        self.taken.setdefault(name, []).append(spent)

    def medians(self, which: int) -> dict[str, float]:
        return {name: statistics.median(one[which] for one in spent) for name, spent in self.taken.items()}


def by_rawpy(path: Path, out: Path, watch: Watch) -> None:
    with watch.stage("rawpy_pixels"), rawpy.imread(str(path)) as raw:
        pixels = raw.postprocess(use_camera_wb=True)
    with watch.stage("rawpy_writes"):
        picture_file.write(out, pixels, "jpeg", metadata.read(path))


def by_greycard(path: Path, out: Path, watch: Watch, estimator: greycard.Estimator) -> None:
    with watch.stage("reads"):
        picture = photo.read(path)
    with watch.stage("estimates"):
        light = estimator.estimate_photo(picture).illuminant
    with watch.stage("renders"):
        pixels = render.full_size(path, picture, light, render.Scene.of(picture, None, light).to_srgb)
    with watch.stage("writes"):
        picture_file.write(out, pixels, "jpeg", metadata.read(path))


def measured(path: Path, rounds: int) -> dict[str, object]:
    estimator, watch = greycard.load(), Watch()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "a.jpg"
        by_greycard(path, out, Watch(), estimator)  # the first estimate of a process waits for colour-science
        for _ in range(rounds):
            by_rawpy(path, out, watch)
            by_greycard(path, out, watch, estimator)
    found: dict[str, object] = {}
    for name, which in (("clock", 0), ("processor", 1)):
        stages = watch.medians(which)
        pixels = stages["reads"] + stages["estimates"] + stages["renders"]
        of_files = (pixels + stages["writes"]) / (stages["rawpy_pixels"] + stages["rawpy_writes"])
        found[name] = {stage: round(value, 3) for stage, value in stages.items()} | {
            "ratio_of_pixels": round(pixels / stages["rawpy_pixels"], 2),
            "ratio_of_files": round(of_files, 2),
        }
    return found


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
    found = {"megapixels": megapixels, "threads": int(os.environ["OMP_NUM_THREADS"])} | measured(
        options.file, options.rounds
    )
    print(json.dumps(found | {"interpolation_error": interpolation_errors()}))


if __name__ == "__main__":
    main()
