"""Table 12: time for one picture on a CPU: the literal network in torch, greycard's evaluations of it, and FFCC."""

from __future__ import annotations

from greycard import bench, model_file
from greycard.coarse_to_fine import EFFORTS
from greycard.experiments.lab import Lab
from greycard.experiments.table import Row, Table

PICTURES = 45
SPEEDS = {
    "exact": "greycard, all cells and candidates",
    "default": "greycard, default",
    "live": "greycard, live",
}


def run(lab: Lab) -> Table:
    """The literal evaluation is what the paper's code does."""
    found = milliseconds(lab)
    return Table(
        "table-12",
        f"One 64x64 thumbnail of Gehler-Shi, 120 candidates, one CPU thread; medians of up to {PICTURES} pictures, "
        "the methods in turn. The published figures were measured on an Intel i9-9900X.",
        [
            Row("FFCC model Q", "", {"milliseconds": 1.2}, {"milliseconds": found["ffcc"]}),
            Row(
                "every layer for every candidate, in torch",
                "",
                {"milliseconds": 128.0},
                {"milliseconds": found["literal"]},
            ),
            *(Row(name, "", {}, {"milliseconds": found[speed]}) for speed, name in SPEEDS.items()),
        ],
        ("milliseconds",),
        unit="method",
    )


def milliseconds(lab: Lab) -> dict[str, float]:
    """Of each method: the same pictures in turn, so that all are slowed alike."""
    model = model_file.load()
    candidates = model.cameras["Canon EOS 5D"]
    timed = {"literal": bench.literal(model, candidates), "ffcc": bench.ffcc()}
    timed |= {str(speed): bench.of_effort(model, candidates, effort) for speed, effort in EFFORTS.items()}
    with bench.one_thread():
        return bench.latencies(timed, list(lab.gehler_shi.images[-PICTURES:]), PICTURES)
