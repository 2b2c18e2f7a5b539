"""Cube+ and the Cube challenge, which has its form."""

import numpy as np
import pytest
from miniature import WILD, assert_shows, cells, lit, write_png

from greycard import GreycardError
from greycard.datasets import cube_challenge, cube_plus
from greycard.datasets.picture import thumbnail_and_light
from greycard.illuminant import unit

LIGHTS = ((2, 4, 3), (3, 4, 2), (1, 2, 1))
# The SpyderCube's corner begins at 2050 of 2601 columns and 1050 of 1732 rows: pixel 101 and 78 of 128.
HIDDEN = cells(rows=(39, 64), columns=(50, 64)) | cells(rows=(10, 11), columns=(10, 11))


def write_set(images, labels, ending="PNG"):
    for number, light in enumerate(LIGHTS, start=1):
        pixels = lit(light, black=2048, seed=number)
        pixels[78:, 101:] = np.array(WILD) + 2048
        pixels[20:22, 20:22] = 6000  # the largest value of the picture
        pixels[60, 30] = 5998
        write_png(images / f"{number}.{ending}", pixels)
    labels.write_text("".join(f"{r / 9} {g / 9} {b / 9}\n" for r, g, b in LIGHTS))


@pytest.fixture
def folder(tmp_path):
    write_set(tmp_path / "PNG", tmp_path / "cube+_gt.txt")
    return tmp_path


def assert_known_answer(listing):
    assert listing.problems == []
    assert [picture.name for picture in listing.pictures] == ["1.PNG", "2.PNG", "3.PNG"]
    assert {picture.camera for picture in listing.pictures} == {"Canon EOS 550D"}
    assert {(picture.black, picture.white_below_maximum) for picture in listing.pictures} == {(2048, 2)}
    for picture, light in zip(listing.pictures, LIGHTS, strict=True):
        found, label = thumbnail_and_light(picture)
        assert_shows(found, light, HIDDEN)
        np.testing.assert_allclose(label, unit(light))


def test_a_miniature_has_the_known_answer(folder):
    assert_known_answer(cube_plus.listing(folder))


@pytest.mark.parametrize("name", ["cube_challenge_gt.txt", "challenge_gt.txt", "gt.txt"])
def test_the_challenge_has_the_form_of_cube_plus(tmp_path, name):
    write_set(tmp_path, tmp_path / name, ending="png")
    assert_known_answer(cube_challenge.listing(tmp_path))


def test_blocks_of_thirty_take_turns(folder):
    (folder / "cube+_gt.txt").write_text("1 2 1\n" * 91)
    folds = [picture.fold for picture in cube_plus.listing(folder).pictures]
    assert folds == [0] * 30 + [1] * 30 + [2] * 30 + [0]


def test_a_label_without_its_picture_is_listed_so_that_packing_names_it(folder):
    (folder / "PNG" / "2.PNG").unlink()
    missing = cube_plus.listing(folder).pictures[1]
    assert missing.path == folder / "PNG" / "2.PNG"
    with pytest.raises(GreycardError, match=r"2\.PNG: there is no such file"):
        thumbnail_and_light(missing)


def test_a_picture_without_a_label_is_told(folder):
    (folder / "cube+_gt.txt").write_text("1 2 1\n1 2 1\n")
    write_png(folder / "PNG" / "copy of 1.png", lit((1, 2, 1)))
    listing = cube_plus.listing(folder)
    assert len(listing.pictures) == 2
    assert [problem.split(": ")[0] for problem in listing.problems] == [
        str(folder / "PNG" / "3.PNG"),
        str(folder / "PNG" / "copy of 1.png"),
    ]
    assert "has no label; cube+_gt.txt ends at line 2" in listing.problems[0]


def test_label_files_that_do_not_fit_are_refused(folder):
    labels = folder / "cube+_gt.txt"
    labels.write_text("1 2 1\nr g b\n")
    with pytest.raises(GreycardError, match=r"cube\+_gt\.txt: line 2: expected numbers, found 'r g b'"):
        cube_plus.listing(folder)
    labels.write_text("1 2 1\n1 2\n")
    with pytest.raises(GreycardError, match=r"cube\+_gt\.txt: label 2 has 2 numbers; expected r g b"):
        cube_plus.listing(folder)
    labels.unlink()
    with pytest.raises(GreycardError, match=r"cube\+_gt\.txt: is missing"):
        cube_plus.listing(folder)
    with pytest.raises(GreycardError, match=r"cube_challenge_gt\.txt: is missing"):
        cube_challenge.listing(folder)


def test_the_corner_is_that_of_the_packed_data(data_folder):
    with np.load(data_folder / "cube_plus.npz") as content:
        always = (content["images"] == 0).all(axis=(0, -1))
    np.testing.assert_array_equal(always, cells(rows=(39, 64), columns=(50, 64)))
