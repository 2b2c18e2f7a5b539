from dataclasses import replace

import imagecodecs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import write_dng
from greycard import GreycardError, encoding, photo, raw, render
from greycard.camera import ColourMatrices, colour_matrices
from greycard.illuminant import angular_error, unit


def test_the_light_becomes_white_and_a_picture_is_written(tmp_path):
    light = unit([0.4, 0.8, 0.5])
    rendered = render.srgb(np.linspace(0, 1, 20)[:, None, None] * light * np.ones((20, 5, 3)), light)
    assert np.ptp(rendered.astype(int), axis=-1).max() == 0
    render.write_png(tmp_path / "a.png", rendered)
    np.testing.assert_array_equal(imagecodecs.png_decode((tmp_path / "a.png").read_bytes()), rendered)


def test_a_black_picture_can_be_rendered():
    assert render.srgb(np.zeros((3, 3, 3)), [1, 1, 1]).max() == 0


def test_colours_survive_the_camera_and_back():
    """What a camera with this matrix records of sRGB colours under D65 comes back as these colours."""
    matrix = colour_matrices("Sony SLT-A57").at(6504)
    colours = np.random.default_rng(0).uniform(0, 1, (50, 3))
    recorded = colours @ np.linalg.inv(render.XYZ_TO_SRGB).T @ matrix.T
    white = np.ones(3) @ np.linalg.inv(render.XYZ_TO_SRGB).T @ matrix.T
    np.testing.assert_allclose((recorded / white) @ render.camera_to_srgb(matrix).T, colours, atol=1e-9)


@pytest.mark.parametrize("value", [0.001, 0.1, 0.5, 1.0])
def test_the_transfer_curve_is_srgbs(value):
    import colour

    pixels = np.full((1, 100, 3), value)
    pixels[0, :5] = 1.0  # sets the exposure: more than one pixel in a hundred is white
    expected = round(float(colour.cctf_encoding(value, function="sRGB")) * 255)
    assert render.srgb(pixels, [1, 1, 1])[0, -1, 0] == expected


LIGHTS = unit([[0.4, 0.8, 0.5], [0.9, 0.6, 0.2], [0.3, 0.6, 0.9]])
TWO = ColourMatrices(
    (
        np.array([[0.7546, -0.1435, -0.0929], [-0.3846, 1.1488, 0.2692], [-0.0332, 0.1209, 0.637]]),
        np.array([[0.7034, -0.0804, -0.1014], [-0.442, 1.2564, 0.2058], [-0.0851, 0.1994, 0.5758]]),
    ),
    (2856.0, 6504.0),
)


@pytest.mark.parametrize("light", LIGHTS)
def test_what_is_clipped_in_all_channels_is_white_and_stays_it(light):
    pixels = np.full((4, 100, 3), 0.3) * light
    pixels[:, :30] = 1.0
    rendered = render.srgb(pixels, light, render.camera_to_srgb(TWO.matrices[1]))
    assert rendered[:, :30].min() == 255
    assert np.ptp(rendered[:, 30:].astype(int), axis=-1).max() == 0


@pytest.mark.parametrize("light", LIGHTS)
def test_a_bright_surface_that_clips_one_channel_after_the_other_goes_to_white_without_a_cast(light):
    ramp = np.minimum(np.linspace(0.1, 4, 200)[:, None, None] * light / light.max() * np.ones((1, 3, 3)), 1)
    rendered = render.srgb(ramp, light, render.camera_to_srgb(TWO.matrices[1])).astype(int)
    assert np.ptp(rendered, axis=-1).max() <= 1
    assert rendered[-1].min() == 255


def test_two_matrices_do_under_d65_what_one_does():
    matrix = render.colours(TWO, TWO.at(6504) @ [0.9505, 1, 1.0888])
    np.testing.assert_allclose(matrix, render.camera_to_srgb(TWO.matrices[1]), atol=0.01)


@pytest.mark.parametrize("light", LIGHTS)
def test_two_matrices_keep_white_white(light):
    np.testing.assert_allclose(render.colours(TWO, light) @ np.ones(3), 1, atol=1e-9)


def test_a_lamp_seen_through_its_own_matrix_shows_a_surface_as_daylight_does():
    """The colour of a surface under illuminant A, adapted to D65, is what comes out."""
    import colour

    under_lamp = np.array([0.35, 0.3, 0.08])
    white = np.array([1.0985, 1.0, 0.3558])
    rendered = render.colours(TWO, TWO.at(2856) @ white) @ ((TWO.at(2856) @ under_lamp) / (TWO.at(2856) @ white))
    adapted = colour.chromatic_adaptation(under_lamp, white, render._D65, method="Von Kries", transform="Bradford")
    np.testing.assert_allclose(rendered, render.XYZ_TO_SRGB @ adapted, atol=0.01)


@settings(max_examples=30, deadline=None)
@given(st.floats(0, 1))
def test_warmth_leads_from_the_light_to_daylight(warmth):
    scene = render.Scene.of(photo.from_array(np.ones((2, 2, 3))), "Canon EOS 5D", unit([0.9, 0.6, 0.2]))
    kept = scene.kept_warm(warmth)
    way = float(angular_error(scene.light, scene.daylight))
    assert float(angular_error(scene.light, kept)) <= way + 1e-9
    red_left = (kept / scene.light)[0] / (kept / scene.light)[1]
    assert red_left <= 1 + 1e-9  # less is taken from the red: the picture is warmer
    np.testing.assert_allclose(scene.kept_warm(0), scene.light)
    np.testing.assert_allclose(scene.kept_warm(1), scene.daylight)


def test_warmth_needs_a_colour_matrix_and_a_share():
    scene = render.Scene.of(photo.from_array(np.ones((2, 2, 3))), None, unit([0.9, 0.6, 0.2]))
    assert scene.to_srgb is None
    with pytest.raises(GreycardError, match="colour matrix is not known"):
        scene.kept_warm(0.5)
    with pytest.raises(GreycardError, match="from 0 to 1, got 2"):
        scene.kept_warm(2)


def test_the_lenss_shading_is_undone():
    shading = np.ones((64, 64, 3), np.float32)
    shading += np.linspace(0, 1, 64, dtype=np.float32)[:, None, None] * np.array([0.5, 1.0, 0.2], np.float32)
    height = 640
    centres = np.clip((np.arange(height) + 0.5) / height * 64 - 0.5, 0, 63) / 63
    shaded = 0.25 / (1 + centres[:, None, None] * np.array([0.5, 1.0, 0.2])) * np.ones((1, 20, 1))
    picture = replace(photo.from_array(shaded), shading=shading)
    assert np.ptp(render.from_photo(picture, np.ones(3), None).astype(int)) <= 1


def test_levels_of_a_photo_count():
    picture = photo.from_array(np.full((4, 6, 3), 600, np.uint16), black=100, white=1100)
    assert render.from_photo(picture, np.ones(3), None, bits=16).max() == 65535  # exposed
    picture.pixels[0, 0] = 1100
    assert render.from_photo(picture, np.ones(3), None, bits=16)[1, 1, 0] == pytest.approx(0.7354 * 65535, abs=10)


@pytest.mark.parametrize("flip", range(8))
def test_pictures_are_turned_as_libraw_turns_them(tmp_path, flip):
    import rawpy

    generator = np.random.default_rng(0)
    stored = np.kron(generator.integers(200, 4000, (8, 10), dtype=np.uint16), np.ones((8, 8), np.uint16))
    orientation = {0: 1, 1: 2, 3: 3, 2: 4, 4: 5, 6: 6, 7: 7, 5: 8}[flip]
    path = write_dng(tmp_path / "a.dng", stored, tags={274: (3, 1, orientation)})
    with rawpy.imread(str(path)) as opened:
        expected = opened.postprocess(user_wb=[1, 1, 1, 1], output_color=rawpy.ColorSpace.raw, no_auto_bright=True)
    ours = render.turned(raw.demosaiced(path, [1, 1, 1]), flip)
    assert ours.shape == expected.shape
    correlation = np.corrcoef(ours[..., 1].ravel(), expected[..., 1].ravel())[0, 1]
    assert correlation > 0.95


def test_before_and_after_lie_side_by_side():
    sheet = render.side_by_side(np.zeros((30, 2400, 3), np.uint8), np.full((30, 2400, 3), 255, np.uint8))
    assert sheet.shape == (15, 1200 + 12 + 1200, 3)
    assert sheet[:, :1200].max() == 0
    assert sheet[:, -1200:].min() == 255


def test_a_grey_patch_of_a_raw_file_comes_out_neutral(raw_folder):
    """The neutral patch of the chart, balanced for its own colour, in all the file's pixels."""
    path = raw_folder / "canon_eos_550d_colour_chart.dng"
    picture = photo.read(path)
    light = unit([0.321, 0.472, 0.207])
    scene = render.Scene.of(picture, None, light)
    rendered = render.full_size(path, picture, light, scene.to_srgb, bits=16)
    assert rendered.shape == (1156, 1734, 3)
    patch = encoding.undo_srgb(rendered[914:946, 798:830]).mean(axis=(0, 1))
    assert float(angular_error(patch, np.ones(3))) < 1.0
