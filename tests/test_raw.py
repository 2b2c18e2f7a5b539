import gc
import os
from functools import cache

import imagecodecs
import numpy as np
import pytest
import rawpy
import tifffile

from conftest import change_tags, fractions, write_dng
from greycard import GreycardError, photo, raw, thumbnail
from greycard.illuminant import angular_error, unit

COLOUR = {"R": 800, "G": 1500, "B": 500}
X_TRANS = "GGRGGBGGBGGRBRGRBGGGBGGRGGRGGBRBGBRG"
D65 = [0.9505, 1.0, 1.0888]


def mosaic(height, width, pattern="RGGB", values=COLOUR):
    """A sensor that sees one colour everywhere."""
    side = round(len(pattern) ** 0.5)
    period = np.array([values[colour] for colour in pattern], np.uint16).reshape(side, side)
    return np.tile(period, (height // side + 1, width // side + 1))[:height, :width]


@pytest.mark.parametrize("pattern", ["RGGB", "BGGR", "GRBG", "GBRG"])
def test_every_order_of_the_pattern_gives_the_colour_back(tmp_path, pattern):
    read = photo.read(write_dng(tmp_path / "a.dng", mosaic(40, 60, pattern), pattern=pattern))
    assert read.pixels.shape == (20, 30, 3)
    assert read.pixels.dtype == np.float32
    np.testing.assert_array_equal(read.pixels, np.broadcast_to([800, 1500, 500], (20, 30, 3)))
    np.testing.assert_array_equal(read.black, 0)
    np.testing.assert_array_equal(read.white, 4095)
    assert not read.stored.clipped.any()
    assert read.name == str(tmp_path / "a.dng")


def test_the_two_greens_are_averaged(tmp_path):
    stored = mosaic(40, 60)
    stored[1::2, 0::2] += 100
    np.testing.assert_array_equal(photo.read(write_dng(tmp_path / "a.dng", stored)).pixels[5, 5], [800, 1550, 500])


def test_what_is_where_stays_there(tmp_path):
    stored = mosaic(40, 60)
    stored[10:12, 20:22] += 1000
    stored[30, 41] += 80  # a green one
    pixels = photo.read(write_dng(tmp_path / "a.dng", stored)).pixels
    np.testing.assert_array_equal(pixels[5, 10], [1800, 2500, 1500])
    np.testing.assert_array_equal(pixels[15, 20], [800, 1540, 500])
    assert np.sum(pixels != [800, 1500, 500]) == 4


def test_pixels_stay_for_as_long_as_the_photo_does(tmp_path):
    path = write_dng(tmp_path / "a.dng", mosaic(400, 600))
    parts = [photo.crop(photo.read(path), (0, 0, 0.5, 1)) for _ in range(20)]
    gc.collect()
    for part in parts:
        np.testing.assert_array_equal(part.pixels, np.broadcast_to([800, 1500, 500], (200, 150, 3)))


def test_black_is_subtracted(tmp_path):
    read = photo.read(write_dng(tmp_path / "a.dng", mosaic(40, 60) + np.uint16(128), tags={50714: (4, 1, 128)}))
    np.testing.assert_array_equal(read.pixels[5, 5], [800, 1500, 500])
    np.testing.assert_array_equal(read.white, 4095 - 128)


def test_values_below_black_are_kept_for_the_mean(tmp_path):
    stored = np.full((40, 60), 120, np.uint16)
    stored[::4] = 140
    pixels = photo.read(write_dng(tmp_path / "a.dng", stored, tags={50714: (4, 1, 128)})).pixels
    assert pixels.min() == -8
    np.testing.assert_allclose(pixels.mean(axis=(0, 1)), [2, -3, -8])


@pytest.mark.parametrize("pattern", ["RGGB", "GBRG"])
def test_each_place_of_the_pattern_may_have_its_own_black(tmp_path, pattern):
    black = np.array([[100, 200], [300, 400]], np.uint16)
    stored = mosaic(40, 60, pattern) + np.tile(black, (20, 30))
    tags = {50713: (3, 2, (2, 2)), 50714: (4, 4, black.ravel().tolist())}
    read = photo.read(write_dng(tmp_path / "a.dng", stored, pattern=pattern, tags=tags))
    np.testing.assert_array_equal(read.pixels[5, 5], [800, 1500, 500])
    of_channels = {"RGGB": [100, 250, 400], "GBRG": [300, 250, 200]}[pattern]
    np.testing.assert_array_equal(read.white, 4095 - np.array(of_channels))


def test_a_linearization_table_is_applied(tmp_path):
    table = (3, 1024, (np.arange(1024) * 4).tolist())
    read = photo.read(write_dng(tmp_path / "a.dng", mosaic(40, 60) // 4, tags={50712: table}))
    np.testing.assert_array_equal(read.pixels[5, 5], [800, 1500, 500])


@pytest.mark.parametrize("pattern", ["RGGB", "GBRG", X_TRANS])
@pytest.mark.parametrize("top", [0, 1, 2, 7, 16])
@pytest.mark.parametrize("left", [0, 1, 4, 9])
def test_margins_leave_the_colours_in_place(tmp_path, pattern, top, left):
    stored = np.full((90, 100), 3, np.uint16)
    stored[top : top + 66, left : left + 72] = mosaic(66, 72, pattern)
    path = write_dng(
        tmp_path / "a.dng", stored, pattern=pattern, tags={50829: (4, 4, (top, left, top + 66, left + 72))}
    )
    pixels = photo.read(path).pixels
    np.testing.assert_array_equal(np.unique(pixels.reshape(-1, 3), axis=0), [[800, 1500, 500]])
    period = round(len(pattern) ** 0.5)  # LibRaw moves an odd margin of a Bayer sensor by a pixel
    assert np.all(np.abs(np.array(pixels.shape[:2]) - [66 // period, 72 // period]) <= 1)


@pytest.mark.parametrize("place", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_one_clipped_pixel_of_a_period_masks_it(tmp_path, place):
    limit = 100 + 0.95 * (4095 - 100)
    stored = mosaic(256, 256) + np.uint16(100)
    stored[40 + place[0], 60 + place[1]] = np.ceil(limit)
    stored[80 + place[0], 80 + place[1]] = np.floor(limit)
    read = photo.read(write_dng(tmp_path / "a.dng", stored, tags={50714: (4, 1, 100)}))
    assert read.stored.clipped[20, 30]
    assert read.stored.clipped.sum() == 1
    cells = thumbnail.from_photo(read)
    np.testing.assert_allclose(cells[10, 15], np.array([800, 1500, 500]) / 3995, rtol=1e-6)
    assert cells[20, 20].sum() > cells[10, 15].sum()


def test_a_frame_that_is_clipped_everywhere_has_nothing_to_measure(tmp_path):
    read = photo.read(write_dng(tmp_path / "white.dng", np.full((128, 128), 4095, np.uint16)))
    with pytest.raises(GreycardError, match=r"white\.dng: only 0 of 4096 pixels can be used"):
        thumbnail.from_photo(read)


def test_a_linear_dng_has_its_planes_already(tmp_path):
    stored = np.random.default_rng(0).integers(300, 4000, (40, 60, 3), dtype=np.uint16)
    black = (4, 3, (100, 200, 300))
    tags = {50713: (3, 2, (1, 1)), 50714: black, 50717: (4, 3, (4095, 4095, 4095))}
    read = photo.read(write_dng(tmp_path / "a.dng", stored, tags=tags))
    np.testing.assert_array_equal(read.pixels, stored - np.float32(black[2]))
    np.testing.assert_array_equal(read.white, [3995, 3895, 3795])


def test_floating_point_keeps_its_colours(tmp_path):
    stored = (mosaic(40, 60) / 4095).astype(np.float32)
    read = photo.read(write_dng(tmp_path / "a.dng", stored, tags={50717: (4, 1, 1)}))
    np.testing.assert_allclose(read.pixels[5, 5] / read.white, np.array([800, 1500, 500]) / 4095, rtol=1e-3)


def test_a_sensor_without_colours_is_refused_with_the_reason(tmp_path):
    usual = [(50706, 1, 4, bytes([1, 4, 0, 0]), True), (50708, 2, 0, "Alpha Monochrom", True)]
    stored = np.full((40, 60), 500, np.uint16)
    tifffile.imwrite(tmp_path / "grey.dng", stored, photometric="minisblack", metadata=None, extratags=usual)
    change_tags(tmp_path / "grey.dng", {262: 34892})
    with pytest.raises(GreycardError, match=r"grey\.dng: is monochrome"):
        photo.read(tmp_path / "grey.dng")


def test_a_sensor_of_other_colours_is_refused_with_the_reason(tmp_path):
    cyan_magenta_green_yellow = {33422: (1, 4, bytes([3, 4, 1, 5])), 50710: (1, 4, bytes([3, 4, 1, 5]))}
    path = write_dng(tmp_path / "a.dng", mosaic(40, 60), tags=cyan_magenta_green_yellow)
    with pytest.raises(GreycardError, match=r"a\.dng: its sensor has the colours GMCY"):
        photo.read(path)


def test_the_file_tells_its_camera_white_and_matrix(tmp_path):
    matrix = [[0.7, -0.1, -0.1], [-0.4, 1.2, 0.2], [-0.1, 0.2, 0.6]]
    tags = {50721: (10, 9, fractions(matrix)), 50728: (5, 3, fractions([0.5, 1, 0.6]))}
    read = photo.read(write_dng(tmp_path / "a.dng", mosaic(40, 60), tags=tags))
    assert read.camera == "Alpha One"
    np.testing.assert_allclose(read.as_shot, unit([0.5, 1, 0.6]))
    np.testing.assert_allclose(read.matrices.at(5000), matrix)
    assert read.notes == ()


def test_a_file_that_tells_nothing_is_read_all_the_same(tmp_path):
    read = photo.read(write_dng(tmp_path / "a.dng", mosaic(40, 60), tags={271: None, 272: None, 50708: None}))
    assert (read.camera, read.as_shot, read.matrices, read.shading, read.notes) == (None, None, None, None, ())


def test_no_white_is_made_up_for_a_wrong_one(tmp_path):
    path = write_dng(tmp_path / "a.dng", mosaic(40, 60), tags={50728: (5, 3, [1, 1, 0, 1, 1, 1])})
    assert photo.read(path).as_shot is None


def test_capitals_in_the_ending_do_not_matter(tmp_path):
    assert photo.read(write_dng(tmp_path / "A.DNG", mosaic(40, 60))).camera == "Alpha One"


# Patterns and dumps


def test_a_period_of_six_is_averaged():
    pattern = np.array(["RGB".index(colour) for colour in X_TRANS]).reshape(6, 6)
    stored = mosaic(27, 32, X_TRANS) + np.uint16(64)
    stored[12:18, 6:12] += 36
    stored[20, 20] = 4000
    found, _ = raw.with_levels(stored, pattern, np.full((6, 6), 64, np.float32), 4095)
    pixels = found.planes
    assert pixels.shape == (4, 5, 3)
    np.testing.assert_array_equal(pixels[0, 0], [800, 1500, 500])
    np.testing.assert_array_equal(pixels[2, 1], [836, 1536, 536])
    np.testing.assert_array_equal(np.argwhere(found.clipped), [[3, 3]])


def test_a_fourth_colour_is_ignored_clipped_or_not():
    stored = np.tile(np.array([[800, 1500], [4095, 500]], np.uint16), (10, 10))
    found, _ = raw.with_levels(stored, np.array([[0, 1], [-1, 2]]), np.zeros((2, 2), np.float32), 4095)
    np.testing.assert_array_equal(found.planes, np.broadcast_to([800, 1500, 500], (10, 10, 3)))
    assert not found.clipped.any()


@pytest.mark.parametrize(("bits", "kind"), [(8, "u1"), (12, "<u2"), (16, "<u2")])
def test_dumps_without_a_header_are_read(tmp_path, bits, kind):
    full = 2**bits - 1
    values = {"R": full // 4, "G": full // 2, "B": full // 8}
    stored = mosaic(12, 20, "GRBG", values)
    stored[0, 0] = full
    (tmp_path / "a.bin").write_bytes(stored.astype(kind).tobytes())
    black = full // 16
    read = raw.from_dump(tmp_path / "a.bin", width=20, height=12, pattern="grbg", bits=bits, black=black)
    assert read.pixels.shape == (6, 10, 3)
    np.testing.assert_array_equal(read.pixels[3, 3], [values[colour] - black for colour in "RGB"])
    np.testing.assert_array_equal(read.white, full - black)
    np.testing.assert_array_equal(np.argwhere(read.stored.clipped), [[0, 0]])
    assert read.name == str(tmp_path / "a.bin")


def test_a_dump_may_have_a_black_for_each_channel_and_its_own_white(tmp_path):
    (tmp_path / "a.bin").write_bytes(mosaic(12, 20).astype("<u2").tobytes())
    read = raw.from_dump(
        tmp_path / "a.bin", width=20, height=12, pattern="RGGB", bits=14, black=[100, 200, 300], white=1600
    )
    np.testing.assert_array_equal(read.pixels[3, 3], [700, 1300, 200])
    np.testing.assert_array_equal(read.white, [1500, 1400, 1300])
    assert not read.stored.clipped.any()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"width": 22}, r"a\.bin: has 480 bytes, 22 x 12 pixels of 12 bits need 528"),
        ({"height": 0}, r"a\.bin: a dump has"),
        ({"width": -20, "height": -12}, r"a\.bin: a dump has"),
        ({"width": 10**6, "height": 10**6}, r"a\.bin: a dump has 8 to 16 bits and up to 400,000,000 pixels"),
        ({"bits": 7}, "8 to 16 bits"),
        ({"bits": 32}, "8 to 16 bits"),
        ({"pattern": "RGB"}, "pattern: expected four letters such as RGGB, got 'RGB'"),
        ({"pattern": "RGGR"}, "pattern"),
        ({"pattern": "CMYG"}, "pattern"),
    ],
)
def test_wrong_dumps_are_refused(tmp_path, wrong, message):
    (tmp_path / "a.bin").write_bytes(bytes(12 * 20 * 2))
    with pytest.raises(GreycardError, match=message):
        raw.from_dump(tmp_path / "a.bin", **{"width": 20, "height": 12, "pattern": "RGGB", "bits": 12, **wrong})


def test_a_dump_that_cannot_be_opened_is_named(tmp_path):
    for path in (tmp_path / "absent.bin", tmp_path):
        with pytest.raises(GreycardError, match=f"{path.name}: "):
            raw.from_dump(path, width=2, height=2, pattern="RGGB", bits=8)


# Broken and foreign files


def broken(folder):
    """Files that are no RAW files, by what is to be said of them."""
    whole = write_dng(folder / "whole.dng", mosaic(40, 60)).read_bytes()
    (folder / "cut.dng").write_bytes(whole[: len(whole) // 2])
    (folder / "cut_last.dng").write_bytes(whole[:-1])
    (folder / "header.dng").write_bytes(whole[:60])
    (folder / "empty.dng").write_bytes(b"")
    (folder / "text.dng").write_text("hello " * 100)
    (folder / "jpeg.dng").write_bytes(imagecodecs.jpeg_encode(np.full((40, 60, 3), 100, np.uint8)))
    (folder / "jpeg.cr2").write_bytes((folder / "jpeg.dng").read_bytes())
    tifffile.imwrite(folder / "tiff.nef", np.full((40, 60, 3), 100, np.uint16), photometric="rgb")
    for name, side in (("bomb.dng", 10**6), ("large.dng", 30_000)):
        change_tags(write_dng(folder / name, mosaic(40, 60)), {256: side, 257: side, 278: side})
    (folder / "folder.dng").mkdir()
    return {
        "cut.dng": "LibRaw cannot read it",
        "cut_last.dng": "LibRaw cannot read it",
        "header.dng": "LibRaw cannot read it",
        "empty.dng": "is empty",
        "text.dng": "LibRaw cannot read it",
        "jpeg.dng": "LibRaw cannot read it",
        "jpeg.cr2": "LibRaw cannot read it",
        "tiff.nef": "LibRaw cannot read it",
        "bomb.dng": "LibRaw cannot read it",
        "large.dng": "claims 30000 x 30000 pixels",  # said before the pixels are looked for, which are not there
        "folder.dng": "LibRaw cannot read it",
        "absent.dng": "there is no such file",
        "x" * 3000 + ".dng": "cannot be read",
    }


def test_broken_and_foreign_files_get_one_clear_line(tmp_path):
    for name, message in broken(tmp_path).items():
        with pytest.raises(GreycardError, match=message) as caught:
            photo.read(tmp_path / name)
        assert name in str(caught.value)
        assert "\n" not in str(caught.value)


def test_what_makes_no_sense_inside_is_one_line_too(tmp_path, monkeypatch):
    def fail(*_):
        raise RuntimeError("unsupported\nraw data")

    monkeypatch.setattr(raw, "_pixels", fail)
    with pytest.raises(GreycardError, match=r"a\.dng: cannot be decoded \(unsupported raw data\)"):
        photo.read(write_dng(tmp_path / "a.dng", mosaic(40, 60)))


def test_originals_stay_as_they_are(tmp_path):
    broken(tmp_path)
    paths = sorted(path for path in tmp_path.iterdir() if path.is_file())
    for path in paths:
        os.utime(path, ns=(10**18, 10**18))
    before = [(path.read_bytes(), path.stat().st_mtime_ns) for path in paths]
    for path in paths:
        try:
            photo.read(path)
        except GreycardError:
            continue
    assert [(path.read_bytes(), path.stat().st_mtime_ns) for path in paths] == before
    assert sorted(path for path in tmp_path.iterdir() if path.is_file()) == paths


# Real files

REAL = {
    "canon_eos_550d_colour_chart": ((578, 867), 15000 - 2056, "Canon EOS Kiss X4", [1000, 2477, 1462], ()),
    "canon_eos_6d_linear": ((816, 1224), 65535, "Canon EOS 6D", [1, 0.996616, 0.995727], (2856, 6504)),
    "gopro_fusion": ((1500, 1552), 16383, "GoPro FUSION", [0.493494, 1, 0.606815], (2856, 5003)),
    "gopro_hero6": ((1500, 2000), 16383, "GoPro HERO6 Black", [0.522449, 1, 0.571429], (2856, 5003)),
}


@pytest.fixture(scope="module")
def real(raw_folder):
    return cache(lambda name: photo.read(raw_folder / f"{name}.dng"))


@pytest.mark.parametrize("name", REAL)
def test_real_files_tell_sizes_levels_camera_and_white(real, name):
    size, white, camera, as_shot, calibrated_at = REAL[name]
    read = real(name)
    assert read.pixels.shape == (*size, 3)
    np.testing.assert_array_equal(read.black, 0)
    np.testing.assert_array_equal(read.white, white)
    assert read.camera == camera
    np.testing.assert_allclose(read.as_shot, unit(as_shot), rtol=1e-6)
    assert read.matrices.calibrated_at == calibrated_at
    assert len(read.matrices.matrices) == max(1, len(calibrated_at))
    assert read.notes == ()


@pytest.mark.parametrize("name", REAL)
def test_planes_of_real_files_hold_what_rawpy_sees(real, raw_folder, name):
    with rawpy.imread(str(raw_folder / f"{name}.dng")) as file:
        visible, black = file.raw_image_visible, file.black_level_per_channel[0]
        if visible.ndim == 3:
            expected = visible[..., :3].mean(axis=(0, 1)) - black
        else:
            colours = file.raw_colors_visible
            expected = [visible[np.isin(colours, which)].mean() - black for which in ([0], [1, 3], [2])]
    np.testing.assert_allclose(real(name).pixels.mean(axis=(0, 1), dtype=np.float64), expected, rtol=1e-6)


def test_the_gain_of_the_amplifiers_belongs_to_the_matrix(real):
    read = real("canon_eos_6d_linear")
    assert angular_error(read.matrices.at(6504) @ D65, read.as_shot) < 3
    alone = np.array([[7034, -804, -1014], [-4420, 12564, 2058], [-851, 1994, 5758]]) / 10_000
    assert angular_error(alone @ D65, read.as_shot) > 15
    scale = np.array([2.158672 * 0.9883, 1, 1.414752])[:, None]
    np.testing.assert_allclose(read.matrices.matrices[1], scale * alone, rtol=1e-6)


def test_the_550d_has_one_matrix_for_all_lights(real):
    expected = np.array([[6461, -1164, -857], [-3825, 11597, 2534], [-416, 1540, 6039]]) / 10_000
    for temperature in (2500, 6500):
        np.testing.assert_allclose(real("canon_eos_550d_colour_chart").matrices.at(temperature), expected)


def test_the_chart_of_the_550d_reads_as_it_was_measured(real):
    chart = photo.crop(real("canon_eos_550d_colour_chart"), (0.35, 0.05, 0.80, 0.90)).pixels
    height, width = (side // 10 for side in chart.shape[:2])
    squares = chart[: height * 10, : width * 10].reshape(height, 10, width, 10, 3)
    means, spreads = squares.mean(axis=(1, 3)), squares.std(axis=(1, 3))
    smooth = np.all(spreads < 0.1 * means, axis=-1)
    assert angular_error(means[smooth], [0.321, 0.472, 0.207]).min() < 1


def test_only_the_hero6_tells_its_shading(real):
    assert [name for name in REAL if real(name).shading is not None] == ["gopro_hero6"]
    read = real("gopro_hero6")
    bare = thumbnail.from_photo(photo.Photo(read.pixels, read.black, read.white, read.stored.clipped))
    np.testing.assert_allclose(thumbnail.from_photo(read), bare * read.shading, rtol=1e-6)


def test_a_real_file_that_was_cut_off_is_refused(tmp_path, raw_folder):
    for name in ("canon_eos_550d_colour_chart", "canon_eos_6d_linear"):
        whole = (raw_folder / f"{name}.dng").read_bytes()
        (tmp_path / "cut.dng").write_bytes(whole[: len(whole) * 9 // 10])
        with pytest.raises(GreycardError, match=r"cut\.dng: LibRaw cannot read it"):
            photo.read(tmp_path / "cut.dng")
