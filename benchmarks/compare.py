"""What moved since the last release: the ratios of a `greycard bench` run beside those kept in benchmarks/ratios.json.

    greycard bench --json > bench.json
    python benchmarks/compare.py bench.json           # shows what moved
    python benchmarks/compare.py bench.json --keep    # makes these the ratios to compare with, at a release

Ratios carry over between machines better than times: each is of two medians of one run, whose methods took turns.
One that moved by more than a fifth is marked; whether that is a regression is for people to say.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

KEPT = Path(__file__).with_name("ratios.json")
MOVED = 0.2


def ratios(figures: dict) -> dict[str, float]:
    """Ratios of one run; larger is better in each."""
    latency = figures["latency_ms"]
    if "literal" not in latency:
        raise SystemExit(
            "the run has no literal evaluation to compare with: pip install 'greycard[train]', run it again"
        )
    found = {
        f"{name}_over_literal": latency["literal"] / milliseconds
        for name, milliseconds in latency.items()
        if name != "literal"
    }
    growth = figures["latency_ms_by_candidates"]
    found["candidates_1000_over_120"] = (1000 / 120) / (growth["1000"] / growth["120"])
    found["all_cores_over_one_process"] = figures["throughput"]["gain"]
    return {name: round(value, 2) for name, value in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", type=Path, help="what `greycard bench --json` printed")
    parser.add_argument("--keep", action="store_true", help="keep these ratios")
    arguments = parser.parse_args()
    new = ratios(json.loads(arguments.figures.read_text(encoding="utf-8")))
    if arguments.keep:
        KEPT.write_text(json.dumps(new, indent=1) + "\n", encoding="utf-8")
        return
    if not KEPT.is_file():
        parser.error(f"{KEPT} is not there yet: keep the ratios of a run on a quiet machine with --keep")
    old = json.loads(KEPT.read_text(encoding="utf-8"))
    for name in sorted(old.keys() | new.keys()):
        if name not in old or name not in new:
            print(f"{name:32} only in {'this run' if name in new else 'the last release'}")
            continue
        change = new[name] / old[name] - 1
        print(
            f"{name:32} {old[name]:9.2f} -> {new[name]:9.2f}  {change:+.0%}{'  moved' if abs(change) > MOVED else ''}"
        )


if __name__ == "__main__":
    main()
