"""Cube+ (Banić, Koščević and Lončarić 2017): 1,707 pictures of one camera, a SpyderCube in the lower right corner.

PNG/1.PNG ... PNG/1707.PNG      black level 2048, saturation 2 below the largest value of a picture
cube+_gt.txt                    line n: r g b of n.PNG
"""

from __future__ import annotations

from pathlib import Path

from greycard.datasets import label_files
from greycard.datasets.picture import LabelledPicture, Listing, box_polygon
from greycard.errors import GreycardError

CAMERA = "Canon EOS 550D"
BLACK = 2048.0
BELOW_MAXIMUM = 2.0
SPYDER_CUBE = (2050.0, 1050.0, 2601.0, 1732.0)
"""The corner that hides the calibration object, in a picture of FRAME's size."""
FRAME = (2601.0, 1732.0)
BLOCK = 30
"""The data set has no official folds: blocks of so many pictures are tested together, in turn."""


def listing(folder: Path) -> Listing:
    """All pictures that have a label, and those that lack one."""
    return numbered(folder, folder / "cube+_gt.txt")


def numbered(folder: Path, labels: Path) -> Listing:
    """Pictures called 1.PNG, 2.PNG, ... whose labels are the lines of a text file."""
    lights = label_files.numbers(labels)
    wrong = next((line for line, light in enumerate(lights, start=1) if len(light) != 3), None)
    if wrong:
        raise GreycardError(f"{labels}: label {wrong} has {len(lights[wrong - 1])} numbers; expected r g b")
    files = {path.stem: path for path in _image_folder(folder).iterdir() if path.suffix.lower() == ".png"}
    pictures = [
        LabelledPicture(
            files.get(str(number), _image_folder(folder) / f"{number}.PNG"),
            f"{number}.PNG",
            CAMERA,
            (light[0], light[1], light[2]),
            black=BLACK,
            white_below_maximum=BELOW_MAXIMUM,
            hidden=(box_polygon(SPYDER_CUBE),),
            hidden_in=FRAME,
            fold=(number - 1) // BLOCK % 3,
        )
        for number, light in enumerate(lights, start=1)
    ]
    labelled = {str(number) for number in range(1, len(lights) + 1)}
    problems = [
        f"{files[stem]}: has no label; {labels.name} ends at line {len(lights)}"
        for stem in sorted(files.keys() - labelled, key=lambda stem: (len(stem), stem))
    ]
    return Listing(pictures, problems)


def _image_folder(folder: Path) -> Path:
    found = folder / "PNG" if (folder / "PNG").is_dir() else folder
    if not found.is_dir():
        raise GreycardError(f"{folder}: there is no such folder; expected PNG/1.PNG and so on in it")
    return found
