import numpy as np
import pytest

from greycard import GreycardError, camera
from greycard.camera import ColourMatrices
from greycard.illuminant import colour_science, unit

KNOWN = ["Canon EOS 5D", "Sony SLT-A57", "Panasonic DMC-GX1"]


@pytest.mark.parametrize("name", ["Canon EOS 5D", "canon eos 5d", "CANON EOS-5D", " Canon  EOS 5D "])
def test_capitals_blanks_and_punctuation_do_not_matter(name):
    assert camera.find(name, KNOWN) == "Canon EOS 5D"


@pytest.mark.parametrize("name", ["Canon EOS Kiss X4", "CANON EOS REBEL T2i", "Canon EOS 550D"])
def test_a_camera_is_found_by_the_names_it_is_sold_under(name):
    known = [*KNOWN, "Canon EOS 550D"]
    assert camera.is_known(name, known)
    assert camera.find(name, known) == "Canon EOS 550D"
    assert camera.colour_matrices(name) is not None
    assert not camera.is_known(name, KNOWN)


def test_every_other_name_is_of_a_camera_of_the_bundled_model():
    from greycard import model_file

    assert set(camera.SOLD_AS) <= set(model_file.load().cameras)


def test_an_unknown_camera_is_named_with_the_nearest_and_the_known():
    with pytest.raises(GreycardError, match=r"'Sony SLT-A58' is not known; did you mean 'Sony SLT-A57'\?.*Panasonic"):
        camera.find("Sony SLT-A58", KNOWN)


def test_matrices_of_bundled_cameras():
    matrix = camera.colour_matrices("sony slt-a57").at(5000)
    np.testing.assert_allclose(matrix[0], [0.5991, -0.1456, -0.0455])
    assert camera.colour_matrices("No Such Camera") is None


def test_every_camera_of_the_bundled_model_has_a_matrix():
    from greycard import model_file

    assert all(camera.colour_matrices(name) is not None for name in model_file.load().cameras)


# Far from each other: those of a GoPro HERO6, for lamps and for daylight.
WARM = np.array([[1.8331, -0.8166, -0.2478], [0.1391, 0.8961, -0.0367], [0.0822, 0.0662, 0.2597]])
COOL = np.array([[1.0344, -0.421, -0.062], [-0.2315, 1.0625, 0.1948], [0.0093, 0.1058, 0.5541]])
TWO = ColourMatrices((WARM, COOL), (2856, 5003))


def test_between_two_lights_the_matrix_is_interpolated_in_inverse_temperature():
    halfway = 2 / (1 / 2856 + 1 / 5003)
    quarter = 1 / (0.75 / 2856 + 0.25 / 5003)
    for matrices in (TWO, ColourMatrices((COOL, WARM), (5003, 2856))):
        np.testing.assert_allclose(matrices.at(2856), WARM)
        np.testing.assert_allclose(matrices.at(5003), COOL)
        np.testing.assert_allclose(matrices.at(halfway), (WARM + COOL) / 2)
        np.testing.assert_allclose(matrices.at(quarter), 0.75 * WARM + 0.25 * COOL)


def test_beyond_the_two_lights_the_nearer_matrix_serves():
    np.testing.assert_allclose(TWO.at(1500), WARM)
    np.testing.assert_allclose(TWO.at(20_000), COOL)


def test_one_matrix_serves_all_lights():
    for temperature in (1500, 5000, 20_000):
        np.testing.assert_array_equal(ColourMatrices((COOL,)).at(temperature), COOL)


def light(matrices, cct, duv):
    colour = colour_science()
    xy = colour.UCS_uv_to_xy(colour.temperature.CCT_to_uv_Ohno2013([cct, duv]))
    return unit(matrices.at(cct) @ colour.xy_to_XYZ(xy))


@pytest.mark.parametrize("matrices", [TWO, ColourMatrices((COOL,))], ids=["two", "one"])
@pytest.mark.parametrize("duv", [-0.01, 0.0, 0.01])
def test_a_light_of_known_temperature_comes_back(matrices, duv):
    known = [2000, 2856, 3200, 3600, 4000, 4500, 5003, 6500, 12_000]
    found = matrices.temperatures([light(matrices, cct, duv) for cct in known])
    np.testing.assert_allclose([each.cct for each in found], known, rtol=1e-3)
    np.testing.assert_allclose([each.duv for each in found], duv, atol=2e-4)


def test_a_light_without_a_temperature_has_none():
    found = TWO.temperatures([unit([0.01, 1, 0.01]), light(TWO, 4000, 0.0)])
    assert found[0] is None
    assert found[1].cct == pytest.approx(4000, rel=1e-3)


@pytest.mark.parametrize(
    ("make", "model", "expected"),
    [
        ("NIKON CORPORATION", "NIKON D90", "NIKON D90"),
        ("GoPro", "HERO6 Black", "GoPro HERO6 Black"),
        (" Canon\0", " EOS 6D \0", "Canon EOS 6D"),
        ("", "HERO6 Black", "HERO6 Black"),
        (None, "HERO6 Black", "HERO6 Black"),
        (5, "HERO6 Black", "HERO6 Black"),
        ("GoPro", "", None),
        ("GoPro", None, None),
    ],
)
def test_make_and_model_are_one_name(make, model, expected):
    assert camera.full_name(make, model) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Canon EOS-1Ds Mark III", "Canon EOS-1Ds Mark III"),
        ("../escaped/Beta", "_escaped_Beta"),
        ("/tmp/Alpha", "_tmp_Alpha"),
        ("..", "_"),
    ],
)
def test_a_folder_is_named_after_a_camera_and_leads_nowhere_else(name, expected):
    assert camera.folder_name(name) == expected
