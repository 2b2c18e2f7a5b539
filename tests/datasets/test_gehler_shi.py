import numpy as np
import pytest
from miniature import WILD, assert_shows, cell, cells, lit, matlab_73, write_png
from scipy.io import savemat

from greycard import GreycardError
from greycard.datasets import gehler_shi
from greycard.datasets.picture import thumbnail_and_light
from greycard.illuminant import unit

NAMES = ("8D5U0001", "8D5U0002", "IMG_0001", "IMG_0002")
LIGHTS = ((2, 4, 3), (3, 4, 2), (1, 2, 1), (4, 4, 3))
BLACK = {"8D5U": 0, "IMG_": 129}
# Of a frame of 256 x 512 pixels: pictures here have 128 x 128. Further lines belong to the chart's patches.
CHART = "256 512\n64 128\n160 128\n64 192\n160 192\n70 130\n80 130\n70 140\n80 140\n"
HIDDEN = cells(rows=(16, 24), columns=(16, 40)) | cells(rows=(50, 51), columns=(50, 51))


def split(folds=((1, 4), (3,), (2,)), names=NAMES):
    files = np.zeros((len(names), 1), [("name", object), ("bytes", object)])
    files["name"][:, 0] = [f"{name}.tif" for name in names]
    files["bytes"] = 1.0
    return {"te_split": cell([np.array([fold], float) for fold in folds], (1, len(folds))), "Xfiles": files}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "coordinates").mkdir()
    for seed, (name, light) in enumerate(zip(NAMES, LIGHTS, strict=True)):
        black = BLACK[name[:4]]
        pixels = lit(light, black=black, seed=seed)
        pixels[32:48, 32:80] = np.array(WILD) + black
        pixels[100:102, 100:102] = 3692  # a clipped cell, and a clipped pixel in a cell with others
        pixels[110, 10] = 4000
        write_png(tmp_path / "images" / f"{name}.png", pixels)
        (tmp_path / "coordinates" / f"{name}_macbeth.txt").write_text(CHART)
    savemat(tmp_path / "real_illum_568.mat", {"real_rgb": np.array(LIGHTS) / 100})
    savemat(tmp_path / "ColorCheckerData.mat", {"REC_groundtruth": np.array(LIGHTS[::-1], float)})
    savemat(tmp_path / "threefoldCVsplit.mat", split())
    return tmp_path


def test_a_miniature_has_the_known_answer(folder):
    listing = gehler_shi.listing(folder)
    assert listing.problems == []
    assert [picture.name for picture in listing.pictures] == [f"{name}.png" for name in NAMES]
    assert [picture.camera for picture in listing.pictures] == ["Canon EOS-1D"] * 2 + ["Canon EOS 5D"] * 2
    assert [(picture.black, picture.white) for picture in listing.pictures] == [(0, 3692)] * 2 + [(129, 3692)] * 2
    assert [picture.fold for picture in listing.pictures] == [0, 2, 1, 0]
    for picture, light in zip(listing.pictures, LIGHTS, strict=True):
        found, label = thumbnail_and_light(picture)
        assert_shows(found, light, HIDDEN)
        np.testing.assert_allclose(label, unit(light))


def test_the_recommended_labels_are_in_another_file(folder):
    pictures = gehler_shi.listing(folder, labels="rec").pictures
    assert [picture.illuminant for picture in pictures] == list(LIGHTS[::-1])
    with pytest.raises(GreycardError, match="labels: expected one of sfu, rec, got 'gehler'"):
        gehler_shi.listing(folder, labels="gehler")


def test_pictures_may_lie_in_png_or_beside_the_labels(folder):
    (folder / "images").rename(folder / "png")
    assert all(picture.path.is_file() for picture in gehler_shi.listing(folder).pictures)
    for path in (folder / "png").iterdir():
        path.rename(folder / path.name)
    (folder / "png").rmdir()
    assert all(picture.path.is_file() for picture in gehler_shi.listing(folder).pictures)


def test_a_missing_picture_does_not_shift_the_labels_of_the_others(folder):
    (folder / "images" / "8D5U0002.png").unlink()
    pictures = gehler_shi.listing(folder).pictures
    assert [picture.name for picture in pictures] == [f"{name}.png" for name in NAMES]
    np.testing.assert_allclose(unit(pictures[2].illuminant), unit(LIGHTS[2]))


def test_without_the_list_of_names_all_568_must_be_there(folder):
    (folder / "threefoldCVsplit.mat").unlink()
    with pytest.raises(GreycardError, match=r"images: holds 4 PNG files where 568 are expected"):
        gehler_shi.listing(folder)


def test_without_the_split_the_labels_go_by_the_sorted_names(folder, monkeypatch):
    (folder / "threefoldCVsplit.mat").unlink()
    monkeypatch.setattr(gehler_shi, "COUNT", 4)
    pictures = gehler_shi.listing(folder).pictures
    assert [picture.name for picture in pictures] == [f"{name}.png" for name in NAMES]
    assert [picture.fold for picture in pictures] == [-1] * 4


def test_a_label_too_few_is_refused(folder):
    savemat(folder / "real_illum_568.mat", {"real_rgb": np.array(LIGHTS[:3], float)})
    with pytest.raises(GreycardError, match="4 pictures but 3 labels"):
        gehler_shi.listing(folder)


def test_label_files_that_cannot_be_read_are_named(folder):
    path = folder / "real_illum_568.mat"
    path.write_bytes(path.read_bytes()[:150])
    with pytest.raises(GreycardError, match=r"real_illum_568\.mat: cannot be read as a MATLAB file"):
        gehler_shi.listing(folder)
    matlab_73(path)
    with pytest.raises(GreycardError, match=r"real_illum_568\.mat: is of MATLAB's version 7\.3"):
        gehler_shi.listing(folder)
    path.unlink()
    with pytest.raises(GreycardError, match=r"real_illum_568\.mat: is missing"):
        gehler_shi.listing(folder)


def test_pictures_of_unknown_cameras_and_without_a_chart_are_told_and_left_out(folder):
    savemat(folder / "threefoldCVsplit.mat", split(names=("8D5U0001", "DSC_0002", "IMG_0001", "IMG_0002")))
    (folder / "coordinates" / "8D5U0001_macbeth.txt").unlink()
    (folder / "coordinates" / "IMG_0001_macbeth.txt").write_text("256 512\n64 128\n160 here\n")
    listing = gehler_shi.listing(folder)
    assert [picture.name for picture in listing.pictures] == ["IMG_0002.png"]
    np.testing.assert_allclose(unit(listing.pictures[0].illuminant), unit(LIGHTS[3]))
    told = "\n".join(listing.problems)
    assert "8D5U0001_macbeth.txt: is missing" in told
    assert "DSC_0002.png: its camera is not known; names begin with 8D5U or IMG_" in told
    assert "IMG_0001_macbeth.txt: line 3: expected numbers, found '160 here'" in told


def test_a_chart_with_too_few_corners_is_told(folder):
    (folder / "coordinates" / "IMG_0001_macbeth.txt").write_text("256 512\n64 128\n160 128\n64 192\n")
    assert "IMG_0001_macbeth.txt: expected the frame's size and four corners" in gehler_shi.listing(folder).problems[0]


@pytest.mark.parametrize(
    "folds", [((1, 4), (3,), (2, 1)), ((1, 4), (3,), ()), ((0, 1), (2,), (3,)), ((1, 2), (3,), (5,))]
)
def test_a_split_that_does_not_have_each_picture_once_is_refused(folder, folds):
    savemat(folder / "threefoldCVsplit.mat", split(folds))
    with pytest.raises(GreycardError, match=r"threefoldCVsplit\.mat: te_split should have each of 4 pictures"):
        gehler_shi.listing(folder)
