"""`greycard candidates`, and what `greycard estimate` makes of camera files."""

import json

import numpy as np
import pytest

from conftest import fractions, save_packed, write_dng
from greycard import camera_file, sidecars

MATRIX = np.array([[0.9, -0.3, -0.1], [-0.4, 1.3, 0.1], [-0.05, 0.15, 0.6]])


@pytest.fixture
def labels(tmp_path):
    generator = np.random.default_rng(0)
    rows = [
        f"{camera},{red:.4f},1,{blue:.4f}"
        for camera in ("Acme One", "Beta Two")
        for red, blue in generator.uniform(0.3, 0.9, (30, 2))
    ]
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(["camera,r,g,b", *rows]))
    return path


@pytest.fixture
def dng(tmp_path):
    mosaic = np.random.default_rng(1).integers(200, 3000, (160, 160), dtype=np.uint16)
    return write_dng(tmp_path / "a.dng", mosaic, tags={50721: (10, 9, fractions(MATRIX)), 50778: (3, 1, 21)})


def test_labels_become_a_camera_file_for_each_camera(run, labels, tmp_path):
    code, out, _ = run("candidates", "build", "--from-labels", labels, "--count", "10", "--out", tmp_path / "cameras")
    assert code == 0
    assert "Acme One, 10 candidates from 30 measured lights" in out
    assert sorted(path.name for path in (tmp_path / "cameras").iterdir()) == ["acme-one.json", "beta-two.json"]
    assert len(camera_file.read(tmp_path / "cameras" / "beta-two.json").candidates.illuminants) == 10


def test_a_raw_file_becomes_a_camera_file_that_serves_its_other_pictures(run, dng, tmp_path):
    code, out, _ = run("candidates", "build", "--from-raw", dng, "--alias", "Alpha Uno", "--out", tmp_path)
    assert code == 0, out
    path = tmp_path / "alpha-one.json"
    assert camera_file.read(path).aliases == ("Alpha Uno",)
    code, out, _ = run("estimate", dng, "--cameras", path, "--json")
    assert code == 0
    with_file = json.loads(out)
    assert with_file["candidates_from"] == "camera file of Alpha One"
    by_itself = json.loads(run("estimate", dng, "--json")[1])
    assert by_itself["candidates_from"] == "colour matrix of the file"
    np.testing.assert_allclose(with_file["illuminant"], by_itself["illuminant"], atol=1e-3)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "give one of --from-labels FILE, --from-raw PHOTOS"),
        (["--from-sidecars"], "none of the files can be used and has a white balance"),
        (["--from-raw"], "name at least one RAW file"),
        (["--from-labels", "absent.csv"], "absent.csv"),
        (["--from-labels", "{labels}", "--camera", "X"], "lights of 2 cameras"),
        (["--from-labels", "{labels}", "--alias", "X"], "these are 2 cameras"),
        (["--from-labels", "{unnamed}"], "does not name the camera; give it with --camera"),
    ],
)
def test_what_cannot_be_built_is_told(run, labels, tmp_path, arguments, told):
    unnamed = tmp_path / "unnamed.csv"
    unnamed.write_text("r,g,b\n1,2,1\n")
    filled = [argument.format(labels=labels, unnamed=unnamed) for argument in arguments]
    code, _, err = run("candidates", "build", *filled)
    assert code == 1
    assert told in err


def test_a_raw_file_without_a_matrix_gives_no_candidates(run, tmp_path):
    mosaic = np.full((160, 160), 900, dtype=np.uint16)
    code, _, err = run("candidates", "build", "--from-raw", write_dng(tmp_path / "bare.dng", mosaic))
    assert code == 1
    assert "bare.dng: has no colour matrix" in err


def test_white_balances_of_sidecars_become_a_camera_file(run, dng, tmp_path):
    assert run("sidecar", dng, "--for", "rawtherapee")[0] == 0
    broken, unnamed = tmp_path / "broken.nef", tmp_path / "unnamed.dng"
    for path in (broken, unnamed):
        path.write_bytes(b"no picture")
    sidecars.write(unnamed, "darktable", sidecars.Balance(np.array([0.5, 0.7, 0.5])))
    code, out, err = run("candidates", "build", "--from-sidecars", broken, unnamed, dng, "--out", tmp_path)
    assert code == 1  # two files failed, the other one is used
    assert f"greycard: {broken}: LibRaw cannot read it" in err
    assert f"greycard: {unnamed}: does not name its camera" in err
    assert "use --overwrite" in run("candidates", "build", "--from-sidecars", dng, "--out", tmp_path)[2]
    assert "Alpha One, 1 candidates from 1 measured lights" in out
    (light,) = camera_file.read(tmp_path / "alpha-one.json").candidates.illuminants
    estimate = json.loads(run("estimate", dng, "--json")[1])["illuminant"]
    np.testing.assert_allclose(light, estimate, atol=0.01)


def test_many_raw_files_of_a_camera_tell_its_usual_lights(run, tmp_path):
    generator, tags = np.random.default_rng(3), {50721: (10, 9, fractions(MATRIX)), 50778: (3, 1, 21)}
    light = np.tile([[0.5, 1.0], [1.0, 0.4]], (40, 40))
    for number in range(20):
        mosaic = (generator.uniform(300, 3000, (80, 80)) * light).astype(np.uint16)
        write_dng(tmp_path / f"{number}.dng", mosaic, tags=tags)
    (tmp_path / "broken.dng").write_bytes(b"no picture")
    code, out, err = run("candidates", "build", "--from-raw", *sorted(tmp_path.glob("*.dng")), "--out", tmp_path)
    assert code == 1  # one file failed, the others are used
    assert "candidates from its colour matrix and 20 pictures" in out
    assert "broken.dng" in err
    plain = run("candidates", "build", "--from-raw", tmp_path / "0.dng", "--out", tmp_path / "one")
    assert "would tell its usual lights" in plain[1]
    learned, before = (
        camera_file.read(folder / "alpha-one.json").candidates for folder in (tmp_path, tmp_path / "one")
    )
    assert np.abs(learned.bias - before.bias).max() > 0.5


def test_show_lists_the_cameras_and_plots_one(run, tmp_path):
    pytest.importorskip("matplotlib", reason="plots need matplotlib")
    assert (
        "Canon EOS 550D (also Canon EOS Kiss X4, Canon EOS Rebel T2i): 120 candidates" in run("candidates", "show")[1]
    )
    code, out, _ = run("candidates", "show", "canon eos kiss x4", "--out", tmp_path / "plot.png")
    assert code == 0
    assert "Canon EOS 550D: 120 candidates" in out
    assert " K to " in out
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_estimate_writes_a_report_that_a_second_run_adds_to(run, make_packed, dng, tmp_path):
    other = tmp_path / "b.dng"
    other.write_bytes(b"broken")
    report = tmp_path / "report.jsonl"
    code, out, err = run("estimate", dng, other, "--report", report)
    assert code == 1
    assert "1 estimated, 1 failed, 0 skipped" in out
    assert "b.dng" in err
    other.write_bytes(dng.read_bytes())
    code, out, _ = run("estimate", dng, other, "--report", report)
    assert code == 0
    assert "1 estimated, 0 failed, 1 skipped" in out
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    assert [line["file"] for line in lines] == [str(dng), str(other)]
    assert lines[0]["illuminant"] == lines[1]["illuminant"]
    assert "0 estimated, 0 failed, 2 skipped" in run("estimate", dng, other, "--report", report)[1]
    assert "other settings" in run("estimate", dng, other, "--report", report, "--region", "0,0,1,0.5")[2]
    assert "leave out one" in run("estimate", dng, other, "--report", report, "--group", "folder")[2]


def test_a_packed_set_in_a_report_is_not_listed_twice(run, make_packed, tmp_path):
    path, report = save_packed(make_packed(3, cameras=("Canon EOS 5D",)), tmp_path / "set.npz"), tmp_path / "r.csv"
    for _ in range(2):
        assert run("estimate", path, "--report", report)[0] == 0
        assert len(report.read_text().splitlines()) == 4


def test_a_dump_is_answered_as_the_same_sensor_in_a_dng(run, tmp_path):
    mosaic = np.random.default_rng(1).integers(300, 3000, (200, 160), dtype=np.uint16)
    (tmp_path / "frame.bin").write_bytes(mosaic.astype("<u2").tobytes())
    arguments = ["--camera", "Canon EOS 5D", "--json"]
    code, out, _ = run("estimate", tmp_path / "frame.bin", "--dump", "160x200:RGGB:12", *arguments)
    assert code == 0, out
    dng = json.loads(run("estimate", write_dng(tmp_path / "a.dng", mosaic), *arguments)[1])
    np.testing.assert_allclose(json.loads(out)["illuminant"], dng["illuminant"], atol=2e-3)
    assert "--dump: expected" in run("estimate", tmp_path / "frame.bin", "--dump", "160x200", *arguments)[2]


def test_a_gain_map_undoes_the_shading_of_the_lens(run, tmp_path):
    generator = np.random.default_rng(2)
    scene = generator.uniform(500, 3000, (128, 128, 1)) * [0.5, 1, 0.6]
    falloff = np.linspace(1, 0.4, 128)[None, :, None] ** np.array([1, 0.5, 2])
    np.save(tmp_path / "flat.npy", (scene / 4000).astype(np.float32))
    np.save(tmp_path / "shaded.npy", (scene * falloff / 4000).astype(np.float32))
    np.save(tmp_path / "map.npy", np.broadcast_to(1 / falloff, (5, 128, 3)))
    options = ["--camera", "Canon EOS 5D", "--json"]
    flat, shaded, mended = (
        json.loads(run("estimate", tmp_path / name, *more, *options)[1])["illuminant"]
        for name, more in (
            ("flat.npy", []),
            ("shaded.npy", []),
            ("shaded.npy", ["--gain-map", tmp_path / "map.npy"]),
        )
    )
    assert np.abs(np.subtract(mended, flat)).max() < 5e-3 < np.abs(np.subtract(shaded, flat)).max()
    np.save(tmp_path / "bad.npy", np.zeros((4, 4)))
    code, out, _ = run("estimate", tmp_path / "flat.npy", "--gain-map", tmp_path / "bad.npy", *options)
    assert code == 1
    assert "every gain must be a positive number" in json.loads(out)["error"]
