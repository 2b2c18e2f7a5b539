"""Every table runs, on small made-up data sets in the place of the real ones and with short recipes."""

import json
from dataclasses import replace

import numpy as np
import pytest

from greycard import GreycardError
from greycard.datasets import packed

pytest.importorskip("torch", reason="training needs torch")

from greycard.experiments import (
    table_1,
    table_2,
    table_3,
    table_4,
    table_5,
    table_6,
    table_7,
    table_8,
    table_9,
    table_10,
    table_11,
    table_12,
)
from greycard.experiments.lab import Lab
from greycard.experiments.table import Row, Table, figures_over_seeds, published
from greycard.training import recipe as recipes


@pytest.fixture
def lab(make_packed, tmp_path, monkeypatch):
    """Three data sets with the names and cameras of the real ones, and recipes of one epoch."""
    nus_cameras = tuple(table_9.PUBLISHED)
    nus8 = make_packed(48, dataset="nus8", cameras=nus_cameras, seed=1)
    # Each camera has six pictures, two for every fold; made_packed would give a camera one fold only.
    nus8 = replace(nus8, folds=np.arange(48) // 8 % 3, scene_folds=np.arange(48) // 8 % 3)
    sets = {
        "gehler_shi": make_packed(12, dataset="gehler_shi", cameras=("Canon EOS 5D", "Canon EOS-1D"), seed=2),
        "nus8": nus8,
        "cube_plus": make_packed(12, dataset="cube_plus", cameras=("Canon EOS 550D",), seed=3),
    }
    for name, data in sets.items():
        packed.save(data, tmp_path / f"{name}.npz")
    real = recipes.load
    monkeypatch.setattr(table_2, "EPOCHS", 1)
    monkeypatch.setattr(table_4, "EPOCHS", {"one-camera": 1, "fine-tune-one": 1})
    monkeypatch.setattr(recipes, "load", lambda name: replace(real(name), epochs=1, cells=4, step_candidates=2))
    return Lab(tmp_path, tmp_path / "runs", seeds=2)


def test_table_1_trains_from_scratch_and_from_a_model_of_the_other_sets(lab):
    table = table_1.run(lab)
    assert [row.name for row in table.rows] == ["from scratch", "pre-trained"]
    assert table.rows[0].published["median"] == 1.43
    assert table.rows[0].seeds == 2
    for row in table.rows:
        low, high = row.spread["mean"]
        assert 0 < low <= row.measured["mean"] <= high
        assert row.seconds > 0
    from greycard import model_file

    tuned = model_file.load(lab.runs / "gehler-shi" / "fine-tune-one" / "fold-0-seed-0.safetensors")
    assert set(tuned.trained_on.datasets) == {"nus8", "cube_plus", "gehler_shi"}
    scratch = model_file.load(lab.runs / "gehler-shi" / "one-camera" / "fold-0-seed-0.safetensors")
    assert set(scratch.trained_on.datasets) == {"gehler_shi"}


def test_a_second_run_trains_nothing(lab, monkeypatch):
    first = table_1.run(lab)
    monkeypatch.setattr("greycard.training.crossval.train", lambda *_, **__: pytest.fail("trained again"))
    again = table_1.run(lab)
    assert [row.measured for row in again.rows] == [row.measured for row in first.rows]


def test_table_2_has_a_model_for_each_camera_and_fold(lab):
    table = table_2.run(replace(lab, seeds=1))
    assert len(list((lab.runs / "nus8" / "one-camera").rglob("*.safetensors"))) == 24
    assert [row.published["mean"] for row in table.rows] == [2.39, 2.35]


def test_tables_3_and_9_share_their_models(lab, monkeypatch):
    lab = replace(lab, seeds=1)
    table = table_3.run(lab)
    assert [row.name for row in table.rows] == ["one model per device", "multi-device training"]
    monkeypatch.setattr("greycard.training.crossval.train", lambda *_, **__: pytest.fail("trained again"))
    medians = table_9.run(lab)
    assert len(medians.rows) == 8
    assert all(set(row.measured) == set(table_9.COLUMNS) for row in medians.rows)


def test_without_the_challenge_cube_plus_is_tested_and_the_caption_says_so(lab):
    lab = replace(lab, seeds=1)
    for table in (table_4.run(lab), table_5.run(lab), table_10.run(lab)):
        assert "not at hand" in table.caption
    assert len(list((lab.runs / "cube-plus" / "uniform").glob("fold-*.safetensors"))) == 3


def test_with_the_challenge_it_is_tested(lab, make_packed):
    challenge = make_packed(6, dataset="cube_challenge", cameras=("Canon EOS 550D",), seed=4)
    packed.save(challenge, lab.data / "cube_challenge.npz")
    lab = replace(lab, seeds=1)
    for table in (table_4.run(lab), table_5.run(lab)):
        assert "not at hand" not in table.caption
    assert (lab.runs / "cube-plus" / "one-camera" / "all-seed-0.safetensors").exists()
    assert len((lab.runs / "unseen" / "cube_challenge-seed-0.csv").read_text().splitlines()) == 1 + 6


def test_tables_7_and_8_have_a_row_for_each_number_of_candidates(lab):
    lab = replace(lab, seeds=1)
    numbers = [5, 25, 50, 100, 120, 150, 200]
    for table in (table_7.run(lab), table_8.run(lab)):
        assert [row.name for row in table.rows] == [f"{number} candidates" for number in numbers]
    assert len(list((lab.runs / "unseen").glob("without-cube_plus*.safetensors"))) == 1  # table 8 trains nothing more


def test_table_6_counts_the_weights(lab):
    assert table_6.run(lab).rows[-1].measured["weights"] == 22_849


def test_tables_11_and_12_measure_both_evaluations(lab, monkeypatch):
    monkeypatch.setattr(table_12, "PICTURES", 1)
    assert all(row.measured["milliseconds"] > 0 for row in table_12.run(lab).rows)
    assert all(row.measured["milliseconds"] > 0 for row in table_11.run(lab).rows[-3:])


def test_missing_data_are_named(tmp_path):
    with pytest.raises(GreycardError, match=r"gehler_shi\.npz: is missing; pack it.*greycard pack"):
        table_1.run(Lab(tmp_path, tmp_path / "runs"))


def test_a_table_shows_measured_and_published_figures_side_by_side():
    measured = figures_over_seeds([{"mean": 2.0, "median": 1.0}, {"mean": 3.0, "median": 1.5}])
    row = Row("ours", "this", published(2.35, 1.43, 1.63, 0.40, 5.80), **measured)
    table = Table("table-1", "A caption.", [row])
    text = table.to_markdown()
    assert "| ours, 2 seeds | this | 2.50 (2.00 to 3.00) | 1.25 (1.00 to 1.50) |" in text
    assert "| — as published | | 2.35 | 1.43 | 1.63 | 0.40 | 5.80 |" in text
    line = json.loads(json.dumps(table.to_dict()))["rows"][0]
    assert (line["measured"]["mean"], line["published"]["mean"], line["seeds"]) == (2.5, 2.35, 2)


def test_galleries_show_the_sorted_pictures_and_the_failures(lab):
    pytest.importorskip("matplotlib", reason="plots need matplotlib")
    from greycard.experiments import galleries

    paths = galleries.run(lab)
    assert [path.name for path in paths] == ["gehler-shi-sorted.png", "gehler-shi-failures.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)
