import io
from datetime import datetime

import numpy as np
import pytest
import tifffile

from conftest import write_dng
from greycard import metadata
from greycard.metadata import Metadata

FULL = Metadata(
    make="Alpha",
    model="Eins ä",
    lens="50 mm",
    taken=datetime(2026, 5, 4, 3, 2, 1),
    seconds=1 / 455,
    f_number=2.8,
    iso=100,
    focal_length=50.0,
    artist="A. Maler",
    rights="mine",
)


def tags_of(block):
    with tifffile.TiffFile(io.BytesIO(block)) as file:
        return {tag.code: tag.value for tag in file.pages.first.tags}


def test_what_is_written_is_read_back(tmp_path):
    pixels = np.arange(2 * 3 * 3, dtype="<u2").reshape(2, 3, 3)
    size = [(256, 4, 3), (257, 4, 2), (258, 3, (16, 16, 16)), (259, 3, 1), (262, 3, 2), (273, 4, 0), (277, 3, 3)]
    path = tmp_path / "a.tif"
    path.write_bytes(metadata.exif(FULL, [*size, (278, 4, 2), (279, 4, 36)], pixels.tobytes()))
    found = metadata.read(path)
    assert found.seconds == pytest.approx(1 / 455, rel=1e-4)
    assert found == Metadata(**{**vars(FULL), "seconds": found.seconds})
    np.testing.assert_array_equal(tifffile.imread(path), pixels)


def test_a_block_without_anything_says_what_made_it_and_that_it_is_srgb():
    tags = tags_of(metadata.exif(Metadata()))
    assert tags[305].startswith("greycard")
    assert tags[274] == 1
    assert tags[34665]["ColorSpace"] == 1
    assert 271 not in tags


@pytest.mark.parametrize(("orientation", "flip"), [(1, 0), (2, 1), (3, 3), (4, 2), (5, 4), (6, 6), (7, 7), (8, 5)])
def test_orientations_are_libraws_flips(tmp_path, orientation, flip):
    import rawpy

    path = write_dng(tmp_path / "a.dng", np.full((64, 80), 100, np.uint16), tags={274: (3, 1, orientation)})
    assert metadata.read(path).flip == flip
    with rawpy.imread(str(path)) as raw:
        assert raw.sizes.flip == flip


def test_nonsense_in_a_file_is_left_out(tmp_path):
    tags = {306: (2, 0, "yesterday"), 274: (3, 1, 77), 315: (2, 0, "  ")}
    found = metadata.read(write_dng(tmp_path / "a.dng", np.full((16, 20), 100, np.uint16), tags=tags))
    assert found == Metadata(make="Alpha", model="One")


@pytest.mark.parametrize("name", ["a.png", "a.npy", "a.cr3", "a.tif", "a.dng"])
def test_a_file_that_tells_nothing_is_no_reason_to_fail(tmp_path, name):
    (tmp_path / name).write_bytes(b"nothing at all")
    assert metadata.read(tmp_path / name) == Metadata()


def test_real_files_tell_when_they_were_taken(raw_folder):
    found = metadata.read(raw_folder / "canon_eos_6d_linear.dng")
    assert (found.make, found.model, found.lens) == ("Canon", "Canon EOS 6D", "EF24-105mm f/4L IS USM")
    assert (found.taken, found.iso, found.f_number) == (datetime(2019, 6, 6, 7, 29, 51), 1000, 5.6)
    assert metadata._from_libraw(raw_folder / "canon_eos_6d_linear.dng").taken == found.taken
