"""INTEL-TAU (Laakom et al. 2021): 7,022 pictures of three cameras, processed to 1080p: black removed, 16 bits.

<Camera>/<set>/<name>_<number>.tiff         <set>: field_1_cameras, field_3_cameras, lab_printouts, lab_realscene
<Camera>/<set>/<name>_<number>.wp           r g b; its number has at least three digits
splits/Intel-TAU_v3_filelist_subset01.txt   optional: ten folds
"""

from __future__ import annotations

import re
from pathlib import Path, PureWindowsPath

from greycard.datasets import label_files
from greycard.datasets.picture import LabelledPicture, Listing
from greycard.errors import GreycardError

CAMERAS = {"Canon_5DSR": "Canon EOS 5DS R", "Nikon_D810": "Nikon D810", "Sony_IMX135_BLCCSC": "Sony IMX135"}
_BESIDE = {"splits", "info"}


def listing(folder: Path) -> Listing:
    """All pictures that have a white point, and those that lack one."""
    folds = _folds(folder)
    pictures, problems = [], []
    folders = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    for camera_folder in folders:
        if camera_folder.name in _BESIDE:
            continue
        if camera_folder.name not in CAMERAS:
            problems.append(f"{camera_folder}: is not one of the data set's cameras, {', '.join(CAMERAS)}")
            continue
        for path in sorted(camera_folder.glob("*/*.tiff")):
            name = path.relative_to(folder).as_posix()
            try:
                light = _white_point(path)
            except GreycardError as error:
                problems.append(str(error))
                continue
            pictures.append(
                LabelledPicture(path, name, CAMERAS[camera_folder.name], light, fold=folds.get(_key(name), -1))
            )
    if not folders:
        raise GreycardError(f"{folder}: holds no folders; expected {', '.join(CAMERAS)}")
    return Listing(pictures, problems)


def _white_point(path: Path) -> tuple[float, float, float]:
    stem, _, number = path.stem.rpartition("_")
    padded = path.with_name(f"{stem}_{int(number):03d}.wp") if number.isdigit() else path.with_suffix(".wp")
    beside = path.with_suffix(".wp")
    label = beside if beside.is_file() else padded
    values = [value for row in label_files.numbers(label) for value in row]
    if len(values) != 3:
        raise GreycardError(f"{label}: expected r g b, found {len(values)} numbers")
    return values[0], values[1], values[2]


def _folds(folder: Path) -> dict[str, int]:
    """The fold of each picture; the lists have Windows paths with another ending and other digits."""
    folds = {}
    for path in sorted((folder / "splits").glob("*subset*.txt")):
        number = int(re.sub(r"\D", "", path.stem.rpartition("subset")[2]) or 0)
        for line in label_files.text(path).split():
            folds[_key("/".join(PureWindowsPath(line).parts[-3:]))] = number - 1
    return folds


def _key(name: str) -> str:
    """Camera, set and picture without the ending and the leading zeros of the number."""
    return re.sub(r"_0*(\d+)$", r"_\1", name.rsplit(".", 1)[0])
