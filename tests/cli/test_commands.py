"""The commands as a user starts them: in a process of their own where start-up matters, else in this one."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import imagecodecs
import numpy as np
import pytest

from conftest import save_packed
from greycard import model_file


@pytest.fixture
def model_path(tmp_path, untrained_model):
    model_file.save(untrained_model, tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors"


@pytest.fixture
def picture(tmp_path):
    path = tmp_path / "Bild ä.png"
    path.write_bytes(
        imagecodecs.png_encode(np.random.default_rng(0).integers(500, 50_000, (70, 90, 3), dtype=np.uint16))
    )
    return path


@pytest.mark.parametrize("command", ["import greycard", "import greycard.cli.main", "import greycard.estimator"])
def test_torch_and_other_slow_things_are_not_imported_at_the_start(command):
    slow = ("torch", "colour", "sklearn", "scipy", "matplotlib", "rawpy", "tifffile")
    code = f"{command}; import sys; print([name for name in {slow} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_help_names_every_command():
    done = subprocess.run(
        [sys.executable, "-c", "from greycard.cli.main import main; main()", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert all(
        name in done.stdout
        for name in (
            "candidates",
            "estimate",
            "balance",
            "sidecar",
            "compare",
            "evaluate",
            "pack",
            "train",
            "crossval",
            "reproduce",
            "doctor",
            "info",
            "demo",
        )
    )


def test_estimate_prints_one_json_object_a_line_and_goes_on_after_a_failure(run, picture, model_path, tmp_path):
    (tmp_path / "broken.png").write_bytes(b"no picture")
    code, out, _ = run(
        "estimate", tmp_path / "broken.png", picture, "--camera", "Alpha One", "--model", model_path, "--json"
    )
    failed, answered = (json.loads(line) for line in out.splitlines())
    assert code == 1
    assert set(failed) == {"file", "error"}
    assert failed["file"].endswith("broken.png")
    assert answered["file"] == str(picture)
    assert answered["camera"] == "Alpha One"
    assert np.linalg.norm(answered["illuminant"]) == pytest.approx(1, abs=1e-5)
    assert answered["gains"][1] == 1


def test_estimate_for_people(run, picture, model_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    code, out, err = run("estimate", picture, "--model", model_path)
    assert code == 0
    assert "Bild ä.png" in out
    assert "no camera is named" in err


def test_estimate_reads_packed_data_sets(run, make_packed, model_path, tmp_path):
    path = save_packed(make_packed(3), tmp_path / "set.npz")
    code, out, _ = run("estimate", path, "--model", model_path, "--json")
    assert code == 0
    assert [json.loads(line)["file"].rsplit(":", 1)[1] for line in out.splitlines()] == [
        "made-up_000.png",
        "made-up_001.png",
        "made-up_002.png",
    ]


def test_one_bad_picture_does_not_stop_a_packed_data_set(run, make_packed, model_path, tmp_path):
    data = make_packed(3)
    data.images[1] = 0
    path = save_packed(data, tmp_path / "set.npz")
    code, out, _ = run("estimate", path, "--model", model_path, "--json")
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == 1
    assert ["error" in line for line in lines] == [False, True, False]
    assert lines[1]["file"].endswith("made-up_001.png")
    assert (
        "is packed already"
        in json.loads(run("estimate", path, "--model", model_path, "--white", "9", "--json")[1])["error"]
    )


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_results_go_to_standard_output_also_where_a_bar_is_shown(picture, model_path):
    import os
    import pty

    master, terminal = pty.openpty()
    command = [sys.executable, "-c", "from greycard.cli.main import main; main()", "estimate", picture, picture]
    done = subprocess.run(
        [*map(str, command), "--model", str(model_path), "--json"], stdout=subprocess.PIPE, stderr=terminal, check=True
    )
    os.close(terminal)
    os.close(master)
    assert [json.loads(line)["file"] for line in done.stdout.splitlines()] == [str(picture)] * 2


def test_names_are_shown_as_they_are(run, picture, model_path, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    Path("IMG [edited].png").write_bytes(picture.read_bytes())
    assert "IMG [edited].png" in run("estimate", "IMG [edited].png", "--model", model_path)[1]


def test_a_packed_picture_of_an_unknown_camera_is_answered_with_a_warning(run, make_packed, model_path, tmp_path):
    path = save_packed(make_packed(2, cameras=("Leica M9",)), tmp_path / "set.npz")
    code, out, _ = run("estimate", path, "--model", model_path, "--json")
    assert code == 0
    assert all("Leica M9 is not known" in json.loads(line)["warnings"][0] for line in out.splitlines())
    assert run("estimate", path, "--model", model_path, "--camera", "Leica M9", "--json")[0] == 1


def test_estimate_takes_levels_and_candidates(run, picture, model_path, tmp_path):
    (tmp_path / "c.csv").write_text("r,g,b\n0.4,0.8,0.5\n0.6,0.8,0.3\n")
    code, out, _ = run(
        "estimate", picture, "--candidates", tmp_path / "c.csv", "--model", model_path, "--white", "inf", "--json"
    )
    assert code == 0
    assert sum(other["probability"] for other in json.loads(out)["alternatives"]) == pytest.approx(1, abs=1e-5)
    code, out, _ = run("estimate", picture, "--model", model_path, "--white", "400", "--json")
    assert code == 1
    assert "above the white level of 400" in json.loads(out)["error"]


def test_assume_srgb(run, model_path, tmp_path):
    path = tmp_path / "eight.png"
    path.write_bytes(imagecodecs.png_encode(np.random.default_rng(0).integers(20, 200, (70, 90, 3), dtype=np.uint8)))
    code, out, _ = run("estimate", path, "--model", model_path, "--json")
    assert code == 1
    assert "--assume-srgb" in json.loads(out)["error"]
    assert run("estimate", path, "--model", model_path, "--json", "--assume-srgb")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["estimate", "x.png", "--model", "nonsense"], "'nonsense'"),
        (["estimate", "x.png", "--candidates", "absent.csv"], "absent.csv"),
        (["evaluate", "set.npz", "--model", "nonsense"], "'nonsense'"),
        (["evaluate", "set.npz", "--model", "x", "--predictions", "p.csv"], "--predictions takes the place"),
        (["evaluate", "absent.npz"], "absent.npz: there is no such file"),
        (["train", "absent.npz", "--out", "m.safetensors", "--recipe", "bad.toml"], "unknown key 'epoch'"),
        (["crossval", "absent.npz", "--out", "runs", "--recipe", "nonsense"], "recipe 'nonsense'"),
        (["demo", "--light", "moon"], "light 'moon'"),
    ],
)
def test_what_a_user_can_mend_is_one_line_and_a_non_zero_exit(
    run, tmp_path, monkeypatch, make_packed, arguments, message
):
    monkeypatch.chdir(tmp_path)
    save_packed(make_packed(3), tmp_path / "set.npz")
    (tmp_path / "bad.toml").write_text("epoch = 3\n")
    code, out, err = run(*arguments)
    assert code == 1
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("greycard: ")
    assert message in err


def test_evaluate_writes_and_reads_estimates(run, make_packed, model_path, tmp_path):
    path = save_packed(make_packed(9), tmp_path / "set.npz")
    code, out, _ = run("evaluate", path, "--model", model_path, "--per-image", tmp_path / "e.csv", "--json")
    report = json.loads(out)
    assert code == 0
    assert report["overall"]["n"] == report["cameras"]["Alpha One"]["n"] == 9
    with (tmp_path / "e.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert np.mean([float(row["angular_error"]) for row in rows]) == pytest.approx(report["overall"]["mean"], abs=1e-5)
    code, out, _ = run("evaluate", path, "--predictions", tmp_path / "e.csv", "--against", tmp_path / "e.csv", "--json")
    again = json.loads(out)
    assert again["overall"]["mean"] == pytest.approx(report["overall"]["mean"], abs=1e-4)
    assert again["comparison"]["mean_difference"] == 0
    code, out, _ = run("evaluate", path, "--model", model_path)
    assert code == 0
    assert "geometric mean" in out


def test_train_then_evaluate_refuses_what_was_seen(run, make_packed, tmp_path):
    pytest.importorskip("torch", reason="training needs torch")
    path = save_packed(make_packed(9), tmp_path / "set.npz")
    (tmp_path / "r.toml").write_text('epochs = 2\ncells = 8\ncandidates = 6\ncameras = "each"\ngain_bias = "fixed"\n')
    arguments = ("train", path, "--recipe", tmp_path / "r.toml", "--out", tmp_path / "m.safetensors")
    code, out, _ = run(*arguments)
    assert code == 0
    assert "9 images of 1 cameras" in out
    assert not list(tmp_path.glob("*.checkpoint"))
    assert "exists already" in run(*arguments)[2]

    code, _, err = run("evaluate", path, "--model", tmp_path / "m.safetensors")
    assert code == 1
    assert "trained on every image" in err
    code, out, _ = run("evaluate", path, "--model", tmp_path / "m.safetensors", "--include-seen")
    assert code == 0
    assert "used to train the model" in out


def test_crossval_prints_and_keeps_its_results(run, make_packed, tmp_path):
    pytest.importorskip("torch", reason="training needs torch")
    path = save_packed(make_packed(9), tmp_path / "set.npz")
    (tmp_path / "r.toml").write_text("epochs = 1\ncells = 8\ncandidates = 6\n")
    arguments = ("crossval", path, "--recipe", tmp_path / "r.toml", "--out", tmp_path / "runs", "--seeds", "2")
    code, out, _ = run(*arguments, "--json")
    result = json.loads(out)["results"]["all folds"]
    assert code == 0
    assert len(result["runs"]) == 2
    assert result["runs"][0]["overall"]["n"] == 9
    assert result["overall"]["mean"]["min"] <= result["overall"]["mean"]["mean"] <= result["overall"]["mean"]["max"]
    kept = json.loads((tmp_path / "runs" / "results.json").read_text())
    assert kept["results"]["all folds"]["overall"] == result["overall"]
    assert "all folds" in run(*arguments)[1]


def test_info(run, model_path):
    about = json.loads(run("info", "--model", model_path, "--json")[1])
    assert about["weights"] == 24_641
    assert about["trainable_weights"] == 22_849
    assert about["cameras"] == ["Alpha One", "Beta Two"]
    assert {"version", "model"} <= set(about)
    assert "22,849 trainable weights" in run("info", "--model", model_path)[1]


def test_demo_writes_pictures_and_knows_its_error(run, tmp_path):
    pytest.importorskip("matplotlib", reason="the demo draws a plot")
    code, out, _ = run("demo", "--out", tmp_path / "demo")
    assert code == 0
    assert "degrees" in out
    for name in ("before.png", "after.png", "posterior.png"):
        assert imagecodecs.png_decode((tmp_path / "demo" / name).read_bytes()).std() > 5


def test_raw_files_are_compared_with_the_cameras_own_white(run, model_path, tmp_path):
    from conftest import fractions, write_dng

    mosaic = np.random.default_rng(0).integers(200, 3000, (160, 160)).astype(np.uint16)
    path = write_dng(tmp_path / "a.dng", mosaic, tags={50728: (5, 3, fractions([0.5, 1, 0.8]))})
    line = json.loads(run("estimate", path, "--model", model_path, "--json")[1])
    np.testing.assert_allclose(line["as_shot"], np.array([0.5, 1, 0.8]) / np.linalg.norm([0.5, 1, 0.8]), atol=1e-5)
    code, out, _ = run("estimate", path, "--model", model_path, "--as-shot", "--region", "0,0,0.9,0.9")
    assert code == 0
    assert "2.000, 1.250" in out
    assert "degrees" in out
    assert "--region" in run("estimate", path, "--region", "a,b")[2]


def test_evaluate_takes_candidates_from_colour_matrices(run, model_path, make_packed, tmp_path):
    path = save_packed(make_packed(6), tmp_path / "set.npz")
    cameras = tmp_path / "cameras.json"
    cameras.write_text('{"xyz_to_camera": {"Alpha One": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}}')
    arguments = ("evaluate", path, "--model", model_path, "--cameras", cameras)
    code, out, _ = run(*arguments, "--candidates", "matrix", "--json")
    assert code == 0
    assert json.loads(out)["overall"]["n"] == 6
    assert "--candidates matrix" in run(*arguments)[2]


def test_many_files_are_answered_in_their_order_and_a_broken_one_costs_itself_only(run, model_path, tmp_path):
    from conftest import write_dng

    mosaic = np.random.default_rng(0).integers(200, 3000, (160, 160)).astype(np.uint16)
    paths = [write_dng(tmp_path / f"{number}.dng", mosaic) for number in range(4)]
    paths[1].write_bytes(paths[1].read_bytes()[:300])
    before = [path.read_bytes() for path in paths]
    code, out, _ = run("estimate", *paths, "--model", model_path, "--workers", "2", "--json")
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == 1
    assert [line["file"] for line in lines] == [str(path) for path in paths]
    assert ["error" in line for line in lines] == [False, True, False, False]
    assert str(paths[1]) in lines[1]["error"]
    assert [path.read_bytes() for path in paths] == before


def test_doctor_tells_what_a_file_is_and_what_becomes_of_it(run, model_path, tmp_path):
    from conftest import fractions, write_dng

    mosaic = np.random.default_rng(0).integers(200, 3000, (160, 160)).astype(np.uint16)
    mosaic[:40] = 4095
    tags = {50721: (10, 9, fractions(np.eye(3))), 272: (2, 0, "Gamma")}
    path = write_dng(tmp_path / "a.dng", mosaic, tags=tags)
    (tmp_path / "b.dng").write_text("no picture")
    code, out, err = run("doctor", path, tmp_path / "b.dng", "--model", model_path)
    assert code == 1
    assert "25.0% of the pixels" in out
    assert "one colour matrix" in out
    assert "colour matrix of the file" in out
    assert "80 x 80" in out
    assert "b.dng" in err
