import numpy as np
import pytest
import tifffile
from miniature import assert_shows, cells, lit

from greycard import GreycardError
from greycard.datasets import intel_tau
from greycard.datasets.picture import thumbnail_and_light
from greycard.illuminant import unit

PICTURES = {
    "Canon_5DSR/field_1_cameras/Canon5DSR_1.tiff": (2, 4, 3),
    "Canon_5DSR/lab_printouts/Canon5DSR_12.tiff": (3, 4, 2),
    "Nikon_D810/field_3_cameras/D810_1034.tiff": (1, 2, 1),
    "Sony_IMX135_BLCCSC/lab_realscene/IMX135_7.tiff": (4, 4, 3),
}


@pytest.fixture
def folder(tmp_path):
    for seed, (name, light) in enumerate(PICTURES.items()):
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        pixels = lit(light, brightest=14_000, seed=seed)
        pixels[20:22, 30:32] = 65535
        pixels[60, 60] = 65535
        tifffile.imwrite(path, pixels, photometric="rgb")
        stem, number = path.stem.split("_")
        path.with_name(f"{stem}_{int(number):03d}.wp").write_text("{} {} {}\n".format(*light))
    (tmp_path / "info").mkdir()
    return tmp_path


def test_a_miniature_has_the_known_answer(folder):
    listing = intel_tau.listing(folder)
    assert listing.problems == []
    assert [picture.name for picture in listing.pictures] == list(PICTURES)
    assert [picture.camera for picture in listing.pictures] == ["Canon EOS 5DS R"] * 2 + ["Nikon D810", "Sony IMX135"]
    assert {(picture.black, picture.white, picture.fold) for picture in listing.pictures} == {(0, None, -1)}
    for picture, light in zip(listing.pictures, PICTURES.values(), strict=True):
        found, label = thumbnail_and_light(picture)
        assert_shows(found, light, cells(rows=(10, 11), columns=(15, 16)))
        np.testing.assert_allclose(label, unit(light))


def test_folds_are_the_lists_with_windows_paths(folder):
    (folder / "splits").mkdir()
    first = r"y:\Intel-TAU_v3\Canon_5DSR\field_1_cameras\Canon5DSR_001.plain16" "\n"
    second = r"y:\Intel-TAU_v3\Nikon_D810\field_3_cameras\D810_1034.plain16" "\n"
    third = r"y:\Intel-TAU_v3\Sony_IMX135_BLCCSC\lab_realscene\IMX135_007.plain16" "\n"
    (folder / "splits" / "Intel-TAU_v3_filelist_subset01.txt").write_text(first + third)
    (folder / "splits" / "Intel-TAU_v3_filelist_subset10.txt").write_text(second)
    assert [picture.fold for picture in intel_tau.listing(folder).pictures] == [0, -1, 9, 0]
    (folder / "splits" / "Intel-TAU_v3_filelist_subset02.txt").write_bytes(b"\xff\xfe\x80")
    with pytest.raises(GreycardError, match=r"subset02\.txt: cannot be read as text"):
        intel_tau.listing(folder)


def test_white_points_that_do_not_fit_are_told_and_the_rest_goes_on(folder):
    (folder / "Canon_5DSR" / "field_1_cameras" / "Canon5DSR_001.wp").unlink()
    (folder / "Canon_5DSR" / "lab_printouts" / "Canon5DSR_012.wp").write_text("warm white\n")
    (folder / "Nikon_D810" / "field_3_cameras" / "D810_1034.wp").write_text("1 2\n")
    listing = intel_tau.listing(folder)
    assert [picture.camera for picture in listing.pictures] == ["Sony IMX135"]
    missing, words, short = listing.problems
    assert "Canon5DSR_001.wp: is missing" in missing
    assert "Canon5DSR_012.wp: line 1: expected numbers, found 'warm white'" in words
    assert "D810_1034.wp: expected r g b, found 2 numbers" in short


def test_a_folder_of_another_camera_is_told(folder):
    (folder / "Leica_M9").mkdir()
    listing = intel_tau.listing(folder)
    assert len(listing.pictures) == 4
    assert "Leica_M9: is not one of the data set's cameras, Canon_5DSR, " in listing.problems[0]


def test_an_eight_bit_picture_is_refused(folder):
    picture = intel_tau.listing(folder).pictures[0]
    tifffile.imwrite(picture.path, lit((1, 2, 1), brightest=60).astype(np.uint8), photometric="rgb")
    with pytest.raises(GreycardError, match=r"Canon5DSR_1\.tiff: holds 8-bit values"):
        thumbnail_and_light(picture)


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(GreycardError, match="holds no folders; expected Canon_5DSR, Nikon_D810"):
        intel_tau.listing(tmp_path)
