"""The bench runs, on small made-up data sets in the place of the real ones."""

import json
from dataclasses import replace

import numpy as np
import pytest

from greycard import GreycardError, model_file
from greycard.datasets import packed

pytest.importorskip("torch", reason="the lab of the experiments needs torch")

from greycard.baselines.gray_world import GrayWorld
from greycard.baselines.method import METHODS
from greycard.experiments import rivals, table_1, table_2, table_4
from greycard.experiments.lab import Lab
from greycard.experiments.quoted import QUOTED
from greycard.training import recipe as recipes

SINGLE = ("gehler-shi", "nus-8", "cube-plus")
FIRST_FOLD = "gehler-shi/one-camera/fold-0-seed-0.safetensors"


@pytest.fixture
def lab(make_packed, tmp_path):
    nus8 = make_packed(12, dataset="nus8", cameras=("Nikon D5200", "Sony SLT-A57"), seed=1)
    nus8 = replace(nus8, folds=np.arange(12) // 2 % 3, scene_folds=np.arange(12) // 2 % 3)
    one = make_packed(6, dataset="gehler_shi", cameras=("Canon EOS 5D",), seed=2)
    sets = [nus8, one, make_packed(6, dataset="cube_plus", cameras=("Canon EOS 550D",), seed=3)]
    for data in sets:
        packed.save(data, tmp_path / f"{data.datasets[0]}.npz")
    return Lab(tmp_path, tmp_path / "runs")


@pytest.fixture
def cheap(monkeypatch):
    """Three methods only, one of them in the place of the reference; and greycard by a short recipe."""
    chosen = {name: METHODS[name] for name in ("gray-world", "shades-of-gray", "corrected-moments")}
    monkeypatch.setattr(rivals, "METHODS", chosen)
    monkeypatch.setattr(rivals, "REFERENCE", "corrected-moments")
    real = recipes.load
    monkeypatch.setattr(recipes, "load", lambda name: replace(real(name), epochs=1, cells=4, step_candidates=2))
    monkeypatch.setattr(table_2, "EPOCHS", 1)
    monkeypatch.setattr(table_4, "EPOCHS", {"one-camera": 1})


def test_every_method_by_every_protocol(lab, cheap):
    found = rivals.run(lab, list(rivals.METHODS))
    assert len(found.results) == 3 * len(rivals.PROTOCOLS)
    assert found.to_dict()["seconds_without_learning"] == pytest.approx(
        sum(one.seconds for one in found.results if one.method.endswith(("world", "gray")) and one.protocol in SINGLE)
    )
    text = found.to_markdown()
    assert "## Gehler-Shi, its own three folds" in text
    assert "| FC4, AlexNet (Hu 2017) | not run here | | 1.77 / 1.11 / 1.29 / 0.34 / 4.29 |" in text
    assert "| gray-world | nothing |" in text
    rows = json.loads(json.dumps(found.to_dict()))["rows"]
    of_set = {row["method"]: row for row in rows if row["protocol"] == "gehler-shi"}
    assert of_set["gray-world"]["published"]["mean"] == 6.36
    assert of_set["gray-world"]["against"]["n"] == 6
    assert of_set["gray-world"]["numbers"] == 0
    assert of_set["shades-of-gray"]["numbers"] == 2
    assert of_set["corrected-moments"]["against"] == {}
    unseen = [row for row in rows if row["protocol"] == "cube-plus-unseen"]
    assert {row["trained_on"] for row in unseen} == {"nothing", "Gehler-Shi and NUS-8"}


def test_greycard_is_what_the_tables_have_run(lab, cheap):
    table = table_1.run(lab)
    result, unseen = rivals.run(lab, ["greycard"], ["gehler-shi", "cube-plus-unseen"]).results
    assert unseen.trained_on == "Gehler-Shi and NUS-8; candidates by the colour matrix"
    assert result.measured["mean"] == pytest.approx(table.rows[0].measured["mean"], abs=1e-4)
    assert result.numbers == 22_849 + 2 * len(model_file.load(lab.runs / FIRST_FOLD).any_camera.illuminants)


def test_the_figures_are_those_of_the_method(lab, cheap):
    data = lab.gehler_shi
    (result,) = (one for one in rivals.run(lab, ["gray-world"], ["gehler-shi"]).results if one.method == "gray-world")
    from greycard.illuminant import angular_error

    expected = angular_error(GrayWorld().predict(data.images), data.illuminants).mean()
    assert result.measured["mean"] == pytest.approx(expected, abs=1e-4)


def test_what_was_run_is_not_run_again_and_what_was_not_is_left_out(lab, cheap, monkeypatch):
    first = rivals.run(lab, ["gray-world", "corrected-moments"], ["gehler-shi"])
    assert [one.method for one in first.results] == ["gray-world", "corrected-moments"]
    monkeypatch.setattr(rivals, "crossfit", lambda *_, **__: pytest.fail("run again"))
    again = rivals.run(lab, ["gray-world"], ["gehler-shi"])
    assert again.results == first.results
    damaged = lab.runs / "rivals" / "gehler-shi" / "gray-world.json"
    damaged.write_text("{")
    with pytest.raises(pytest.fail.Exception, match="run again"):
        rivals.run(lab, ["gray-world"], ["gehler-shi"])


def test_names_that_are_not_known_are_refused(lab):
    with pytest.raises(GreycardError, match="--method 'nonsense'"):
        rivals.run(lab, ["nonsense"])
    with pytest.raises(GreycardError, match="--protocol 'nonsense'"):
        rivals.run(lab, None, ["nonsense"])


def test_quoted_figures_belong_to_a_protocol():
    assert set(QUOTED) <= {protocol.key for protocol in rivals.PROTOCOLS}


def test_the_command_writes_table_and_plot(run, lab, cheap, tmp_path):
    pytest.importorskip("matplotlib", reason="plots need matplotlib")
    arguments = ("reproduce", "rivals", "--data", lab.data, "--out", lab.runs, "--results", tmp_path / "r")
    code, out, _ = run(*arguments, "--protocol", "gehler-shi", "--json")
    assert code == 0
    assert {row["method"] for row in json.loads(out)["rows"]} == {*rivals.METHODS, "greycard"}
    assert sorted(path.name for path in (tmp_path / "r").iterdir()) == ["rivals.json", "rivals.md", "rivals.png"]
    assert "belong to rivals" in run("reproduce", "table-6", "--method", "pca")[2]
