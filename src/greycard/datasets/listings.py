"""The public data sets by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from greycard.datasets import cube_challenge, cube_plus, cube_plus_plus, gehler_shi, intel_tau, nus8, own_pictures
from greycard.datasets.picture import Listing
from greycard.errors import GreycardError

LISTINGS: dict[str, Callable[..., Listing]] = {
    "gehler-shi": gehler_shi.listing,
    "nus-8": nus8.listing,
    "cube-plus": cube_plus.listing,
    "cube-challenge": cube_challenge.listing,
    "cube-plus-plus": cube_plus_plus.listing,
    "intel-tau": intel_tau.listing,
    "pictures": own_pictures.listing,
}


def of(kind: str, folder: Path, **options: str) -> Listing:
    """The pictures of a data set that lies in `folder` as its authors lay it out."""
    if kind not in LISTINGS:
        raise GreycardError(f"data set {kind!r}: is not known; known: {', '.join(LISTINGS)}")
    if not folder.is_dir():
        raise GreycardError(f"{folder}: there is no such folder; expected the data set {kind} in it")
    return LISTINGS[kind](folder, **options)
