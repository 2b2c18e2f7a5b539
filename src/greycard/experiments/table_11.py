"""Table 11: time for one picture, as published for various machines, beside this one."""

from __future__ import annotations

from greycard.experiments import table_12
from greycard.experiments.lab import Lab
from greycard.experiments.table import Row, Table

QUOTED = {
    "CCC, 2012 HP Z420 (CPU)": 520.0,
    "Cheng et al. 2015, Xeon 3.5 GHz (CPU)": 250.0,
    "FC4, GTX Titan X (GPU)": 25.0,
    "FFCC model Q, Xeon E5-2680 (CPU)": 1.1,
    "CM 2019, Tesla K40m (GPU)": 1.0,
    "the paper, Tesla V100 (GPU)": 7.3,
}


def run(lab: Lab) -> Table:
    """The others are quoted: each ran on a machine of its own."""
    rows = [Row(name, "", {"milliseconds": figure}, {}) for name, figure in QUOTED.items()]
    ours = table_12.milliseconds(lab)
    rows += [
        Row(f"{name}, this machine, one CPU thread", "", {}, {"milliseconds": ours[speed]})
        for speed, name in table_12.SPEEDS.items()
    ]
    return Table(
        "table-11",
        "One 64x64 thumbnail of Gehler-Shi, 120 candidates. The published figures come from other machines, "
        "so they compare orders of magnitude only.",
        rows,
        ("milliseconds",),
        unit="method",
    )
