import numpy as np
import pytest

from greycard import GreycardError, camera

KNOWN = ["Canon EOS 5D", "Sony SLT-A57", "Panasonic DMC-GX1"]


@pytest.mark.parametrize("name", ["Canon EOS 5D", "canon eos 5d", "CANON EOS-5D", " Canon  EOS 5D "])
def test_capitals_blanks_and_punctuation_do_not_matter(name):
    assert camera.find(name, KNOWN) == "Canon EOS 5D"


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
