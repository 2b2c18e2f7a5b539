"""The Cube challenge (ISPA 2019): 363 further pictures by the camera of Cube+, in the same form.

PNG/1.PNG ... PNG/363.PNG       or in the folder itself
cube_challenge_gt.txt           or gt.txt: line n: r g b of n.PNG
"""

from __future__ import annotations

from pathlib import Path

from greycard.datasets import cube_plus
from greycard.datasets.picture import Listing

LABELS = ("cube_challenge_gt.txt", "challenge_gt.txt", "gt.txt")


def listing(folder: Path) -> Listing:
    """All pictures that have a label, and those that lack one."""
    found = (folder / name for name in LABELS if (folder / name).is_file())
    return cube_plus.numbered(folder, next(found, folder / LABELS[0]))
