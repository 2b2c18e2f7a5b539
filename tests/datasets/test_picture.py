from dataclasses import replace

import numpy as np
import pytest
from miniature import WILD, assert_shows, cells, lit, write_png

from greycard import GreycardError
from greycard.datasets.picture import LabelledPicture, box_polygon, inside, thumbnail_and_light
from greycard.illuminant import unit

LIGHT = (2, 4, 3)
NONE = np.zeros((64, 64), bool)


@pytest.fixture
def picture(tmp_path):
    return LabelledPicture(write_png(tmp_path / "a.png", lit(LIGHT)), "a.png", "Alpha One", (0.2, 0.4, 0.3))


def test_the_inside_of_a_box_is_exact():
    expected = np.zeros((20, 30), bool)
    expected[2:7, 5:11] = True
    np.testing.assert_array_equal(inside(box_polygon((5, 2, 11, 7)), 20, 30), expected)
    np.testing.assert_array_equal(inside(box_polygon((4.6, 1.6, 11.4, 7.4)), 20, 30), expected)  # by the centres


def test_the_inside_of_a_slanted_shape_is_that_of_its_edges():
    found = inside(((0, 0), (10, 0), (0, 10)), 10, 10)
    x, y = np.meshgrid(np.arange(10), np.arange(10))
    np.testing.assert_array_equal(found, x + y + 1 < 10)
    np.testing.assert_array_equal(inside(((0, 10), (10, 0), (0, 0)), 10, 10), found)  # the other way round


def test_what_lies_outside_the_picture_is_cut_off():
    np.testing.assert_array_equal(inside(box_polygon((-5, 3, 50, 80)), 6, 4)[:, 0], [False] * 3 + [True] * 3)
    assert not inside(box_polygon((20, 20, 30, 30)), 6, 4).any()


def test_a_labelled_picture_has_its_label_at_unit_length(picture):
    found, light = thumbnail_and_light(picture)
    assert_shows(found, LIGHT, NONE)
    np.testing.assert_allclose(light, unit(LIGHT))


def test_corners_in_another_frame_are_scaled_across_and_down(picture):
    pixels = lit(LIGHT)
    pixels[32:48, 64:80] = WILD
    write_png(picture.path, pixels)
    hidden = (box_polygon((128, 128, 160, 192)),)
    found, _ = thumbnail_and_light(replace(picture, hidden=hidden, hidden_in=(256, 512)))
    assert_shows(found, LIGHT, cells(rows=(16, 24), columns=(32, 40)))
    own, _ = thumbnail_and_light(replace(picture, hidden=(box_polygon((64, 32, 80, 48)),)))
    np.testing.assert_array_equal(own, found)


def test_saturation_may_be_so_much_below_the_largest_value(tmp_path):
    pixels = lit((1, 2, 1), height=64, width=64, black=2000, brightest=400)
    pixels[0, :3] = [[2100, 2100, 3002], [2100, 2100, 2950], [2400, 2800, 2400]]  # 95 % of 3002 - 2 - 2000 is 950
    path = write_png(tmp_path / "a.png", pixels)
    picture = LabelledPicture(path, "a", "Alpha One", (1, 2, 1), black=2000, white_below_maximum=2)
    found, _ = thumbnail_and_light(picture)
    assert_shows(found, (1, 2, 1), cells(rows=(0, 1), columns=(0, 2)))
    np.testing.assert_allclose(found[0, 2], [0.4, 0.8, 0.4], rtol=1e-6)
    with pytest.raises(GreycardError, match=r"a\.png: no pixel is brighter than the black level 5000"):
        thumbnail_and_light(replace(picture, black=5000))


def test_a_grey_patch_gives_the_light_and_is_hidden(tmp_path):
    pixels = lit(LIGHT, black=100)
    pixels[20:30, 40:60] = np.array([30, 70, 50]) * 10 + 100  # a card that is not quite neutral shows what was measured
    path = write_png(tmp_path / "a.png", pixels)
    picture = LabelledPicture(path, "a", "Alpha One", None, black=100, white=4000, grey_box=(40, 20, 60, 30))
    found, light = thumbnail_and_light(picture)
    np.testing.assert_allclose(light, unit([30, 70, 50]))
    assert_shows(found, LIGHT, cells(rows=(10, 15), columns=(20, 30)))
    both, label = thumbnail_and_light(replace(picture, illuminant=LIGHT))  # a label goes before the patch
    np.testing.assert_allclose(label, unit(LIGHT))
    np.testing.assert_array_equal(both, found)


@pytest.mark.parametrize(
    "box", [(100, 0, 129, 10), (-1, 0, 10, 10), (0, 120, 10, 129), (10, 10, 10, 20), (20, 0, 10, 9)]
)
def test_a_grey_patch_outside_the_picture_is_refused(picture, box):
    with pytest.raises(GreycardError, match=r"a\.png: the grey patch .* is not inside the picture, .* 128 x 128"):
        thumbnail_and_light(replace(picture, illuminant=None, grey_box=box))


def test_a_clipped_grey_patch_is_refused(picture):
    pixels = lit(LIGHT)
    pixels[0:10, 0:10, 1] = 4000
    write_png(picture.path, pixels)
    with pytest.raises(GreycardError, match=r"a\.png: 50% of the grey patch is clipped"):
        thumbnail_and_light(replace(picture, illuminant=None, white=4000, grey_box=(0, 0, 20, 10)))


@pytest.mark.parametrize("light", [(0.0, 1.0, 1.0), (1.0, -1.0, 1.0), (float("nan"), 1.0, 1.0)])
def test_a_light_that_is_not_positive_is_refused(picture, light):
    with pytest.raises(GreycardError, match=r"a\.png: its illuminant .* is not positive"):
        thumbnail_and_light(replace(picture, illuminant=light))


def test_a_picture_without_label_or_patch_is_refused(picture):
    with pytest.raises(GreycardError, match=r"a\.png: has neither a label nor a grey patch"):
        thumbnail_and_light(replace(picture, illuminant=None))


def test_a_picture_that_is_hidden_altogether_is_refused(picture):
    with pytest.raises(GreycardError, match=r"a\.png: only 0 of 16384 pixels can be used"):
        thumbnail_and_light(replace(picture, hidden=(box_polygon((0, 0, 128, 128)),)))


def test_pictures_that_cannot_be_read_are_named(picture):
    write_png(picture.path, lit(LIGHT).astype(np.uint8))
    with pytest.raises(GreycardError, match=r"a\.png: holds 8-bit values"):
        thumbnail_and_light(picture)
    content = write_png(picture.path, lit(LIGHT)).read_bytes()
    picture.path.write_bytes(content[: len(content) // 2])
    with pytest.raises(GreycardError, match=r"a\.png: cannot be decoded"):
        thumbnail_and_light(picture)
    picture.path.unlink()
    with pytest.raises(GreycardError, match=r"a\.png: there is no such file"):
        thumbnail_and_light(picture)
