"""`greycard sidecar` as a user starts it."""

import numpy as np
import pytest

from conftest import fractions, write_dng
from greycard import sidecars

MATRIX = [[0.65, -0.12, -0.09], [-0.38, 1.16, 0.25], [-0.04, 0.15, 0.6]]


@pytest.fixture
def picture(tmp_path):
    grey = np.kron(np.random.default_rng(0).uniform(0.02, 0.5, (20, 30)), np.ones((8, 8)))
    stored = grey * np.tile([[0.45, 0.8], [0.8, 0.4]], (80, 120)) * 4095
    return write_dng(tmp_path / "Bild ä.dng", stored.astype(np.uint16), tags={50721: (10, 9, fractions(MATRIX))})


def test_a_sidecar_is_written_and_kept(run, picture, tmp_path):
    before = picture.read_bytes()
    (tmp_path / "a.png").write_bytes(b"")
    code, out, err = run("sidecar", picture, tmp_path / "a.png", "--for", "rawtherapee")
    path = tmp_path / "Bild ä.dng.pp3"
    assert (code, out.strip()) == (1, str(path))
    assert "a.png: is no RAW file" in err
    assert sidecars.read_labels([picture])[0] == [picture]
    kept = path.read_text()
    code, _, err = run("sidecar", picture, "--for", "rawtherapee")
    assert (code, path.read_text()) == (1, kept)
    assert f"{path}: has a white balance already; use --overwrite to replace it" in err
    assert picture.read_bytes() == before


def test_an_unknown_program_is_refused_before_anything_is_done(run, picture):
    code, _, err = run("sidecar", picture, "--for", "gimp")
    assert code == 1
    assert "--for: expected one of rawtherapee, darktable, adobe, got 'gimp'" in err
