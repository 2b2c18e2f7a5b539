"""`greycard compare` as a user starts it."""

import json

import numpy as np
import pytest

from conftest import fractions, write_dng
from greycard import raw, sidecars
from greycard.illuminant import unit

MATRIX = [[0.65, -0.12, -0.09], [-0.38, 1.16, 0.25], [-0.04, 0.15, 0.6]]


@pytest.fixture
def picture(tmp_path):
    grey = np.kron(np.random.default_rng(0).uniform(0.02, 0.5, (20, 30)), np.ones((8, 8)))
    stored = grey * np.tile([[0.45, 0.8], [0.8, 0.4]], (80, 120)) * 4095
    return write_dng(tmp_path / "a.dng", stored.astype(np.uint16), tags={50721: (10, 9, fractions(MATRIX))})


def test_the_photographers_choice_is_compared(run, picture):
    light = unit([0.6, 0.8, 0.3])
    sidecars.write(picture, "darktable", sidecars.Balance(light, raw.about(picture).matrices))
    code, out, err = run("compare", picture, "--json")
    found = json.loads(out)
    assert (code, found["camera"], found["n"]) == (0, "Alpha One", 1), err
    assert 5 < found["mean_degrees"] < 25
    assert found["mean_mired"] < -20  # the photographer balanced for a much warmer light


def test_files_without_a_choice_are_told(run, picture):
    code, _, err = run("compare", picture)
    assert code == 1
    assert "none of the 1 files has a sidecar with a white balance of your own" in err


def test_a_bad_file_and_a_bad_sidecar_cost_a_line_each_and_are_read_elsewhere(monkeypatch, run, picture, tmp_path):
    sidecars.write(picture, "darktable", sidecars.Balance(unit([0.6, 0.8, 0.3]), raw.about(picture).matrices))
    (tmp_path / "broken.nef").write_bytes(b"no picture")
    (tmp_path / "b.dng").write_bytes(picture.read_bytes())
    (tmp_path / "b.dng.xmp").write_text("no xml")
    monkeypatch.setattr(raw, "about", None)  # what a file does to its decoder happens in another process
    code, out, err = run("compare", tmp_path / "broken.nef", tmp_path / "b.dng", picture, "--json")
    assert (code, json.loads(out)["n"]) == (1, 1)
    told = [line for line in err.splitlines() if line.startswith("greycard: ")]
    assert len(told) == 2, err
    assert any("broken.nef: " in line for line in told)
    assert any("b.dng.xmp: is not XML" in line for line in told)
