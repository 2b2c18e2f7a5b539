"""DESIGN's "Preprocessing, defined once", point by point."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from greycard import GreycardError, photo, thumbnail
from greycard.datasets import packed
from greycard.illuminant import unit


def flat(height=128, width=192, colour=(0.2, 0.4, 0.3)):
    return np.broadcast_to(np.array(colour, np.float32), (height, width, 3)).copy()


def cells_of(pixels, **levels):
    return thumbnail.from_photo(photo.from_array(pixels, **levels))


def test_black_is_subtracted_and_the_range_divided_for_each_channel():
    stored = np.zeros((64, 64, 3), np.uint16)
    stored[:] = [1000, 2000, 3000]
    cells = cells_of(stored, black=[200, 400, 600], white=[4200, 8400, 12600])
    np.testing.assert_allclose(cells[5, 5], [0.2, 0.2, 0.2], rtol=1e-6)


def test_a_pixel_at_95_percent_of_the_range_in_any_channel_is_no_measurement():
    pixels = flat()
    pixels[0, 0] = [0.1, 0.95, 0.1]  # at the limit: masked
    pixels[0, 3] = [0.1, 0.9499, 0.1]  # below it: measured
    cells = cells_of(pixels)
    np.testing.assert_allclose(cells[0, 0], [0.2, 0.4, 0.3], rtol=1e-6)
    assert cells[0, 1, 1] == pytest.approx((5 * 0.4 + 0.9499) / 6)


def test_without_a_white_level_nothing_is_clipped():
    cells = cells_of(flat(colour=(200, 400, 300)), white=np.inf)
    np.testing.assert_allclose(cells[0, 0], [200, 400, 300])


def test_a_cell_averages_its_unmasked_pixels_and_needs_more_than_half_of_its_area():
    pixels = flat(128, 128)
    pixels[0, 0] = [0.6, 0.4, 0.3]
    mask = np.zeros((128, 128), bool)
    mask[0, 1] = True  # one of four: kept, averaged over the other three
    mask[0, 2:4] = True  # two of four: exactly half is not more than half
    cells = cells_of(pixels, mask=mask)
    np.testing.assert_allclose(cells[0, 0], [(0.6 + 0.2 + 0.2) / 3, 0.4, 0.3], rtol=1e-6)
    np.testing.assert_array_equal(cells[0, 1], 0)
    np.testing.assert_allclose(cells[0, 2], [0.2, 0.4, 0.3], rtol=1e-6)


def test_a_hole_of_zeros_is_no_measurement():
    pixels = flat(128, 128)
    pixels[:40] = 0
    cells = cells_of(pixels)
    np.testing.assert_array_equal(cells[:20], 0)
    np.testing.assert_allclose(cells[20:], flat(44, 64), rtol=1e-6)


def test_the_order_of_channels_is_red_green_blue():
    cells = cells_of(flat(colour=(0.1, 0.5, 0.9)))
    assert cells[0, 0].argmin() == 0
    assert cells[0, 0].argmax() == 2


@settings(max_examples=25, deadline=None)
@given(st.integers(8, 200), st.integers(8, 200))
def test_any_size_keeps_the_mean(height, width):
    pixels = np.random.default_rng(height * 1000 + width).uniform(0.1, 0.8, (height, width, 3))
    np.testing.assert_allclose(cells_of(pixels).mean(axis=(0, 1)), pixels.mean(axis=(0, 1)), rtol=1e-4)


def test_exposure_drops_out_and_the_floor_holds():
    cells = np.full((64, 64, 3), 0.5, np.float32)
    cells[10, 10] = [1e-9, 0.5, 0.5]
    first, second = thumbnail.log_image(cells), thumbnail.log_image(cells * 1000)
    np.testing.assert_allclose(first.values, second.values, atol=1e-6)
    assert first.values.min() == pytest.approx(np.log(1e-4))


def test_the_mean_is_over_valid_cells_and_channels():
    cells = np.full((64, 64, 3), 2.0, np.float32)
    cells[:32] = 0  # masked
    cells[40, 40] = [5.0, 0.0, 5.0]  # not positive everywhere: not valid
    np.testing.assert_allclose(thumbnail.log_image(cells).values[50, 50], 0, atol=1e-6)


def test_a_cell_counts_if_its_neighbours_inside_the_frame_are_valid():
    cells = np.ones((64, 64, 3), np.float32)
    cells[10, 10] = 0
    counted = thumbnail.log_image(cells).counted
    expected = np.ones((64, 64), bool)
    expected[9:12, 9:12] = False
    np.testing.assert_array_equal(counted, expected)  # the corners of the frame count


def test_where_few_cells_are_surrounded_the_valid_ones_count():
    cells = np.zeros((64, 64, 3), np.float32)
    cells[::4, ::4] = 1.0  # 256 valid cells, none of them next to another
    np.testing.assert_array_equal(thumbnail.log_image(cells).counted, cells[..., 0] > 0)


@pytest.mark.parametrize(("valid", "accepted"), [(63, False), (64, True)])
def test_fewer_than_64_valid_cells_are_refused(valid, accepted):
    cells = np.zeros((64, 64, 3), np.float32)
    cells.reshape(-1, 3)[:valid] = 1.0
    if accepted:
        assert thumbnail.log_image(cells).counted.sum() == 64
    else:
        with pytest.raises(GreycardError, match=r"night\.png: only 63 of 4096 cells"):
            thumbnail.log_image(cells, "night.png")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (np.ones((32, 64, 3)), "shape"),
        (np.full((64, 64, 3), np.nan), "not finite"),
        (np.where(np.arange(64 * 64 * 3).reshape(64, 64, 3) == 4, np.inf, 1.0), "not finite"),
        (np.where(np.arange(64 * 64 * 3).reshape(64, 64, 3) == 4, -np.inf, 1.0), "not finite"),
    ],
)
def test_what_is_no_thumbnail_is_refused(wrong, message):
    with pytest.raises(GreycardError, match=message):
        thumbnail.log_image(wrong)


def test_real_pictures_agree_with_their_packed_thumbnails(data_folder):
    sets = {name: packed.load(data_folder / f"{name}.npz") for name in ("gehler_shi", "nus8")}
    entries = json.loads((data_folder / "originals" / "illuminants.json").read_text())
    assert len(entries) == 21
    for entry in entries:
        dataset = next(name for name in sets if entry["file"].startswith(name))
        data = sets[dataset]
        stem = entry["file"].removeprefix(f"{dataset}_").removesuffix(".png")
        row = next(i for i, name in enumerate(data.names) if name.rsplit(".", 1)[0] == stem)
        np.testing.assert_allclose(unit(entry["illuminant"]), data.illuminants[row], atol=1e-5)
        cells = thumbnail.from_photo(photo.read(data_folder / "originals" / entry["file"], white=np.inf))
        np.testing.assert_array_equal((cells == 0).all(axis=-1), (data.images[row] == 0).all(axis=-1))
        np.testing.assert_allclose(cells, data.images[row], atol=0.51)  # the packed values are rounded


def test_shading_multiplies_the_cells_and_leaves_masked_ones_masked():
    pixels = flat(128, 128)
    pixels[:4, :4] = [0.1, 0.96, 0.1]
    pixels[64:66, 64:66] = [0.4, 0.8, 0.6]  # below saturation, though its gain lifts it above
    gains = np.random.default_rng(0).uniform(1, 2, (64, 64, 3)).astype(np.float32)
    bare = photo.from_array(pixels)
    cells = thumbnail.from_photo(replace(bare, shading=gains))
    np.testing.assert_allclose(cells, thumbnail.from_photo(bare) * gains, rtol=1e-6)
    np.testing.assert_array_equal(cells[:2, :2], 0)
    assert cells[32, 32, 1] == pytest.approx(0.8 * gains[32, 32, 1])
