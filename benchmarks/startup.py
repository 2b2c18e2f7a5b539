"""How long until greycard answers, and how much memory one estimate needs.

    python benchmarks/startup.py

Each figure is the median of several fresh processes, beside the same for a bare `python -c pass` in the same run.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import time

ESTIMATE = """
import resource, numpy, greycard
cells = numpy.random.default_rng(0).uniform(0.05, 1, (64, 64, 3))
greycard.load().estimate_thumbnail(cells, "Canon EOS 5D").to_dict()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def seconds(*command: str) -> float:
    times = []
    for _ in range(11):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    return round(statistics.median(times), 3)


def main() -> None:
    greycard = shutil.which("greycard", path=str(sys.executable).rsplit("/", 1)[0]) or "greycard"
    memory = subprocess.run([sys.executable, "-c", ESTIMATE], check=True, capture_output=True, text=True)
    figures = {
        "seconds_bare_python": seconds(sys.executable, "-c", "pass"),
        "seconds_help": seconds(greycard, "--help"),
        "seconds_import": seconds(sys.executable, "-c", "import greycard"),
        "seconds_import_and_estimator": seconds(sys.executable, "-c", "from greycard import Estimator"),
        "megabytes_one_thumbnail": round(float(memory.stdout)),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
