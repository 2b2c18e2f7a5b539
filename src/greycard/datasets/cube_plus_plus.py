"""Cube++ (Ershov et al. 2020), whole or as SimpleCube++: pictures of two cameras with the same sensor.

    PNG/{id}.png, gt.csv, properties.csv                        the whole set, SpyderCube in the lower right corner
    train/PNG/{id}.png, train/gt.csv, test/...                  SimpleCube++: four times smaller, the corner blackened

In the whole set only the pictures with a single light have the columns mean_r, mean_g, mean_b filled in. SimpleCube++
calls them r, g, b in its description, and some copies of it mean_r, mean_g, mean_b.
"""

from __future__ import annotations

from pathlib import Path

from greycard.datasets import cube_plus, label_files
from greycard.datasets.picture import LabelledPicture, Listing, box_polygon
from greycard.errors import GreycardError

CORNER = (2592.0 - 700, 1728.0 - 1000, 2592.0, 1728.0)
"""The corner that hides the SpyderCube, in a picture of FRAME's size."""
FRAME = (2592.0, 1728.0)
_LIGHT = (("mean_r", "mean_g", "mean_b"), ("r", "g", "b"))


def listing(folder: Path) -> Listing:
    """All pictures with a single light; those whose light is not single, or that have no label, are told."""
    parts = [folder / name for name in ("train", "test") if (folder / name / "gt.csv").is_file()]
    if parts:
        listings = [_part(part, prefix=part.name) for part in parts]
        return Listing(
            [picture for part in listings for picture in part.pictures],
            [problem for part in listings for problem in part.problems],
        )
    return _part(folder, prefix="")


def _part(folder: Path, prefix: str) -> Listing:
    rows = label_files.table(folder / "gt.csv", "image")
    columns = next((names for names in _LIGHT if rows and set(names) <= rows[0].keys()), None)
    if columns is None:
        expected = " or ".join(", ".join(names) for names in _LIGHT)
        raise GreycardError(f"{folder / 'gt.csv'}: expected rows with the columns {expected}")
    cameras = _cameras(folder)
    pictures, problems = [], []
    for number, row in enumerate(rows):
        path = folder / "PNG" / f"{row['image']}.png"
        if not all(row[column] for column in columns):
            problems.append(f"{path}: has no single light in gt.csv")
            continue
        try:
            red, green, blue = (float(row[column]) for column in columns)
        except ValueError as error:
            raise GreycardError(f"{folder / 'gt.csv'}: line {number + 2}: expected numbers") from error
        camera = cameras.get(row["image"], cube_plus.CAMERA)
        pictures.append(
            LabelledPicture(
                path,
                f"{prefix}/{path.name}" if prefix else path.name,
                camera,
                (red, green, blue),
                black=cube_plus.BLACK,
                white_below_maximum=cube_plus.BELOW_MAXIMUM,
                hidden=(box_polygon(CORNER),),
                hidden_in=FRAME,
                fold=number // cube_plus.BLOCK % 3,
            )
        )
    listed = {row["image"] for row in rows}
    unlisted = sorted(path for path in (folder / "PNG").glob("*.png") if path.stem not in listed)
    return Listing(pictures, [*problems, *(f"{path}: has no label in gt.csv" for path in unlisted)])


def _cameras(folder: Path) -> dict[str, str]:
    """The camera of each picture where the properties tell it; the two have the same sensor."""
    path = folder / "properties.csv"
    if not path.is_file():
        return {}
    return {row["image"]: row["EXIF:Model"] for row in label_files.table(path, "image", "EXIF:Model")}
