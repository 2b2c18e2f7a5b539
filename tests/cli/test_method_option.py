"""`--method` of estimate, evaluate and crossval."""

import csv
import json

import numpy as np
import pytest

from conftest import save_packed

OWN = """
import numpy as np

class Green:
    def fit(self, thumbnails, illuminants):
        return self

    def predict(self, thumbnails):
        return np.tile([1.0, 2.0, 1.0], (len(thumbnails), 1))
"""


@pytest.fixture
def packed_set(make_packed, tmp_path):
    return save_packed(make_packed(9), tmp_path / "set.npz")


def test_evaluate_scores_a_method_and_keeps_its_contract(run, packed_set, tmp_path):
    code, out, _ = run(
        "evaluate", packed_set, "--method", "shades-of-gray", "--json", "--per-image", tmp_path / "e.csv"
    )
    report = json.loads(out)
    assert code == 0
    assert {"cameras", "overall", "geometric_mean"} <= set(report)
    assert report["overall"]["n"] == 9
    assert report["method"] == "shades-of-gray"
    assert report["protocol"] == "fitted to the other folds, all cameras together"
    with (tmp_path / "e.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 9
    assert "nothing is fitted" in run("evaluate", packed_set, "--method", "gray-world")[1]


def test_evaluate_fits_on_another_set(run, packed_set, make_packed, tmp_path):
    other = save_packed(make_packed(12, seed=5), tmp_path / "other.npz")
    code, out, _ = run("evaluate", packed_set, "--method", "corrected-moments", "--fit-on", other, "--json")
    assert code == 0
    assert json.loads(out)["protocol"] == "fitted to other.npz"


def test_crossval_writes_what_a_recipe_writes(run, packed_set, tmp_path):
    code, out, _ = run("crossval", packed_set, "--method", "pca", "--out", tmp_path / "runs", "--json")
    results = json.loads(out)
    assert code == 0
    assert results["method"] == "pca"
    assert results["results"]["all folds"]["runs"][0]["overall"]["n"] == 9
    assert json.loads((tmp_path / "runs" / "results.json").read_text()) == results
    assert (tmp_path / "runs" / "fold-0.csv").exists()
    code, out, err = run("crossval", packed_set, "--method", "pca", "--out", tmp_path / "runs", "--only", "fold-1")
    assert code == 0
    assert "fold-1" in out
    assert "pca" in err


def test_estimate_says_what_a_method_cannot_tell(run, packed_set):
    code, out, _ = run("estimate", packed_set, "--method", "gray-world", "--json")
    first = json.loads(out.splitlines()[0])
    assert code == 0
    assert np.linalg.norm(first["illuminant"]) == pytest.approx(1, abs=1e-5)
    assert first["gains"][1] == 1
    assert first["alternatives"] == []
    assert first["confidence"] is None
    assert first["candidates_from"] == "none"
    assert "gives a single light" in first["warnings"][-1]


def test_estimate_reads_pictures_with_a_fitted_method(run, packed_set, tmp_path):
    pixels = np.random.default_rng(0).uniform(0.1, 0.8, (80, 90, 3))
    np.save(tmp_path / "a.npy", pixels)
    code, out, _ = run("estimate", tmp_path / "a.npy", "--method", "corrected-moments", "--json")
    assert code == 1
    assert "--fit-on" in json.loads(out)["error"]
    arguments = ("estimate", tmp_path / "a.npy", "--method", "corrected-moments", "--fit-on", packed_set)
    code, out, _ = run(*arguments, "--json")
    assert code == 0
    assert min(json.loads(out)["illuminant"]) > 0
    assert run(*arguments)[0] == 0


def test_one_bad_picture_costs_itself_only(run, make_packed, tmp_path):
    data = make_packed(3)
    data.images[1] = 0
    path = save_packed(data, tmp_path / "bad.npz")
    code, out, _ = run("estimate", path, "--method", "white-patch", "--json")
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == 1
    assert ["error" in line for line in lines] == [False, True, False]
    assert "made-up_001.png" in lines[1]["error"]


def test_anybodys_own_method_also_from_the_current_folder(run, packed_set, tmp_path, monkeypatch):
    (tmp_path / "my_method_of_this_test.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(__import__("sys").path))
    code, out, _ = run("evaluate", packed_set, "--method", "my_method_of_this_test:Green", "--json")
    assert code == 0
    assert json.loads(out)["overall"]["n"] == 9
    # Several pictures go to processes of their own, which have to find the module too.
    for name in ("a", "b"):
        np.save(tmp_path / f"{name}.npy", np.random.default_rng(0).uniform(0.1, 0.8, (80, 90, 3)))
    code, out, _ = run("estimate", "a.npy", "b.npy", "--method", "my_method_of_this_test:Green", "--json")
    assert code == 0
    assert [json.loads(line)["gains"] for line in out.splitlines()] == [[2.0, 1.0, 2.0]] * 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "set.npz", "--method", "nonsense"], "'nonsense' is not known"),
        (["evaluate", "set.npz", "--method", "pca", "--model", "x"], "takes the place of a model"),
        (["evaluate", "set.npz", "--fit-on", "set.npz"], "belong to --method"),
        (["evaluate", "set.npz", "--method", "pca", "--fit-on", "set.npz"], "every image"),
        (["crossval", "set.npz", "--out", "r", "--method", "pca", "--seeds", "2"], "takes the place of a recipe"),
        (["crossval", "set.npz", "--out", "r", "--per-camera"], "belongs to --method"),
        (["estimate", "set.npz", "--method", "pca", "--model", "x"], "takes the place of a model"),
        (["estimate", "set.npz", "--fit-on", "set.npz"], "belongs to --method"),
    ],
)
def test_what_a_user_can_mend_is_said_in_one_line(run, packed_set, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*arguments)
    assert code == 1
    assert out == ""
    assert err.count("\n") == 1
    assert message in err
