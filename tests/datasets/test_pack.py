import os
from dataclasses import replace

import numpy as np
import pytest
from miniature import Deadly, assert_shows, lit, write_png

from greycard import GreycardError
from greycard.datasets import packed
from greycard.datasets.pack import _pack_one, _part, pack, quantised
from greycard.datasets.picture import LabelledPicture
from greycard.illuminant import unit

LIGHTS = ((2, 4, 3), (3, 4, 2), (1, 2, 1), (4, 4, 3))
NONE = np.zeros((64, 64), bool)


@pytest.fixture
def pictures(tmp_path):
    return [
        LabelledPicture(
            write_png(tmp_path / "set" / f"{number}.png", lit(light, height=64, width=64, seed=number)),
            f"{number}.png",
            f"Camera {number}",
            light,
            white=4000,
            fold=number % 3,
        )
        for number, light in enumerate(LIGHTS)
    ]


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def garble(path):
    """Other content of the same size and age."""
    state = path.stat()
    path.write_bytes(bytes(state.st_size))
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def test_pictures_are_packed_in_their_order(tmp_path, pictures):
    calls = []
    out = tmp_path / "new" / "mini.npz"
    report = pack(pictures, out, workers=2, progress=lambda: calls.append(1))
    assert (report.packed, report.failures, len(calls)) == (4, [], 4)
    found = packed.load(out)
    assert found.names.tolist() == ["0.png", "1.png", "2.png", "3.png"]
    assert found.cameras.tolist() == ["Camera 0", "Camera 1", "Camera 2", "Camera 3"]
    assert found.folds.tolist() == [0, 1, 2, 0]
    assert set(found.scene_folds) == {-1}
    assert set(found.datasets) == {"mini"}
    np.testing.assert_allclose(found.illuminants, unit(LIGHTS), atol=1e-6)
    for image, light in zip(found.images, LIGHTS, strict=True):
        assert_shows(image, light, NONE)
    assert names(out.parent) == ["mini.npz"]


def test_what_cannot_be_packed_is_named_and_the_rest_goes_on(tmp_path, pictures):
    missing, truncated, eight_bits, clipped = (
        replace(pictures[0], path=tmp_path / "set" / f"{name}.png", name=name)
        for name in ("missing", "truncated", "eight bits", "clipped")
    )
    content = pictures[0].path.read_bytes()
    truncated.path.write_bytes(content[: len(content) // 2])
    write_png(eight_bits.path, lit((1, 2, 1), height=64, width=64, brightest=60).astype(np.uint8))
    white = lit((1, 2, 1), height=64, width=64)
    white[0, 10:] = white[1:] = 4000
    write_png(clipped.path, white)
    dark = replace(pictures[0], name="dark", black=3000)
    report = pack(
        [missing, pictures[0], truncated, eight_bits, pictures[1], clipped, dark], tmp_path / "a.npz", workers=1
    )
    assert report.packed == 2
    assert packed.load(tmp_path / "a.npz").names.tolist() == ["0.png", "1.png"]
    assert [failure.split(": ")[0] for failure in report.failures] == [
        str(picture.path) for picture in (missing, truncated, eight_bits, clipped, dark)
    ]
    messages = [failure.split(": ", 1)[1] for failure in report.failures]
    assert "there is no such file; the data set should have it" in messages[0]
    assert "cannot be decoded" in messages[1]
    assert "holds 8-bit values" in messages[2]
    assert "only 10 of 4096 pixels can be used" in messages[3]
    assert "only 0 of 4096 cells can be used" in messages[4]
    assert names(tmp_path) == ["a.npz", "set"]


def test_an_interrupted_run_goes_on_where_it_was(tmp_path, pictures):
    parts = tmp_path / "a.npz.parts"
    for picture in pictures[:2]:
        _pack_one(picture, parts)
        garble(picture.path)
    report = pack(pictures, tmp_path / "a.npz", workers=1)
    assert (report.packed, report.failures) == (4, [])
    for image, light in zip(packed.load(tmp_path / "a.npz").images, LIGHTS, strict=True):
        assert_shows(image, light, NONE)
    assert names(tmp_path) == ["a.npz", "set"]
    with pytest.raises(GreycardError, match=r"0\.png: is not a PNG file"):
        _pack_one(pictures[0], parts)


def test_a_part_is_used_only_for_the_same_file_and_settings(tmp_path, pictures):
    first = _part(pictures[0], tmp_path)
    assert _part(pictures[0], tmp_path) == first
    assert _part(replace(pictures[0], black=1), tmp_path) != first
    assert _part(replace(pictures[0], illuminant=(1, 1, 1)), tmp_path) != first
    os.utime(pictures[0].path, ns=(0, 0))
    assert _part(pictures[0], tmp_path) != first


def test_an_interrupt_stops_soon_and_keeps_what_is_done(tmp_path, pictures):
    def stop():
        raise KeyboardInterrupt

    many = [replace(pictures[0], name=f"{number}") for number in range(100)]
    with pytest.raises(KeyboardInterrupt):
        pack(many, tmp_path / "a.npz", workers=1, progress=stop)
    assert names(tmp_path) == ["a.npz.parts", "set"]
    assert 1 <= len(names(tmp_path / "a.npz.parts")) < 50


def test_a_decoder_that_ends_its_process_costs_only_its_picture(tmp_path, pictures):
    calls = []
    pictures[1] = replace(pictures[1], path=Deadly(pictures[1].path))
    report = pack(pictures, tmp_path / "a.npz", workers=2, progress=lambda: calls.append(1))
    assert len(report.failures) == 1
    assert report.failures[0].startswith(f"{pictures[1].path}: the process that worked at it died")
    assert packed.load(tmp_path / "a.npz").names.tolist() == ["0.png", "2.png", "3.png"]
    assert len(calls) == 4


def test_where_nothing_can_be_packed_nothing_is_written(tmp_path, pictures):
    pictures[0].path.unlink()
    report = pack(pictures[:1], tmp_path / "a.npz", workers=1)
    assert (report.packed, len(report.failures)) == (0, 1)
    assert names(tmp_path) == ["set"]


def test_no_pictures_and_names_that_stand_twice_are_refused(tmp_path, pictures):
    with pytest.raises(GreycardError, match="there are no pictures to pack"):
        pack([], tmp_path / "a.npz")
    with pytest.raises(GreycardError, match=r"the name 0\.png stands for more than one picture"):
        pack([*pictures, replace(pictures[1], name="0.png")], tmp_path / "a.npz")
    assert names(tmp_path) == ["set"]


@pytest.mark.parametrize(
    ("brightest", "expected"),
    [
        (0.5, 32768),
        (1.0, 65535),
        (1.5, 65535),
        (999.0, 65535),
        (10_000.0, 10_000),
        (0.003, 65535),
        (65535.0, 65535),
        (100_000.0, 65535),
    ],
)
def test_white_is_65535_and_without_a_white_level_no_colour_is_lost(brightest, expected):
    cells = np.full((64, 64, 3), brightest, np.float32) * np.float32([0.5, 1, 0.75])
    stored = quantised(cells)
    assert stored.dtype == np.uint16
    assert stored[0, 0, 1] == expected
    assert_shows(stored, (2, 4, 3), NONE)
