"""`greycard balance` as a user starts it."""

import errno
from pathlib import Path

import imagecodecs
import numpy as np
import pytest
import tifffile

from conftest import fractions, write_dng
from greycard import encoding, metadata
from greycard.illuminant import angular_error, unit

LIGHT = unit([0.45, 0.8, 0.4])
MATRIX = [[0.65, -0.12, -0.09], [-0.38, 1.16, 0.25], [-0.04, 0.15, 0.6]]


@pytest.fixture
def grey_raw(tmp_path):
    """A RAW file of grey surfaces, some of them clipped, that stands on its side."""
    generator = np.random.default_rng(0)
    grey = np.kron(generator.uniform(0.02, 0.5, (20, 30)), np.ones((8, 8)))
    grey[:40, :60] = 4
    period = np.array([[LIGHT[0], LIGHT[1]], [LIGHT[1], LIGHT[2]]])
    stored = np.minimum(grey * np.tile(period, (80, 120)) * 4095, 4095).astype(np.uint16)
    tags = {274: (3, 1, 6), 50721: (10, 9, fractions(MATRIX)), 306: (2, 0, "2026:05:04 03:02:01")}
    return write_dng(tmp_path / "Bild ä.dng", stored, tags=tags)


@pytest.fixture
def linear(tmp_path):
    path = tmp_path / "Bild.tif"
    values = np.random.default_rng(0).uniform(0.05, 0.5, (70, 90, 1)) * LIGHT * 65535
    tifffile.imwrite(path, values.astype(np.uint16), photometric="rgb", metadata=None)
    return path


@pytest.mark.parametrize(("kind", "suffix"), [("jpeg", ".jpg"), ("png", ".png"), ("tiff", ".tif")])
def test_a_raw_file_becomes_a_picture(run, grey_raw, tmp_path, kind, suffix):
    before = grey_raw.read_bytes()
    code, out, err = run("balance", grey_raw, "--out", tmp_path / "out", "--format", kind)
    target = tmp_path / "out" / f"Bild ä{suffix}"
    assert (code, out.strip()) == (0, str(target)), err
    data = target.read_bytes()
    decode = {"jpeg": imagecodecs.jpeg8_decode, "png": imagecodecs.png_decode, "tiff": imagecodecs.tiff_decode}[kind]
    picture = decode(data)
    assert picture.shape == (240, 160, 3)  # turned
    white = 65535 if kind == "tiff" else 255
    assert picture[8:40, -24:-8].min() >= white - 1  # away from the edge, around which a JPEG rings
    greys = encoding.undo_srgb(picture)[70:].mean(axis=(0, 1))
    assert float(angular_error(greys, np.ones(3))) < 6  # what the estimate is off by; without balance it is 17
    assert b"2026:05:04 03:02:01" in data
    if kind == "tiff":
        found = metadata.read(target)
        assert (found.make, found.model, found.flip) == ("Alpha", "One", 0)
    assert grey_raw.read_bytes() == before


def test_a_linear_tiff_is_rendered_and_warmth_keeps_it_warm(run, linear, tmp_path):
    options = ("--camera", "Canon EOS 5D", "--format", "png")
    assert run("balance", linear, *options, "--out", tmp_path / "0")[0] == 0
    assert run("balance", linear, *options, "--out", tmp_path / "1", "--warmth", "0.8")[0] == 0
    cold, warm = (imagecodecs.png_decode((tmp_path / n / "Bild.png").read_bytes()).mean(axis=(0, 1)) for n in "01")
    assert abs(warm[0] / warm[2] - 1) > abs(cold[0] / cold[2] - 1) + 0.05


def test_a_sheet_shows_before_and_after(run, grey_raw, tmp_path):
    assert run("balance", grey_raw, "--sheet", "--out", tmp_path)[0] == 0
    sheet = imagecodecs.jpeg8_decode((tmp_path / "Bild ä-sheet.jpg").read_bytes())
    assert sheet.shape[:2] == (120, 80 + 4 + 80)


def test_a_picture_that_is_there_stays_unless_it_may_go(run, linear, tmp_path):
    target = tmp_path / "Bild.jpg"
    target.write_bytes(b"mine")
    code, _, err = run("balance", linear, "--out", tmp_path)
    assert (code, target.read_bytes()) == (1, b"mine")
    assert f"{target}: is there already; use --overwrite" in err
    assert run("balance", linear, "--out", tmp_path, "--overwrite")[0] == 0
    assert target.read_bytes()[:2] == b"\xff\xd8"


def test_files_of_one_name_do_not_meet(run, linear, grey_raw, tmp_path):
    other = grey_raw.rename(tmp_path / "bild.dng")
    assert run("balance", linear, other, "--out", tmp_path / "out")[0] == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"Bild.tif.jpg", "bild.dng.jpg"}


def test_one_bad_file_does_not_stop_the_rest(run, linear, tmp_path):
    (tmp_path / "broken.dng").write_bytes(b"no picture")
    code, out, err = run("balance", tmp_path / "broken.dng", linear, "--out", tmp_path / "out")
    assert code == 1
    assert out.strip() == str(tmp_path / "out" / "Bild.jpg")
    # Files are told of as they are done: a warning about the other one may come first.
    failures = [line for line in err.splitlines() if line.startswith("greycard: ")]
    assert len(failures) == 1
    assert failures[0].startswith(f"greycard: {tmp_path / 'broken.dng'}: LibRaw cannot read it")


def test_a_folder_that_cannot_be_written_to_is_named(run, linear, tmp_path):
    (tmp_path / "out").write_text("a file where a folder should be")
    code, _, err = run("balance", linear, "--out", tmp_path / "out")
    assert code == 1
    assert f"{tmp_path / 'out' / 'Bild.jpg'}: cannot be written" in err


def test_a_full_disk_leaves_nothing_behind(monkeypatch, linear, tmp_path):
    from greycard import GreycardError, picture_file

    def full(self, data):
        self.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(GreycardError, match=r"a\.png: cannot be written \(No space left on device\)"):
        picture_file.write(tmp_path / "a.png", np.zeros((4, 4, 3), np.uint8), "png", metadata.Metadata())
    assert list(tmp_path.iterdir()) == [linear]


def test_unknown_formats_are_refused(run, linear):
    code, _, err = run("balance", linear, "--format", "gif")
    assert code == 1
    assert "--format: expected jpeg, png, tiff, got 'gif'" in err


def test_an_original_is_never_overwritten(run, linear, tmp_path):
    before = linear.read_bytes()
    code, _, err = run("balance", linear, "--format", "tiff", "--out", tmp_path, "--overwrite")
    assert (code, linear.read_bytes()) == (1, before)
    assert f"{linear}: is an original" in err


def test_pictures_of_one_name_from_two_folders_are_not_put_in_one_place(run, tmp_path):
    code, _, err = run("balance", tmp_path / "a" / "1.dng", tmp_path / "b" / "1.dng", "--out", tmp_path, "--overwrite")
    assert code == 1
    assert f"{tmp_path / '1.dng.jpg'}: 2 pictures would go there" in err
