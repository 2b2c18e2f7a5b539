import struct

import numpy as np
import pytest
import tifffile

from conftest import fractions, write_dng
from greycard import dng, photo
from greycard.illuminant import unit

SENSOR = np.full((32, 48), 500, np.uint16)
PLANES = np.full((32, 48, 3), 500, np.uint16)
WARM = np.array([[1.0, -0.4, -0.1], [0.1, 0.9, 0.0], [0.1, 0.1, 0.3]])
COOL = np.array([[0.7, -0.1, -0.1], [-0.4, 1.2, 0.2], [-0.1, 0.2, 0.6]])
X_TRANS = "GGRGGBGGBGGRBRGRBGGGBGGRGGRGGBRBGBRG"
CENTRES = (np.arange(64) + 0.5) / 64


def tags_of(folder, tags, stored=SENSOR, pattern="RGGB"):
    return dng.tags(write_dng(folder / "a.dng", stored, pattern=pattern, tags=tags))


def matrix(values):
    return (10, 9, fractions(values))


# Camera, white and matrices


def test_the_camera_is_make_and_model_or_else_its_unique_name(tmp_path):
    assert tags_of(tmp_path, {}).camera == "Alpha One"
    assert tags_of(tmp_path, {271: None}).camera == "One"
    assert tags_of(tmp_path, {271: None, 272: None}).camera == "Unique Alpha One"
    assert tags_of(tmp_path, {271: None, 272: None, 50708: None}).camera is None


@pytest.mark.parametrize("neutral", [(5, 3, fractions([0.5, 1, 0.6])), (3, 3, (5, 10, 6)), (11, 3, (0.5, 1.0, 0.6))])
def test_the_white_may_be_fractions_or_numbers(tmp_path, neutral):
    np.testing.assert_allclose(tags_of(tmp_path, {50728: neutral}).as_shot, unit([0.5, 1, 0.6]))


@pytest.mark.parametrize(
    "neutral", [None, (5, 3, [1, 1, 0, 1, 1, 1]), (5, 3, [1, 0, 1, 1, 1, 1]), (5, 2, [1, 1, 1, 1]), (2, 0, "white")]
)
def test_a_white_that_is_none_is_left_out(tmp_path, neutral):
    assert tags_of(tmp_path, {50728: neutral}).as_shot is None


def test_two_matrices_come_with_the_temperatures_of_their_lights(tmp_path):
    tags = {50721: matrix(WARM), 50722: matrix(COOL), 50778: (3, 1, 17), 50779: (3, 1, 21)}
    found = tags_of(tmp_path, tags)
    np.testing.assert_allclose(found.matrices.matrices, [WARM, COOL])
    assert found.matrices.calibrated_at == (2856, 6504)
    assert found.notes == ()


def test_balance_and_calibration_belong_to_the_matrix(tmp_path):
    first, second = np.diag([1.1, 1.0, 0.9]), np.array([[1, 0.1, 0], [0, 1, 0], [0, 0, 0.8]])
    balance = [2.0, 1.0, 1.5]
    tags = {
        **{50721: matrix(WARM), 50722: matrix(COOL), 50723: matrix(first), 50724: matrix(second)},
        **{50727: (5, 3, fractions(balance)), 50778: (3, 1, 17), 50779: (3, 1, 21)},
    }
    found = tags_of(tmp_path, tags).matrices.matrices
    np.testing.assert_allclose(found[0], np.diag(balance) @ first @ WARM, rtol=1e-6)
    np.testing.assert_allclose(found[1], np.diag(balance) @ second @ COOL, rtol=1e-6)


def test_without_a_matrix_there_is_none_and_nothing_to_say(tmp_path):
    found = tags_of(tmp_path, {50778: (3, 1, 17)})
    assert found.matrices is None
    assert found.notes == ()


@pytest.mark.parametrize(
    "wrong",
    [
        matrix(np.zeros((3, 3))),
        matrix(np.ones((3, 3))),
        matrix(-COOL),
        (10, 9, [1, 0] * 9),
        (10, 3, fractions([1, 1, 1])),
        (10, 12, fractions(np.ones(12))),
        (2, 0, "matrix"),
    ],
)
def test_a_matrix_that_cannot_be_used_is_said(tmp_path, wrong):
    found = tags_of(tmp_path, {50721: wrong, 50778: (3, 1, 21)})
    assert found.matrices is None
    assert len(found.notes) == 1
    assert "colour matrix in tag 50721 cannot be used" in found.notes[0]
    # The other one serves alone.
    found = tags_of(tmp_path, {50721: wrong, 50722: matrix(COOL), 50778: (3, 1, 17), 50779: (3, 1, 21)})
    np.testing.assert_allclose(found.matrices.matrices, [COOL])
    assert found.matrices.calibrated_at == ()
    assert len(found.notes) == 1


@pytest.mark.parametrize(
    "lights",
    [
        {},
        {50779: (3, 1, 21)},
        {50778: (3, 1, 255), 50779: (3, 1, 21)},
        {50778: (3, 1, 0), 50779: (3, 1, 0)},
        {50778: (3, 1, 21), 50779: (3, 1, 21)},
        {50778: (3, 2, (17, 21)), 50779: (3, 1, 21)},
    ],
)
def test_where_the_lights_are_not_known_the_second_matrix_serves_alone(tmp_path, lights):
    found = tags_of(tmp_path, {50721: matrix(WARM), 50722: matrix(COOL), **lights})
    np.testing.assert_allclose(found.matrices.matrices, [COOL])
    assert found.matrices.calibrated_at == ()
    assert "second colour matrix alone" in found.notes[0]


def test_one_matrix_needs_no_light(tmp_path):
    for light in ({}, {50778: (3, 1, 255)}, {50778: (3, 1, 21)}):
        found = tags_of(tmp_path, {50721: matrix(COOL), **light})
        np.testing.assert_allclose(found.matrices.matrices, [COOL])
        assert found.notes == ()


def test_tags_stand_in_the_first_directory_and_the_sensor_may_be_below_it(tmp_path):
    shading = opcodes(gain_map([[1.5]], pitch=1))
    usual = {50706: (1, 4, bytes([1, 4, 0, 0])), 272: (2, 0, "One"), 50721: matrix(COOL)}
    sensor = {33421: (3, 2, (2, 2)), 33422: (1, 4, bytes([0, 1, 1, 2])), 51009: (7, len(shading), shading)}
    with tifffile.TiffWriter(tmp_path / "a.dng") as file:
        for stored, kind, tags in ((PLANES.astype(np.uint8), "rgb", usual), (SENSOR, "cfa", sensor)):
            extra = [(code, *tag, True) for code, tag in sorted(tags.items())]
            file.write(stored, photometric=kind, metadata=None, extratags=extra, subifds=1 if kind == "rgb" else 0)
    found = dng.tags(tmp_path / "a.dng")
    assert found.camera == "One"
    np.testing.assert_allclose(found.matrices.matrices, [COOL])
    np.testing.assert_allclose(found.shading, 1.5)


def test_a_file_without_readable_tags_says_so(tmp_path):
    (tmp_path / "a.dng").write_text("hello")
    found = dng.tags(tmp_path / "a.dng")
    assert (found.camera, found.matrices, found.as_shot, found.shading) == (None, None, None, None)
    assert "tags cannot be read" in found.notes[0]


# Shading


def gain_map(points, *, at=(0, 0), pitch=2, plane=0, planes=1, spacing=None, origin=(0.0, 0.0)):
    """A GainMap opcode. points: (rows, columns[, planes]) over the whole picture unless spacing says otherwise."""
    points = np.asarray(points, np.float32)
    points = points.reshape(*points.shape[:2], -1)
    rows, columns, map_planes = points.shape
    if spacing is None:
        spacing = (1 / max(rows - 1, 1), 1 / max(columns - 1, 1))
    data = struct.pack(">10I", *at, 32, 48, plane, planes, pitch, pitch, rows, columns)
    data += struct.pack(">4dI", *spacing, *origin, map_planes) + points.astype(">f4").tobytes()
    return struct.pack(">4I", 9, 0x01030000, 0, len(data)) + data


def opcodes(*each):
    return struct.pack(">I", len(each)) + b"".join(each)


def shading_of(folder, content, stored=SENSOR, pattern="RGGB", code=51009):
    return tags_of(folder, {code: (7, len(content), content)}, stored, pattern).shading


def test_a_map_is_interpolated_at_the_centres_of_the_cells(tmp_path):
    down, across = np.linspace(0, 1, 3)[:, None], np.linspace(0, 1, 5)[None]
    shading = shading_of(tmp_path, opcodes(gain_map(1 + down + 0.5 * across)))
    assert shading.shape == (64, 64, 3)
    assert shading.dtype == np.float32
    np.testing.assert_allclose(shading[..., 0], 1 + CENTRES[:, None] + 0.5 * CENTRES[None], rtol=1e-6)


def test_between_four_points_the_map_is_bilinear(tmp_path):
    shading = shading_of(tmp_path, opcodes(gain_map([[1, 2], [3, 8]])))
    y, x = CENTRES[:, None], CENTRES[None]
    expected = (1 - y) * (1 - x) + 2 * (1 - y) * x + 3 * y * (1 - x) + 8 * y * x
    np.testing.assert_allclose(shading[..., 0], expected, rtol=1e-6)


def test_beyond_its_points_a_map_goes_on_as_at_its_edge(tmp_path):
    inner = gain_map([[1, 2], [1, 2]], spacing=(0.5, 0.5), origin=(0.25, 0.25))
    expected = 1 + np.clip((CENTRES - 0.25) / 0.5, 0, 1)
    np.testing.assert_allclose(
        shading_of(tmp_path, opcodes(inner))[..., 0], np.broadcast_to(expected, (64, 64)), rtol=1e-6
    )


@pytest.mark.parametrize("pattern", ["RGGB", "BGGR", "GRBG", "GBRG"])
def test_each_place_of_the_pattern_has_its_map(tmp_path, pattern):
    places = [(0, 0), (0, 1), (1, 0), (1, 1)]
    maps = [gain_map([[gain]], at=place) for place, gain in zip(places, (1.1, 1.2, 1.4, 1.8), strict=True)]
    shading = shading_of(tmp_path, opcodes(*maps), pattern=pattern)
    gains = np.array([1.1, 1.2, 1.4, 1.8])
    expected = [gains[[letter == colour for letter in pattern]].mean() for colour in "RGB"]
    np.testing.assert_allclose(shading[10, 20], expected, rtol=1e-6)


def test_a_channel_without_a_map_is_left_alone(tmp_path):
    shading = shading_of(tmp_path, opcodes(gain_map([[1.5]], at=(1, 1))))
    np.testing.assert_array_equal(shading[10, 20], [1, 1, 1.5])


def test_the_first_pixel_of_a_map_may_be_anywhere(tmp_path):
    shading = shading_of(tmp_path, opcodes(gain_map([[1.5]], at=(7, 9))))
    np.testing.assert_array_equal(shading[10, 20], [1, 1, 1.5])


@pytest.mark.parametrize("pattern", ["RGGB", X_TRANS])
def test_a_map_for_every_pixel_of_a_sensor_is_for_all_channels(tmp_path, pattern):
    shading = shading_of(tmp_path, opcodes(gain_map([[1.5]], pitch=1)), pattern=pattern)
    np.testing.assert_array_equal(shading[10, 20], [1.5, 1.5, 1.5])


def test_maps_for_the_same_pixels_are_multiplied(tmp_path):
    shading = shading_of(tmp_path, opcodes(gain_map([[1.5]], pitch=1), gain_map([[2]], at=(0, 0))))
    np.testing.assert_array_equal(shading[10, 20], [3, 1.5, 1.5])


@pytest.mark.parametrize("code", [51009, 51022])
def test_planes_have_maps_of_their_own_or_share_one(tmp_path, code):
    own = gain_map([[[1.1, 1.2, 1.3]]], pitch=1, planes=3)
    np.testing.assert_allclose(shading_of(tmp_path, opcodes(own), PLANES, code=code)[5, 5], [1.1, 1.2, 1.3])
    shared = gain_map([[1.5]], pitch=1, plane=1, planes=2)
    np.testing.assert_allclose(shading_of(tmp_path, opcodes(shared), PLANES, code=code)[5, 5], [1, 1.5, 1.5])


def test_the_third_list_is_about_planes_also_for_a_sensor_with_a_pattern(tmp_path):
    content = opcodes(gain_map([[1.5]], pitch=1, plane=2))
    np.testing.assert_allclose(shading_of(tmp_path, content, code=51022)[5, 5], [1, 1, 1.5])


def test_other_opcodes_are_passed_over(tmp_path):
    other = struct.pack(">4I", 8, 0x01030000, 0, 5) + b"\xff" * 5
    np.testing.assert_array_equal(shading_of(tmp_path, opcodes(other, gain_map([[1.5]], pitch=1)))[5, 5], 1.5)
    assert shading_of(tmp_path, opcodes(other)) is None


def test_without_a_list_there_is_no_shading(tmp_path):
    assert tags_of(tmp_path, {}).shading is None
    assert shading_of(tmp_path, opcodes()) is None


def damaged():
    whole = gain_map([[1, 2], [3, 4]], pitch=1)
    size = struct.pack(">4I", 9, 0x01030000, 0, len(whole) - 16)
    head, geometry, points = whole[16:56], whole[56:92], whole[92:]
    nan = float("nan")
    yield "too many claimed", struct.pack(">I", 2**32 - 1) + size[:12]
    yield "longer than the list", opcodes(struct.pack(">4I", 9, 0x01030000, 0, 2**32 - 1) + head)
    yield "absurd size", opcodes(size + head[:32] + struct.pack(">2I", 2**31, 2**31) + geometry + points)
    yield "more points than there are", opcodes(size + head[:32] + struct.pack(">2I", 3, 3) + geometry + points)
    yield "no points", opcodes(size + head[:32] + struct.pack(">2I", 0, 3) + geometry + points)
    for gain in (nan, float("inf"), 0.0, -1.0):
        yield f"gain {gain}", opcodes(gain_map([[1, gain], [1, 1]], pitch=1))
    for wrong in (nan, float("inf")):
        yield f"spacing {wrong}", opcodes(gain_map([[1, 2], [3, 4]], pitch=1, spacing=(wrong, 1)))
        yield f"origin {wrong}", opcodes(gain_map([[1, 2], [3, 4]], pitch=1, origin=(0, wrong)))
    yield "no such plane", opcodes(gain_map([[1.0]], pitch=1, plane=2**32 - 1, planes=2**32 - 1))
    yield "text", b"hello, this is not a list of opcodes at all"


@pytest.mark.parametrize("content", [pytest.param(content, id=name) for name, content in damaged()])
@pytest.mark.parametrize("stored", [SENSOR, PLANES], ids=["sensor", "planes"])
def test_damaged_lists_are_ignored(tmp_path, content, stored):
    read = photo.read(
        write_dng(tmp_path / "a.dng", stored, tags={51009: (7, len(content), content), 50721: matrix(COOL)})
    )
    assert read.shading is None or np.all(read.shading == 1)
    np.testing.assert_allclose(read.matrices.matrices, [COOL])
    assert read.notes == ()


def test_a_list_that_is_cut_off_keeps_its_whole_maps(tmp_path):
    first, second = gain_map([[1.5]], at=(0, 0)), gain_map([[2]], at=(1, 1))
    whole = opcodes(first, second)
    for length in (*range(1, len(whole), 13), len(whole) - 1):
        shading = shading_of(tmp_path, whole[:length])
        if length < 4 + len(first):
            assert shading is None
        else:
            np.testing.assert_array_equal(shading[5, 5], [1.5, 1, 1])


def test_the_spacing_of_a_single_point_does_not_matter(tmp_path):
    for spacing in (0.0, 1.0, -1.0, 1e-300):
        content = opcodes(gain_map([[1.5]], pitch=1, spacing=(spacing, spacing)))
        np.testing.assert_array_equal(shading_of(tmp_path, content), 1.5)


def test_the_maps_of_the_hero6(raw_folder):
    path = raw_folder / "gopro_hero6.dng"
    shading = dng.tags(path).shading
    with tifffile.TiffFile(path) as file:
        content = file.pages.first.tags[51009].value
    size = (len(content) - 4) // 4
    maps = []
    for at in range(4, len(content), size):
        assert struct.unpack(">2I", content[at + 48 : at + 56]) == (23, 23)
        maps.append(np.frombuffer(content, ">f4", 23 * 23, at + 92).reshape(23, 23))
    assert len(maps) == 4
    assert min(map(np.min, maps)) == 1
    assert max(map(np.max, maps)) == pytest.approx(2.08, abs=0.01)
    assert 1 <= shading.min() < 1.01
    assert 1.9 < shading.max() < 2.08
    corners = shading[[0, 0, -1, -1], [0, -1, 0, -1]]
    assert corners.min() > 1.4 * shading[28:36, 28:36].max()
    # The centre of a map lies at the corner of four cells.
    for channel, of_channel in enumerate(([0], [1, 2], [3])):
        expected = np.mean([maps[i][11, 11] for i in of_channel])
        np.testing.assert_allclose(shading[31:33, 31:33, channel].mean(), expected, rtol=2e-3)
    green = np.mean([dng.bilinear(maps[i][..., None], 22 * CENTRES, 22 * CENTRES)[..., 0] for i in (1, 2)], axis=0)
    np.testing.assert_allclose(shading[..., 1], green, rtol=1e-5)
