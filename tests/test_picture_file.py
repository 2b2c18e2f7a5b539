from concurrent.futures import ThreadPoolExecutor

import imagecodecs
import numpy as np
import pytest
import tifffile

from greycard import GreycardError, metadata, photo, picture_file
from greycard.metadata import Metadata

PICTURE = np.random.default_rng(0).integers(0, 256, (20, 31, 3), dtype=np.uint8)
ABOUT = Metadata(make="Alpha", model="One", iso=200)


def test_a_png_has_its_pixels_its_metadata_and_says_that_it_is_srgb(tmp_path):
    path = tmp_path / "Bild ä.png"
    picture_file.write(path, PICTURE, "png", ABOUT)
    data = path.read_bytes()
    np.testing.assert_array_equal(imagecodecs.png_decode(data), PICTURE)
    chunks = dict(photo._png_chunks(data, path))
    assert chunks[b"eXIf"] == metadata.exif(ABOUT)
    assert chunks[b"sRGB"] == b"\0"


def test_a_jpeg_has_its_pixels_and_an_exif_block(tmp_path):
    smooth = np.broadcast_to(np.linspace(20, 200, 64).astype(np.uint8)[:, None, None], (64, 48, 3))
    picture_file.write(tmp_path / "a.jpg", smooth, "jpeg", ABOUT)
    data = (tmp_path / "a.jpg").read_bytes()
    assert data[2:4] == b"\xff\xe1"
    assert data[6:].startswith(b"Exif\0\0" + metadata.exif(ABOUT))
    assert np.abs(imagecodecs.jpeg8_decode(data).astype(int) - smooth).max() <= 2


def test_a_tiff_has_sixteen_bits_and_is_not_taken_for_linear(tmp_path):
    path = tmp_path / "a.tif"
    deep = PICTURE.astype(np.uint16) * 257
    picture_file.write(path, deep.swapaxes(0, 1), "tiff", ABOUT)
    np.testing.assert_array_equal(tifffile.imread(path), deep.swapaxes(0, 1))
    assert metadata.read(path) == ABOUT
    with pytest.raises(GreycardError, match=r"a\.tif: its metadata says that it is sRGB"):
        photo.read(path)


def test_a_picture_too_large_for_its_format_is_refused(tmp_path):
    with pytest.raises(GreycardError, match=r"a\.jpg: a JPEG has at most 65500 pixels"):
        picture_file.write(tmp_path / "a.jpg", np.zeros((1, 65_501, 3), np.uint8), "jpeg", ABOUT)
    assert list(tmp_path.iterdir()) == []


def test_two_runs_at_once_leave_a_whole_picture(tmp_path):
    path = tmp_path / "a.png"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda shade: picture_file.write(path, np.full_like(PICTURE, shade), "png", ABOUT), range(16)))
    assert np.ptp(imagecodecs.png_decode(path.read_bytes())) == 0
    assert list(tmp_path.iterdir()) == [path]
