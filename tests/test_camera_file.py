import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from greycard import GreycardError, camera_file, load
from greycard.camera_file import CameraFile
from greycard.candidates import CandidateSet
from greycard.illuminant import angular_error, unit

LIGHTS = unit(np.array([[0.4, 1, 0.7], [0.5, 1, 0.6], [0.8, 1, 0.4]]))


def write(path, **changes):
    about = {"greycard_camera": 1, "camera": "Acme One", "origin": "made up", "illuminants": LIGHTS.tolist()}
    path.write_text(json.dumps({**about, **changes}), encoding="utf-8")
    return path


def test_what_is_written_is_read_again(tmp_path):
    prior = np.log(np.array([0.2, 0.5, 0.3], dtype=np.float32))
    content = CameraFile("Acmé One", CandidateSet(LIGHTS, bias=prior), "three lights", ("Acme Uno",))
    camera_file.write(tmp_path / content.file_name, content)
    found = camera_file.read(tmp_path / "acmé-one.json")
    assert (found.camera, found.aliases, found.origin) == ("Acmé One", ("Acme Uno",), "three lights")
    np.testing.assert_allclose(found.candidates.illuminants, LIGHTS, atol=1e-5)
    np.testing.assert_allclose(found.candidates.bias, prior, atol=1e-4)


def test_candidates_stand_for_measured_lights_with_their_shares():
    measured = np.repeat(LIGHTS, [10, 30, 60], axis=0)
    found = camera_file.from_lights("Acme One", measured, count=120)
    nearest = [int(np.argmin(angular_error(found.candidates.illuminants, light))) for light in LIGHTS]
    assert len(found.candidates.illuminants) == 3
    assert list(np.argsort(found.candidates.bias[nearest])) == [0, 1, 2]


def test_a_folder_stands_for_its_camera_files_and_aliases_are_names_too(tmp_path):
    write(tmp_path / "a.json", aliases=["Acme Uno"])
    write(tmp_path / "b.json", camera="Beta Two")
    assert sorted(camera_file.read_all([tmp_path])) == ["Acme One", "Acme Uno", "Beta Two"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(GreycardError, match="has no camera file"):
        camera_file.read_all([tmp_path / "empty"])


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"greycard_camera": 2}, "newer greycard"),
        ({"greycard_camera": None}, "is not a camera file"),
        ({"camera": " "}, "camera must be a text"),
        ({"illuminants": [[1, 1]]}, r"expected an array of shape \(n, 3\)"),
        ({"illuminants": [[1, 1, -1]]}, "must be a positive number"),
        ({"illuminants": None}, "illuminants: expected"),
        ({"aliases": "Foo"}, "aliases must be a list of names"),
        ({"illuminants": [[10**400, 1, 1]]}, "illuminants: expected numbers"),
        ({"log_prior": [0.1]}, "log_prior must have a finite number for each"),
        ({"log_prior": "much"}, "log_prior must be a list of numbers"),
    ],
)
def test_what_is_wrong_with_a_camera_file_is_told(tmp_path, changes, told):
    with pytest.raises(GreycardError, match=told):
        camera_file.read(write(tmp_path / "a.json", **changes))


@given(st.binary(max_size=60))
def test_no_content_breaks_the_reader(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("cameras") / "a.json"
    path.write_bytes(content)
    with pytest.raises(GreycardError, match=r"a\.json"):
        camera_file.read(path)


def test_a_table_of_lights_is_grouped_by_camera(tmp_path):
    table = tmp_path / "lights.csv"
    table.write_text("camera,r,g,b\nOne,1,2,1\nTwo,1,2,1.5\nOne,2,2,1\n")
    found = camera_file.read_lights(table)
    assert {name: len(lights) for name, lights in found.items()} == {"One": 2, "Two": 1}
    table.write_text("r,g,b\n")
    with pytest.raises(GreycardError, match="holds no lights"):
        camera_file.read_lights(table)
    table.write_text("r,g\n1,2\n")
    with pytest.raises(GreycardError, match="columns r, g, b"):
        camera_file.read_lights(table)


def test_a_camera_file_takes_the_place_of_what_the_model_knows(tmp_path, make_packed):
    path = write(tmp_path / "a.json", camera="Canon EOS 5D", aliases=["My Camera"])
    cells = make_packed(1).images[0]
    estimator = load(camera_files=[path])
    for camera in ("canon eos 5d", "my camera"):
        estimate = estimator.estimate_thumbnail(cells, camera)
        assert estimate.candidates_from.startswith("camera file of")
        np.testing.assert_allclose(estimate.candidates, LIGHTS, atol=1e-6)
    assert estimator.estimate_thumbnail(cells, camera_of_file="CANON EOS 5D").candidates_from.startswith("camera file")
    assert estimator.estimate_thumbnail(cells, "Nikon D5200").candidates_from == "labels of Nikon D5200"
    given_by_user = estimator.estimate_thumbnail(cells, "Canon EOS 5D", candidates=LIGHTS[:2])
    assert given_by_user.candidates_from == "given"
