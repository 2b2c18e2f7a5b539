"""NUS-8 (Cheng, Prasad and Brown 2014): the same scenes by several cameras, one folder for each.

<Camera>/PNG/<Camera>_0001.PNG      or directly in the camera's folder
<Camera>/<Camera>_gt.mat            all_image_names, groundtruth_illuminants, CC_coords (top, bottom, left,
                                    right from 1), darkness_level, saturation_level
cv_metadata.mat                     optional: for each camera and picture its name, scene and fold
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from greycard.datasets import label_files
from greycard.datasets.picture import LabelledPicture, Listing, box_polygon
from greycard.errors import GreycardError

CAMERAS = {
    "Canon1DsMkIII": "Canon EOS-1Ds Mark III",
    "Canon600D": "Canon EOS 600D",
    "FujifilmXM1": "Fujifilm X-M1",
    "NikonD40": "Nikon D40",
    "NikonD5200": "Nikon D5200",
    "OlympusEPL6": "Olympus E-PL6",
    "PanasonicGX1": "Panasonic DMC-GX1",
    "SamsungNX2000": "Samsung NX2000",
    "SonyA57": "Sony SLT-A57",
}
"""The authors' names of the cameras, as in their folders, and ours."""


def listing(folder: Path) -> Listing:
    """All pictures of all cameras that are there; a camera whose labels do not fit is told and left out."""
    scenes = _scene_folds(folder)
    pictures: list[LabelledPicture] = []
    problems = []
    folders = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    for camera_folder in folders:
        try:
            pictures += _of_camera(camera_folder, scenes)
        except GreycardError as error:
            problems.append(str(error))
    if not folders:
        raise GreycardError(f"{folder}: holds no folders; expected one for each camera, such as Canon600D")
    return Listing(pictures, problems)


def _of_camera(folder: Path, scenes: dict[str, int]) -> list[LabelledPicture]:
    camera = folder.name
    if camera not in CAMERAS:
        raise GreycardError(f"{folder}: is not one of the data set's cameras, {', '.join(CAMERAS)}")
    path = next(iter(sorted(folder.rglob("[!.]*_gt.mat"))), folder / f"{camera}_gt.mat")
    keys = ("all_image_names", "groundtruth_illuminants", "CC_coords", "darkness_level", "saturation_level")
    found = label_files.matlab(path, *keys)
    names = [str(name) for name in found["all_image_names"]]
    lights = label_files.lights(found["groundtruth_illuminants"], path)
    charts = np.atleast_2d(found["CC_coords"])
    if not len(names) == len(lights) == len(charts) or charts.shape[1] != 4 or charts.dtype.kind not in "fui":
        raise GreycardError(
            f"{path}: {len(names)} names, {len(lights)} illuminants and charts of shape {charts.shape}; "
            "expected one of each for every picture"
        )
    if any(found[key].size != 1 or found[key].dtype.kind not in "fui" for key in keys[3:]):
        raise GreycardError(f"{path}: expected one number each as darkness_level and saturation_level")
    images = folder / "PNG" if (folder / "PNG").is_dir() else folder
    pictures = []
    for index, (name, light, chart) in enumerate(zip(names, lights.tolist(), charts.tolist(), strict=True)):
        top, bottom, left, right = (float(edge) for edge in chart)
        pictures.append(
            LabelledPicture(
                images / f"{name}.PNG",
                f"{name}.PNG",
                CAMERAS[camera],
                tuple(light),
                black=float(found["darkness_level"][0]),
                white=float(found["saturation_level"][0]),
                # MATLAB counts from 1 and includes the last row and column.
                hidden=(box_polygon((left - 1, top - 1, right, bottom)),),
                fold=index % 3,
                scene_fold=scenes.get(name, -1),
            )
        )
    return pictures


def _scene_folds(folder: Path) -> dict[str, int]:
    """The fold of each picture by which all pictures of a scene stay together; empty where the list is not there."""
    path = folder / "cv_metadata.mat"
    if not path.is_file():
        return {}
    cameras = label_files.matlab(path, "cv_metadata")["cv_metadata"]
    folds: dict[str, int] = {}
    for entry in _leaves(cameras):
        name, _, fold = entry
        folds[Path(str(name)).stem] = int(fold) - 1
    return folds


def _leaves(value: Any) -> list[tuple[Any, Any, Any]]:
    """The (name, scene, fold) records in MATLAB's nest of structures and cells."""
    if isinstance(value, np.void):
        parts = list(value.item())
    elif isinstance(value, np.ndarray) and value.dtype.kind in "OV":
        parts = list(value.reshape(-1))
    else:
        return []
    if len(parts) == 3 and isinstance(parts[0], str):
        return [(parts[0], parts[1], parts[2])]
    return [leaf for part in parts for leaf in _leaves(part)]
