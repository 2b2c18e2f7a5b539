import imagecodecs
import numpy as np
import pytest

from greycard import render
from greycard.camera import colour_matrices
from greycard.illuminant import unit


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
    recorded = colours @ np.linalg.inv(render._XYZ_TO_SRGB).T @ matrix.T
    white = np.ones(3) @ np.linalg.inv(render._XYZ_TO_SRGB).T @ matrix.T
    np.testing.assert_allclose((recorded / white) @ render.camera_to_srgb(matrix).T, colours, atol=1e-9)


@pytest.mark.parametrize("value", [0.001, 0.1, 0.5, 1.0])
def test_the_transfer_curve_is_srgbs(value):
    import colour

    pixels = np.full((1, 100, 3), value)
    pixels[0, :5] = 1.0  # sets the exposure: more than one pixel in a hundred is white
    expected = round(float(colour.cctf_encoding(value, function="sRGB")) * 255)
    assert render.srgb(pixels, [1, 1, 1])[0, -1, 0] == expected
