"""From a RAW file to an answer: time by stage beside rawpy's half-size development of the same file, and peak memory.

    python benchmarks/raw_to_answer.py FILE.DNG... [--repeats 7] [--speed default]

Seconds are those of one processor (time on a busy machine's waiting list does not count); the stages of a file run in
turn, medians of the repeats. "share" is what greycard adds to LibRaw's unpacking, relative to a half-size
`postprocess`, which demosaics nothing either. Memory is the peak of a fresh process that does nothing but one
estimate, beside the limit of 8 bytes for each pixel of the sensor and 200 MB.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")  # before NumPy and LibRaw are loaded

ESTIMATE = """
import resource, sys, greycard
greycard.load().estimate(sys.argv[1])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(peak / (2**20 if sys.platform == "darwin" else 2**10))
"""


def seconds(work, times: list[float]):
    start = time.process_time()
    result = work()
    times.append(time.process_time() - start)
    return result


def unpacked(path: str):
    import rawpy

    opened = rawpy.imread(path)
    _ = opened.raw_image_visible[0, 0]
    return opened


def stages(path: str, repeats: int, speed: str) -> dict[str, float]:
    import greycard
    from greycard import raw, thumbnail

    estimator = greycard.load(speed=speed)
    estimator.estimate(path)  # imports and caches
    times: dict[str, list[float]] = {key: [] for key in ("unpack", "read", "thumbnail", "estimate", "postprocess")}
    for _ in range(repeats):
        with seconds(lambda: unpacked(path), times["unpack"]) as opened:
            sizes = opened.sizes
            picture = seconds(lambda opened=opened: raw.from_rawpy(opened, Path(path)), times["read"])
            seconds(lambda picture=picture: thumbnail.from_photo(picture), times["thumbnail"])
            seconds(lambda picture=picture: estimator.estimate_photo(picture), times["estimate"])
            seconds(lambda opened=opened: opened.postprocess(half_size=True), times["postprocess"])
    found = {key: statistics.median(values) for key, values in times.items()}
    return {
        "megapixels": sizes.raw_height * sizes.raw_width / 1e6,
        "unpack": found["unpack"],
        "read": found["read"],
        "thumbnail": found["thumbnail"],
        "answer": found["estimate"] - found["thumbnail"],  # `estimate` makes the thumbnail again
        "postprocess": found["postprocess"],
        "share": (found["read"] + found["estimate"]) / found["postprocess"],
    }


def peak_megabytes(path: str) -> float:
    run = subprocess.run([sys.executable, "-c", ESTIMATE, path], check=True, capture_output=True, text=True)
    return float(run.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--speed", default="default")
    arguments = parser.parse_args()
    # Before this process has grown: on Linux the peak of a new process counts from the size of the one that starts it.
    peaks = [peak_megabytes(path) for path in arguments.files]
    for path, peak in zip(arguments.files, peaks, strict=True):
        found = stages(path, arguments.repeats, arguments.speed)
        found["peak_megabytes"] = peak
        found["allowed_megabytes"] = 8 * found["megapixels"] + 200
        rounded = {key: round(value, 4 if value < 100 else 0) for key, value in found.items()}
        print(json.dumps({"file": Path(path).name, **rounded}))


if __name__ == "__main__":
    main()
