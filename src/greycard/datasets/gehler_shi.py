"""Gehler-Shi (Gehler 2008, reprocessed by Shi and Funt): 568 linear PNGs of two Canon cameras.

images/*.png                    or png/*.png, or beside the labels
coordinates/*_macbeth.txt       the colour chart: size of the frame, then its corners
real_illum_568.mat              real_rgb (568, 3): SFU's labels, in the order of the file names
ColorCheckerData.mat            REC_groundtruth (568, 3): the labels of Hemrit et al. 2018, for labels="rec"
threefoldCVsplit.mat            te_split, three lists of picture numbers from 1; Xfiles, the file names
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from greycard.datasets import label_files
from greycard.datasets.picture import LabelledPicture, Listing, Polygon
from greycard.errors import GreycardError

COUNT = 568
CAMERAS = {"8D5U": ("Canon EOS-1D", 0.0), "IMG_": ("Canon EOS 5D", 129.0)}
"""Beginning of a file's name: the camera and its black level."""
SATURATION = 3692.0


def listing(folder: Path, labels: str = "sfu") -> Listing:
    """All pictures; those that are missing or of another camera are told.

    labels: "sfu", which the paper uses, or "rec", the recommended ones of Hemrit et al.
    """
    names = _names(folder)
    lights = _lights(folder, labels)
    if len(lights) != len(names):
        raise GreycardError(f"{folder}: {len(names)} pictures but {len(lights)} labels; expected {COUNT} of each")
    folds = _folds(folder, len(names))
    pictures, problems = [], []
    for name, light, fold in zip(names, lights.tolist(), folds, strict=True):
        path = _image_folder(folder) / name
        if name[:4] not in CAMERAS:
            problems.append(f"{path}: its camera is not known; names begin with {' or '.join(CAMERAS)}")
            continue
        camera, black = CAMERAS[name[:4]]
        try:
            frame, chart = _chart(folder / "coordinates" / f"{Path(name).stem}_macbeth.txt")
        except GreycardError as error:
            problems.append(str(error))
            continue
        pictures.append(
            LabelledPicture(
                path,
                name,
                camera,
                tuple(light),
                black=black,
                white=SATURATION,
                hidden=(chart,),
                hidden_in=frame,
                fold=fold,
            )
        )
    return Listing(pictures, problems)


def _image_folder(folder: Path) -> Path:
    return next((folder / name for name in ("images", "png") if (folder / name).is_dir()), folder)


def _names(folder: Path) -> list[str]:
    """File names in the order of the labels: as the split lists them, or sorted where all 568 are there.

    The labels have no names. A picture that is missing would shift those of all others, unseen.
    """
    split = folder / "threefoldCVsplit.mat"
    if split.is_file():
        listed = label_files.matlab(split, "Xfiles")["Xfiles"]
        if listed.dtype.names and "name" in listed.dtype.names:
            return [Path(str(name)).stem + ".png" for name in listed["name"]]
    found = sorted(path.name for path in _image_folder(folder).glob("*.png"))
    if len(found) != COUNT:
        raise GreycardError(
            f"{_image_folder(folder)}: holds {len(found)} PNG files where {COUNT} are expected; the labels go by their "
            f"order, so all must be there, or {split.name} with the list of names"
        )
    return found


def _lights(folder: Path, labels: str) -> np.ndarray:
    known = {"sfu": ("real_illum_568.mat", "real_rgb"), "rec": ("ColorCheckerData.mat", "REC_groundtruth")}
    if labels not in known:
        raise GreycardError(f"labels: expected one of {', '.join(known)}, got {labels!r}")
    name, key = known[labels]
    return label_files.lights(label_files.matlab(folder / name, key)[key], folder / name)


def _folds(folder: Path, count: int) -> list[int]:
    path = folder / "threefoldCVsplit.mat"
    if not path.is_file():
        return [-1] * count
    message = f"{path}: te_split should have each of {count} pictures, from 1 on, in one fold"
    folds = np.full(count, -1)
    for fold, members in enumerate(label_files.matlab(path, "te_split")["te_split"]):
        numbers = np.atleast_1d(members).astype(int)
        if np.any((numbers < 1) | (numbers > count)) or np.any(folds[numbers - 1] >= 0):
            raise GreycardError(message)
        folds[numbers - 1] = fold
    if np.any(folds < 0):
        raise GreycardError(message)
    return [int(fold) for fold in folds]


def _chart(path: Path) -> tuple[tuple[float, float], Polygon]:
    """The size (width, height) that the coordinates refer to, and the chart's corners in order around it."""
    rows = label_files.numbers(path)
    if len(rows) < 5 or any(len(row) < 2 for row in rows[:5]):
        raise GreycardError(f"{path}: expected the frame's size and four corners, two numbers a line")
    frame, *corners = [(row[0], row[1]) for row in rows[:5]]
    # The file has them row by row: top left, top right, bottom left, bottom right.
    return frame, (corners[0], corners[1], corners[3], corners[2])
