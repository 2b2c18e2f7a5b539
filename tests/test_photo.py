import struct
import zlib
from dataclasses import replace

import imagecodecs
import numpy as np
import pytest
import tifffile

from greycard import GreycardError, photo


@pytest.fixture
def pixels():
    return np.random.default_rng(0).integers(100, 60_000, (40, 50, 3), dtype=np.uint16)


def png_with_chunk(path, pixels, kind, content):
    """A PNG with one more chunk after its header."""
    data = bytes(imagecodecs.png_encode(pixels))
    chunk = struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    path.write_bytes(data[:33] + chunk + data[33:])
    return path


def icc(curve):
    """A minimal ICC profile with one tag, the red tone curve."""
    table = struct.pack(">I4sII", 1, b"rTRC", 144, len(curve))
    return bytes(128) + table + curve


LINEAR = icc(b"curv" + bytes(4) + struct.pack(">I", 0))
LINEAR_PARAMETRIC = icc(b"para" + bytes(8) + struct.pack(">I", 0x10000))
LINEAR_TABLE = icc(b"curv" + bytes(4) + struct.pack(">IHH", 2, 0, 65535))
GAMMA = icc(b"curv" + bytes(4) + struct.pack(">IH", 1, 0x0233))


def test_sixteen_bit_png_and_tiff_and_npy_hold_the_same(tmp_path, pixels):
    (tmp_path / "a.png").write_bytes(imagecodecs.png_encode(pixels))
    tifffile.imwrite(tmp_path / "a.tif", pixels, photometric="rgb")
    tifffile.imwrite(tmp_path / "planar.tiff", np.moveaxis(pixels, -1, 0), photometric="rgb", planarconfig="separate")
    np.save(tmp_path / "a.npy", (pixels / 65535).astype(np.float32))
    for name in ("a.png", "a.tif", "planar.tiff"):
        read = photo.read(tmp_path / name)
        np.testing.assert_array_equal(read.pixels, pixels)
        np.testing.assert_array_equal(read.white, 65535)
    read = photo.read(tmp_path / "a.npy")
    np.testing.assert_allclose(read.pixels, pixels / 65535, rtol=1e-6)
    np.testing.assert_array_equal(read.white, 1)


def test_float_tiff_saturates_at_one(tmp_path, pixels):
    tifffile.imwrite(tmp_path / "a.tif", (pixels / 65535).astype(np.float32), photometric="rgb")
    np.testing.assert_array_equal(photo.read(tmp_path / "a.tif").white, 1)


def test_an_alpha_channel_is_dropped(tmp_path, pixels):
    with_alpha = np.concatenate([pixels, np.full((40, 50, 1), 65535, np.uint16)], axis=-1)
    (tmp_path / "a.png").write_bytes(imagecodecs.png_encode(with_alpha))
    np.testing.assert_array_equal(photo.read(tmp_path / "a.png").pixels, pixels)


@pytest.mark.parametrize(
    ("make", "model", "expected"),
    [
        ("Canon", "Canon EOS 5D", "Canon EOS 5D"),
        ("SONY", "SLT-A57", "SONY SLT-A57"),
        ("OLYMPUS IMAGING CORP.", "E-PL6", "OLYMPUS E-PL6"),
        ("NIKON CORPORATION", "NIKON D5200", "NIKON D5200"),
    ],
)
def test_the_camera_comes_from_the_file(tmp_path, pixels, make, model, expected):
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, pixels, photometric="rgb", extratags=[(271, 2, 0, make, True), (272, 2, 0, model, True)])
    assert photo.read(path).camera == expected


@pytest.mark.parametrize(
    ("kind", "content", "reason"),
    [
        (b"sRGB", b"\0", "says that it is sRGB"),
        (b"gAMA", struct.pack(">I", 45455), r"gamma 1/2\.20"),
        (b"iCCP", b"profile\0\0" + zlib.compress(GAMMA), "ICC profile"),
        (b"cICP", bytes([1, 13, 0, 1]), "cICP"),
    ],
)
def test_metadata_that_names_a_gamma_is_a_reason_to_refuse(tmp_path, pixels, kind, content, reason):
    path = png_with_chunk(tmp_path / "a.png", pixels, kind, content)
    with pytest.raises(GreycardError, match=f"a.png.*{reason}.*--assume-srgb"):
        photo.read(path)
    assert photo.read(path, assume_srgb=True).pixels.dtype == np.float32


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        (b"gAMA", struct.pack(">I", 100_000)),
        (b"iCCP", b"profile\0\0" + zlib.compress(LINEAR)),
        (b"iCCP", b"profile\0\0" + zlib.compress(LINEAR_PARAMETRIC)),
        (b"iCCP", b"profile\0\0" + zlib.compress(LINEAR_TABLE)),
        (b"cICP", bytes([1, 8, 0, 1])),
        (b"tEXt", b"Comment\0sRGB"),
    ],
)
def test_metadata_that_says_linear_is_accepted(tmp_path, pixels, kind, content):
    np.testing.assert_array_equal(photo.read(png_with_chunk(tmp_path / "a.png", pixels, kind, content)).pixels, pixels)


def test_an_icc_profile_in_a_tiff_is_looked_at(tmp_path, pixels):
    for profile, linear in ((GAMMA, False), (LINEAR, True)):
        tifffile.imwrite(tmp_path / "a.tif", pixels, photometric="rgb", iccprofile=profile)
        if linear:
            assert photo.read(tmp_path / "a.tif").pixels.shape == (40, 50, 3)
        else:
            with pytest.raises(GreycardError, match="ICC profile"):
                photo.read(tmp_path / "a.tif")


@pytest.mark.parametrize("suffix", ["png", "tif"])
def test_eight_bits_are_refused_unless_the_gamma_is_undone_knowingly(tmp_path, suffix):
    grey = np.full((20, 20, 3), 188, np.uint8)
    path = tmp_path / f"a.{suffix}"
    if suffix == "png":
        path.write_bytes(imagecodecs.png_encode(grey))
    else:
        tifffile.imwrite(path, grey, photometric="rgb")
    with pytest.raises(GreycardError, match=f"a.{suffix}: holds 8-bit values"):
        photo.read(path)
    # sRGB 188 is 0.5029 in linear light.
    np.testing.assert_allclose(photo.read(path, assume_srgb=True).pixels, 0.5029, atol=1e-4)


@pytest.mark.parametrize(
    ("pixels", "options", "message"),
    [
        (np.ones((10, 10)), {}, r"shape \(height, width, 3\), got \(10, 10\)"),
        (np.ones((10, 10, 4)), {}, "height, width, 3"),
        (np.ones((0, 10, 3)), {}, "height, width, 3"),
        (np.ones((10, 10, 3), np.uint16), {}, "uint16 integers.*white="),
        (np.ones((10, 10, 3), np.uint8), {}, "8-bit.*assume_srgb"),
        (np.ones((10, 10, 3), np.uint8), {"white": 255}, "8-bit.*assume_srgb"),
        (np.full((10, 10, 3), 52428.0), {}, "above the white level of 1, values reach 52428; give.*white="),
        ([[[1, 2, 3]], [[1, 2]]], {}, "not an array of numbers"),
        (np.ones((10, 10, 3)), {"black": "abc"}, "black must be one number or three"),
        (np.ones((10, 10, 3)), {"white": [np.inf, 1000, 1000]}, "inf for all channels"),
        (np.full((10, 10, 3), np.nan), {}, "NaN"),
        (np.full((10, 10, 3), -0.1), {}, "negative values.*black="),
        (np.full((10, 10, 3), "x"), {}, "expected numbers"),
        (np.ones((10, 10, 3)), {"black": 2.0, "white": 1.0}, "must be above black"),
        (np.ones((10, 10, 3)), {"black": [1, 2]}, "black must be one number or three"),
        (np.ones((10, 10, 3)), {"mask": np.zeros((5, 5), bool)}, "mask must be"),
    ],
)
def test_wrong_arrays_are_refused_with_the_way_out(pixels, options, message):
    with pytest.raises(GreycardError, match=message):
        photo.from_array(pixels, **options)


def test_arrays_can_be_srgb_knowingly():
    grey = np.full((20, 20, 3), 188, np.uint8)
    np.testing.assert_allclose(photo.from_array(grey, assume_srgb=True).pixels, 0.5029, atol=1e-4)
    np.testing.assert_allclose(photo.from_array(grey / 255, assume_srgb=True).pixels, 0.5029, atol=1e-4)


def test_levels_mean_nothing_for_an_srgb_picture():
    grey = np.full((20, 20, 3), 30_000, np.uint16)
    for wrong in ({"white": 60_000}, {"black": 2048}):
        with pytest.raises(GreycardError, match="sRGB has no black"):
            photo.from_array(grey, assume_srgb=True, **wrong)
    with pytest.raises(GreycardError, match="int64"):
        photo.from_array(grey.astype(np.int64), assume_srgb=True)


def test_a_tiff_of_twelve_bits_saturates_there(tmp_path, pixels):
    tifffile.imwrite(tmp_path / "a.tif", pixels >> 4, photometric="rgb", bitspersample=12, compression=None)
    read = photo.read(tmp_path / "a.tif")
    np.testing.assert_array_equal(read.pixels, pixels >> 4)
    np.testing.assert_array_equal(read.white, 4095)


def test_byte_order_does_not_matter(tmp_path, pixels):
    np.save(tmp_path / "a.npy", pixels.astype(">u2"))
    read = photo.read(tmp_path / "a.npy")
    np.testing.assert_array_equal(read.pixels, pixels)
    np.testing.assert_array_equal(read.white, 65535)


@pytest.mark.parametrize("photometric", ["separated", "cielab", "ycbcr"])
def test_tiffs_of_other_colours_are_refused(tmp_path, pixels, photometric):
    inks = np.concatenate([pixels, pixels[..., :1]], axis=-1) if photometric == "separated" else pixels
    tifffile.imwrite(tmp_path / "a.tif", inks, photometric=photometric, planarconfig="contig")
    with pytest.raises(GreycardError, match="three channels of linear RGB"):
        photo.read(tmp_path / "a.tif")


def test_a_transfer_function_in_a_tiff_is_looked_at(tmp_path, pixels):
    for gamma in (1.0, 1 / 2.2):
        curve = (np.linspace(0, 1, 256) ** gamma * 65535).astype(np.uint16)
        table = np.tile(curve, 3)
        tifffile.imwrite(tmp_path / "a.tif", pixels, photometric="rgb", extratags=[(301, 3, len(table), table, True)])
        if gamma == 1:
            assert photo.read(tmp_path / "a.tif").pixels.shape == (40, 50, 3)
        else:
            with pytest.raises(GreycardError, match="transfer function"):
                photo.read(tmp_path / "a.tif")


def bomb(path):
    """A PNG whose header claims 10^6 x 10^6 pixels."""
    header = struct.pack(">IIBBBBB", 10**6, 10**6, 16, 2, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + struct.pack(">I", 13)
        + b"IHDR"
        + header
        + struct.pack(">I", zlib.crc32(b"IHDR" + header))
    )


def test_broken_and_foreign_files_get_one_clear_line(tmp_path, pixels):
    whole = bytes(imagecodecs.png_encode(pixels))
    (tmp_path / "cut.png").write_bytes(whole[:200])
    (tmp_path / "empty.png").write_bytes(b"")
    (tmp_path / "renamed.png").write_bytes(b"GIF89a" + bytes(100))
    (tmp_path / "text.tif").write_text("hello")
    (tmp_path / "photo.jpg").write_bytes(bytes(10))
    (tmp_path / "grey.png").write_bytes(imagecodecs.png_encode(pixels[..., 0].copy()))
    np.savez(tmp_path / "set.npz", images=pixels)
    np.save(tmp_path / "pickle.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    np.save(tmp_path / "vector.npy", np.ones(7))
    bomb(tmp_path / "bomb.png")
    expected = {
        "cut.png": "cannot be decoded",
        "empty.png": "is empty",
        "renamed.png": "is not a PNG",
        "text.tif": "cannot be decoded",
        "photo.jpg": "cannot read .jpg",
        "grey.png": "three colour channels",
        "set.npz": "packed data set",
        "pickle.npy": "cannot be decoded",
        "vector.npy": "shape \\(height, width, 3\\)",
        "x" * 3000 + ".png": "cannot be read",
        "bomb.png": "claims 1000000 x 1000000",
        "absent.png": "no such file",
    }
    for name, message in expected.items():
        with pytest.raises(GreycardError, match=message) as caught:
            photo.read(tmp_path / name)
        assert name in str(caught.value)
        assert "\n" not in str(caught.value)


def test_names_may_hold_any_letters(tmp_path, pixels):
    path = tmp_path / "Größe 写真.png"
    path.write_bytes(imagecodecs.png_encode(pixels))
    np.testing.assert_array_equal(photo.read(path).pixels, pixels)


@pytest.mark.parametrize(
    "options", [{"black": 100}, {"white": 4095}, {"mask": np.zeros((2, 2), bool)}, {"assume_srgb": True}]
)
def test_a_raw_file_brings_its_own_levels(tmp_path, options):
    with pytest.raises(GreycardError, match=r"a\.dng: a RAW file brings its own levels"):
        photo.read(tmp_path / "a.dng", **options)


def test_a_crop_holds_the_pixels_of_its_region(pixels):
    mask = np.zeros((40, 50), bool)
    mask[15, 20] = True
    whole = photo.from_array(pixels, black=10, white=65535, mask=mask, name="whole")
    part = photo.crop(whole, (0.2, 0.25, 0.6, 0.5))
    np.testing.assert_array_equal(part.pixels, pixels[10:20, 10:30])
    np.testing.assert_array_equal(np.argwhere(part.mask), [[5, 10]])
    np.testing.assert_array_equal(part.black, 10)
    np.testing.assert_array_equal(part.white, 65535)
    assert part.name == "whole"
    assert photo.crop(replace(whole, mask=None), (0.2, 0.25, 0.6, 0.5)).mask is None
    np.testing.assert_array_equal(photo.crop(whole, (0, 0, 1, 1)).pixels, pixels)


def test_a_crop_has_the_shading_of_its_region(pixels):
    centres = ((np.arange(64) + 0.5) / 64).astype(np.float32)
    gains = np.broadcast_to(1 + centres[:, None, None] + 2 * centres[None, :, None], (64, 64, 3))
    whole = replace(photo.from_array(pixels, white=65535), shading=gains)
    part = photo.crop(whole, (0.2, 0.25, 0.6, 0.5)).shading
    down, across = 0.25 + 0.25 * centres, 0.2 + 0.4 * centres
    np.testing.assert_allclose(part[..., 1], 1 + down[:, None] + 2 * across[None], rtol=1e-5)
    np.testing.assert_allclose(photo.crop(whole, (0, 0, 1, 1)).shading, gains, rtol=1e-6)


@pytest.mark.parametrize("region", [(0.5, 0.5, 0.501, 0.501), (0.999, 0.999, 1, 1), (0, 0, 1e-9, 1e-9)])
def test_the_smallest_crop_is_a_pixel(pixels, region):
    assert photo.crop(photo.from_array(pixels, white=65535), region).pixels.shape == (1, 1, 3)


@pytest.mark.parametrize(
    "region",
    [
        (0.5, 0, 0.5, 1),
        (0.6, 0, 0.5, 1),
        (0, 0.6, 1, 0.5),
        (-0.1, 0, 1, 1),
        (0, 0, 1, 1.1),
        (10, 10, 20, 20),
        (np.nan, 0, 1, 1),
    ],
)
def test_a_crop_outside_of_the_picture_is_refused(pixels, region):
    with pytest.raises(GreycardError, match="region: expected left,top,right,bottom as fractions from 0 to 1"):
        photo.crop(photo.from_array(pixels, white=65535), region)
