import numpy as np
import pytest
from miniature import WILD, assert_shows, cells, lit, write_png

from greycard import GreycardError
from greycard.datasets import cube_plus_plus
from greycard.datasets.picture import thumbnail_and_light
from greycard.illuminant import unit

LIGHTS = ((2, 4, 3), (3, 4, 2))
# The corner of 700 x 1000 pixels begins at pixel 93 and 54 of 128.
HIDDEN = cells(rows=(27, 64), columns=(46, 64)) | cells(rows=(10, 11), columns=(10, 11))


def write_pictures(folder, corner):
    for number, light in enumerate(LIGHTS, start=1):
        pixels = lit(light, black=2048, seed=number)
        pixels[54:, 93:] = corner
        pixels[20:22, 20:22] = 6000
        write_png(folder / "PNG" / f"00_000{number}.png", pixels)


@pytest.fixture
def whole(tmp_path):
    write_pictures(tmp_path, np.array(WILD) + 2048)
    write_png(tmp_path / "PNG" / "00_0003.png", lit((1, 1, 1)))
    (tmp_path / "gt.csv").write_text(
        "image,mean_r,mean_g,mean_b,left_r,left_g,left_b\n"
        "00_0001,0.2,0.4,0.3,0.9,0.05,0.05\n"
        "00_0003,,,,0.9,0.05,0.05\n"
        "00_0002,0.3,0.4,0.2,0.9,0.05,0.05\n"
    )
    (tmp_path / "properties.csv").write_text("image,EXIF:ISO,EXIF:Model\n00_0002,100,Canon EOS 600D\n")
    return tmp_path


@pytest.fixture
def simple(tmp_path):
    for part in ("train", "test"):
        write_pictures(tmp_path / part, 0)
        (tmp_path / part / "gt.csv").write_text("image,r,g,b\n00_0001,0.2,0.4,0.3\n00_0002,0.3,0.4,0.2\n")
    return tmp_path


def assert_known_answer(pictures):
    for picture, light in zip(pictures, LIGHTS * 2, strict=False):
        found, label = thumbnail_and_light(picture)
        assert_shows(found, light, HIDDEN)
        np.testing.assert_allclose(label, unit(light))


def test_the_whole_set_has_the_known_answer_where_the_light_is_single(whole):
    listing = cube_plus_plus.listing(whole)
    assert [picture.name for picture in listing.pictures] == ["00_0001.png", "00_0002.png"]
    assert [picture.camera for picture in listing.pictures] == ["Canon EOS 550D", "Canon EOS 600D"]
    assert {(picture.black, picture.white_below_maximum) for picture in listing.pictures} == {(2048, 2)}
    assert listing.problems == [f"{whole / 'PNG' / '00_0003.png'}: has no single light in gt.csv"]
    assert_known_answer(listing.pictures)


@pytest.mark.parametrize("columns", ["r,g,b", "mean_r,mean_g,mean_b"])
def test_simple_cube_has_the_known_answer_in_both_parts(simple, columns):
    for path in simple.glob("*/gt.csv"):
        path.write_text(path.read_text().replace("r,g,b", columns))
    listing = cube_plus_plus.listing(simple)
    assert listing.problems == []
    assert [picture.name for picture in listing.pictures] == [
        "train/00_0001.png",
        "train/00_0002.png",
        "test/00_0001.png",
        "test/00_0002.png",
    ]
    assert_known_answer(listing.pictures)


def test_blocks_of_thirty_take_turns(whole):
    rows = "".join(f"01_{number:04d},1,2,1\n" for number in range(91))
    (whole / "gt.csv").write_text("image,mean_r,mean_g,mean_b\n" + rows)
    folds = [picture.fold for picture in cube_plus_plus.listing(whole).pictures]
    assert folds == [0] * 30 + [1] * 30 + [2] * 30 + [0]


def test_a_picture_without_a_label_is_told(simple):
    (simple / "test" / "gt.csv").write_text("image,r,g,b\n00_0002,0.3,0.4,0.2\n")
    listing = cube_plus_plus.listing(simple)
    assert len(listing.pictures) == 3
    assert listing.problems == [f"{simple / 'test' / 'PNG' / '00_0001.png'}: has no label in gt.csv"]


def test_tables_that_do_not_fit_are_refused(whole):
    for content, message in [
        ("image,mean_r,mean_g,mean_b\n00_0001,a,b,c\n", "line 2: expected numbers"),
        (
            "image,left_r,left_g,left_b\n00_0001,1,2,1\n",
            "expected rows with the columns mean_r, mean_g, mean_b or r, g, b",
        ),
        ("name,mean_r,mean_g,mean_b\n00_0001,1,2,1\n", "has no column image"),
        ("", "has no column image"),
    ]:
        (whole / "gt.csv").write_text(content)
        with pytest.raises(GreycardError, match=rf"gt\.csv: {message}"):
            cube_plus_plus.listing(whole)
    (whole / "gt.csv").unlink()
    with pytest.raises(GreycardError, match=r"gt\.csv: is missing"):
        cube_plus_plus.listing(whole)
