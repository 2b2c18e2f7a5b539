import json

import numpy as np
import pytest
from miniature import WILD, assert_shows, cells, lit, write_png

from greycard import GreycardError
from greycard.datasets import own_pictures, packed
from greycard.datasets.pack import pack
from greycard.datasets.picture import thumbnail_and_light
from greycard.illuminant import unit

LIGHT = (2, 4, 3)
NONE = np.zeros((64, 64), bool)


def rows(folder, text):
    (folder / "labels.csv").write_text(text)
    return own_pictures.listing(folder)


def test_a_table_of_lights_has_the_known_answer(tmp_path):
    pixels = lit(LIGHT, black=64)
    pixels[20:22, 30:32] = 4000
    pixels[60, 60] = 4000
    write_png(tmp_path / "day" / "a.png", pixels)
    np.save(tmp_path / "b.npy", lit((1, 2, 1)).astype(np.float32) / 2000)
    listing = rows(
        tmp_path,
        "file, camera, r, g, b, black, white, fold, scene_fold\n"
        "day/a.png, Alpha One, 0.2, 0.4, 0.3, 64, 4000, 0, 2\n"
        "b.npy, Beta Two, 1, 2, 1, , , , \n",
    )
    assert listing.problems == []
    first, second = listing.pictures
    assert (first.name, first.camera, first.black, first.white) == ("day/a.png", "Alpha One", 64, 4000)
    assert (first.fold, first.scene_fold) == (0, 2)
    assert (second.camera, second.black, second.white, second.fold, second.scene_fold) == ("Beta Two", 0, None, -1, -1)
    found, light = thumbnail_and_light(first)
    assert_shows(found, LIGHT, cells(rows=(10, 11), columns=(15, 16)))
    np.testing.assert_allclose(light, unit(LIGHT))
    assert_shows(thumbnail_and_light(second)[0], (1, 2, 1), NONE)


def test_a_table_of_grey_patches_has_the_known_answer(tmp_path):
    pixels = lit(LIGHT, black=64)
    pixels[20:30, 40:60] = np.array(LIGHT) * 300 + 64
    pixels[20, 40] = np.array(WILD)  # a mark on the card: inside the box, so it is hidden with it
    write_png(tmp_path / "a.png", pixels)
    (picture,) = rows(
        tmp_path, "file,camera,left,top,right,bottom,black,white\na.png,Alpha One,41,21,60,30,64,4000\n"
    ).pictures
    found, light = thumbnail_and_light(picture)
    np.testing.assert_allclose(light, unit(LIGHT))
    assert not found[11:15, 21:30].any()
    picture = rows(tmp_path, "file,camera,left,top,right,bottom\na.png,Alpha One,100,20,200,30\n").pictures[0]
    with pytest.raises(GreycardError, match=r"a\.png: the grey patch 100,20,200,30 is not inside the picture"):
        thumbnail_and_light(picture)


def test_rows_that_cannot_be_used_are_told_with_their_line(tmp_path):
    listing = rows(
        tmp_path,
        "file,camera,r,g,b,left,top,right,bottom,fold\n"
        "a.png,Alpha One,1,2,1,,,,,\n"
        "b.png,Alpha One,1,2,,,,,,\n"
        "c.png,Alpha One,red,2,1,,,,,\n"
        "d.png,,1,2,1,,,,,\n"
        "e.png\n"
        "f.png,Alpha One,1,2,1,,,,,first\n"
        "g.png,Alpha One,,,,0,0,9,9,1\n",
    )
    assert [picture.name for picture in listing.pictures] == ["a.png", "g.png"]
    assert [problem.split("labels.csv: ")[1].split(":")[0] for problem in listing.problems] == [
        "line 3",
        "line 4",
        "line 5",
        "line 6",
        "line 7",
    ]
    assert "expected r, g, b, or left, top, right, bottom of a grey patch" in listing.problems[0]
    assert "could not convert string to float: 'red'" in listing.problems[1]
    assert "expected a file and a camera" in listing.problems[2]


def test_a_table_without_its_columns_or_a_missing_one_is_refused(tmp_path):
    with pytest.raises(GreycardError, match=r"labels\.csv: is missing"):
        own_pictures.listing(tmp_path)
    with pytest.raises(GreycardError, match=r"labels\.csv: has no column camera; found file, r, g, b"):
        rows(tmp_path, "file,r,g,b\na.png,1,2,1\n")


def test_real_pictures_pack_to_the_thumbnails_that_are_known(tmp_path, data_folder):
    originals = data_folder / "originals"
    entries = json.loads((originals / "illuminants.json").read_text())
    lines = [
        ",".join(map(str, (originals / entry["file"], entry["camera"], *entry["illuminant"], "inf")))
        for entry in entries
    ]
    listing = rows(tmp_path, "\n".join(["file,camera,r,g,b,white", *lines]))
    report = pack(listing.pictures, tmp_path / "real.npz", workers=1)
    assert (report.packed, report.failures) == (21, [])
    found = packed.load(tmp_path / "real.npz")
    known = packed.concatenate([packed.load(data_folder / f"{name}.npz") for name in ("gehler_shi", "nus8")])
    stems = [name.rsplit(".", 1)[0] for name in known.names]
    for row, entry in enumerate(entries):
        stem = entry["file"].removeprefix("gehler_shi_").removeprefix("nus8_").removesuffix(".png")
        other = stems.index(stem)
        assert found.cameras[row] == known.cameras[other]
        np.testing.assert_allclose(found.illuminants[row], known.illuminants[other], atol=1e-5)
        np.testing.assert_array_equal(found.images[row].any(axis=-1), known.images[other].any(axis=-1))
        np.testing.assert_allclose(found.images[row].astype(int), known.images[other].astype(int), atol=1)
