import re

import numpy as np
import pytest
from miniature import WILD, assert_shows, cell, cells, lit, matlab_73, write_png
from scipy.io import savemat

from greycard import GreycardError
from greycard.datasets import nus8
from greycard.datasets.picture import inside, thumbnail_and_light
from greycard.illuminant import unit

LIGHTS = ((2, 4, 3), (3, 4, 2), (1, 2, 1), (4, 4, 3))
BLACK, WHITE = 2048, 15303
# Top, bottom, left, right, from 1 and with the last: rows 20 to 39 and columns 60 to 99, counted from 0.
CHART = (21, 40, 61, 100)


def labels(camera, count, **changes):
    return {
        "all_image_names": cell([f"{camera}_{number:04d}" for number in range(1, count + 1)], (count, 1)),
        "groundtruth_illuminants": np.array(LIGHTS[:count], float) / 7,
        "CC_coords": np.array([CHART] * count, float),
        "darkness_level": np.uint16(BLACK),
        "saturation_level": np.uint16(WHITE),
        **changes,
    }


@pytest.fixture
def folder(tmp_path):
    for camera, count in (("Canon600D", 4), ("SonyA57", 1)):
        for number, light in enumerate(LIGHTS[:count], start=1):
            pixels = lit(light, black=BLACK, brightest=3000, seed=number)
            pixels[20:40, 60:100] = np.array(WILD) + BLACK
            pixels[100:102, 100:102] = WHITE
            pixels[110, 10] = WHITE
            write_png(tmp_path / camera / "PNG" / f"{camera}_{number:04d}.PNG", pixels)
        savemat(tmp_path / camera / f"{camera}_gt.mat", labels(camera, count))
    return tmp_path


def test_a_miniature_has_the_known_answer(folder):
    listing = nus8.listing(folder)
    assert listing.problems == []
    assert [picture.name for picture in listing.pictures] == [
        "Canon600D_0001.PNG",
        "Canon600D_0002.PNG",
        "Canon600D_0003.PNG",
        "Canon600D_0004.PNG",
        "SonyA57_0001.PNG",
    ]
    assert [picture.camera for picture in listing.pictures] == ["Canon EOS 600D"] * 4 + ["Sony SLT-A57"]
    assert {(picture.black, picture.white) for picture in listing.pictures} == {(BLACK, WHITE)}
    assert [picture.fold for picture in listing.pictures] == [0, 1, 2, 0, 0]
    assert {picture.scene_fold for picture in listing.pictures} == {-1}
    hidden = cells(rows=(10, 20), columns=(30, 50)) | cells(rows=(50, 51), columns=(50, 51))
    for picture, light in zip(listing.pictures, (*LIGHTS, LIGHTS[0]), strict=True):
        found, label = thumbnail_and_light(picture)
        assert_shows(found, light, hidden)
        np.testing.assert_allclose(label, unit(light))


@pytest.mark.parametrize("chart", [CHART, (22, 39, 62, 99), (1, 128, 1, 2), (5, 5, 7, 7)])
def test_the_chart_is_counted_from_one_and_includes_its_last_row_and_column(folder, chart):
    savemat(folder / "SonyA57" / "SonyA57_gt.mat", labels("SonyA57", 1, CC_coords=np.array([chart], float)))
    picture = nus8.listing(folder).pictures[-1]
    top, bottom, left, right = chart
    expected = np.zeros((128, 128), bool)
    expected[top - 1 : bottom, left - 1 : right] = True
    np.testing.assert_array_equal(inside(picture.hidden[0], 128, 128), expected)


def test_pictures_may_lie_beside_the_labels(folder):
    for path in (folder / "SonyA57" / "PNG").iterdir():
        path.rename(folder / "SonyA57" / path.name)
    (folder / "SonyA57" / "PNG").rmdir()
    assert nus8.listing(folder).pictures[-1].path.is_file()


def test_scene_folds_come_from_their_own_file(folder):
    cameras = {}
    for camera, folds in (("Canon600D", (3, 1, 2, 3)), ("SonyA57", (2,))):
        records = np.zeros((len(folds), 1), [("filename", object), ("scene_idx", object), ("cv_fold", object)])
        for row, fold in enumerate(folds):
            records[row, 0] = (f"{camera}_{row + 1:04d}.PNG", float(row + 1), float(fold))
        cameras[camera] = records
    savemat(folder / "cv_metadata.mat", {"cv_metadata": cameras})
    assert [picture.scene_fold for picture in nus8.listing(folder).pictures] == [2, 0, 1, 2, 1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"groundtruth_illuminants": np.ones((3, 3))}, "4 names, 3 illuminants"),
        ({"groundtruth_illuminants": np.ones((4, 2))}, "expected three numbers a picture"),
        ({"CC_coords": np.ones((3, 4))}, r"charts of shape \(3, 4\)"),
        ({"CC_coords": np.ones((4, 3))}, r"charts of shape \(4, 3\)"),
        ({"CC_coords": cell(["a", "b", "c", "d"] * 4, (4, 4))}, "expected one of each"),
        ({"darkness_level": np.zeros((0, 0))}, "expected one number each as darkness_level"),
    ],
)
def test_a_camera_whose_labels_do_not_fit_is_told_and_left_out(folder, changes, message):
    savemat(folder / "Canon600D" / "Canon600D_gt.mat", labels("Canon600D", 4, **changes))
    listing = nus8.listing(folder)
    assert [picture.camera for picture in listing.pictures] == ["Sony SLT-A57"]
    assert re.search(rf"Canon600D_gt\.mat: .*{message}", listing.problems[0])


def test_a_camera_whose_labels_cannot_be_read_is_told_and_left_out(folder):
    (folder / "NokiaN95").mkdir()
    (folder / "NikonD40").mkdir()
    path = folder / "Canon600D" / "Canon600D_gt.mat"
    path.write_bytes(path.read_bytes()[:300])
    (folder / "SamsungNX2000").mkdir()
    matlab_73(folder / "SamsungNX2000" / "SamsungNX2000_gt.mat")
    listing = nus8.listing(folder)
    assert [picture.camera for picture in listing.pictures] == ["Sony SLT-A57"]
    damaged, missing, unknown, version = listing.problems
    assert "Canon600D_gt.mat: cannot be read as a MATLAB file" in damaged
    assert "NikonD40_gt.mat: is missing" in missing
    assert "NokiaN95: is not one of the data set's cameras, Canon1DsMkIII, " in unknown
    assert "SamsungNX2000_gt.mat: is of MATLAB's version 7.3" in version


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(GreycardError, match="holds no folders; expected one for each camera, such as Canon600D"):
        nus8.listing(tmp_path)
