"""Your own pictures: a folder with a table `labels.csv`.

    file, camera, r, g, b                       the light of each picture, or
    file, camera, left, top, right, bottom      a box in pixels around a grey patch, from which it is measured

Optional columns: black, white (levels of the stored values), fold, scene_fold. A box is hidden from the estimate.
"""

from __future__ import annotations

from pathlib import Path

from greycard.datasets import label_files
from greycard.datasets.picture import Box, LabelledPicture, Listing
from greycard.errors import GreycardError
from greycard.raw import SUFFIXES

LABELS = "labels.csv"
_LIGHT = ("r", "g", "b")
_BOX = ("left", "top", "right", "bottom")


def listing(folder: Path) -> Listing:
    """One picture for each row; a row that cannot be used is told."""
    path = folder / LABELS
    pictures, problems = [], []
    for line, row in enumerate(label_files.table(path, "file", "camera"), start=2):
        try:
            pictures.append(_picture(folder, row))
        except (GreycardError, ValueError) as error:
            problems.append(f"{path}: line {line}: {error}")
    return Listing(pictures, problems)


def _picture(folder: Path, row: dict[str, str]) -> LabelledPicture:
    light, box = _numbers(row, _LIGHT), _numbers(row, _BOX)
    if light is None and box is None:
        raise GreycardError(f"expected {', '.join(_LIGHT)}, or {', '.join(_BOX)} of a grey patch")
    if not row["file"] or not row["camera"]:
        raise GreycardError("expected a file and a camera")
    if box is not None and Path(row["file"]).suffix.lower() in SUFFIXES:
        raise GreycardError("a grey patch cannot be measured in a RAW file yet; give its light as r, g, b")
    grey_box: Box | None = (box[0], box[1], box[2], box[3]) if box else None
    white = row.get("white")
    return LabelledPicture(
        folder / row["file"],
        row["file"],
        row["camera"].strip(),
        (light[0], light[1], light[2]) if light else None,
        black=float(row.get("black") or 0),
        white=float(white) if white else None,
        grey_box=grey_box,
        fold=int(row.get("fold") or -1),
        scene_fold=int(row.get("scene_fold") or -1),
        known_linear=False,
    )


def _numbers(row: dict[str, str], columns: tuple[str, ...]) -> list[float] | None:
    """The numbers of these columns, or None where any is empty."""
    words = [row.get(column) for column in columns]
    return [float(word) for word in words if word] if all(words) else None
