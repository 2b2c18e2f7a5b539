from dataclasses import fields, replace

import numpy as np
import pytest
import safetensors.numpy

from greycard import GreycardError, model_file
from greycard.candidates import CandidateSet
from greycard.model_file import TrainingImages


def test_a_model_comes_back_as_it_was(tmp_path, untrained_model):
    learned = CandidateSet(
        untrained_model.cameras["Alpha One"].illuminants,
        gain=np.arange(12, dtype=np.float32),
        bias=np.arange(12, dtype=np.float32) - 5,
    )
    seen = TrainingImages(np.array(["x", "x", "y"]), np.array(["1", "2", "1"]), np.array([1, 2, 2**64 - 1], np.uint64))
    model = replace(
        untrained_model,
        cameras={**untrained_model.cameras, "Alpha One": learned},
        trained_on=seen,
        results={"mean": 1.5},
    )
    model_file.save(model, tmp_path / "m.safetensors")
    read = model_file.load(tmp_path / "m.safetensors")
    for field in fields(model.network):
        np.testing.assert_array_equal(getattr(read.network, field.name), getattr(model.network, field.name))
    assert list(read.cameras) == list(model.cameras)
    for name, candidates in model.cameras.items():
        np.testing.assert_allclose(read.cameras[name].illuminants, candidates.illuminants, atol=1e-7)
    np.testing.assert_array_equal(read.cameras["Alpha One"].gain, learned.gain)
    np.testing.assert_array_equal(read.cameras["Alpha One"].bias, learned.bias)
    assert read.cameras["Beta Two"].gain is None
    assert read.name == model.name
    assert dict(read.results) == {"mean": 1.5}
    for key in ("datasets", "names", "digests"):
        np.testing.assert_array_equal(getattr(read.trained_on, key), getattr(seen, key))


def test_unreadable_and_foreign_files_are_named(tmp_path, untrained_model):
    path = tmp_path / "m.safetensors"
    model_file.save(untrained_model, path)
    whole = path.read_bytes()
    cases = {
        "cut": whole[:5000],
        "empty": b"",
        "text": b"hello, I am a model" * 10,
        "lying-header": (2**60).to_bytes(8, "little") + whole[8:],
        "nested": (100_000).to_bytes(8, "little") + b"[" * 100_000,
        "infinite": safetensors.numpy.save({"a": np.zeros(1)}, {"greycard": '{"format": Infinity}'}),
        "foreign": safetensors.numpy.save({"weight": np.zeros(3, np.float32)}),
    }
    for name, content in cases.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(GreycardError, match=f"{name}: is not a greycard model file"):
            model_file.load(tmp_path / name)


def test_damaged_contents_are_named(tmp_path, untrained_model):
    def change(**tensors):
        path = tmp_path / "m.safetensors"
        model_file.save(untrained_model, path)
        content = safetensors.numpy.load(path.read_bytes())
        with safetensors.safe_open(path, framework="numpy") as file:
            about = file.metadata()
        content.update({key.replace("__", "."): value for key, value in tensors.items()})
        path.write_bytes(safetensors.numpy.save(content, about))
        return path

    with pytest.raises(GreycardError, match="candidates: every channel must be a positive number"):
        model_file.load(change(candidates__1=np.zeros((12, 3), np.float32)))
    with pytest.raises(GreycardError, match="cell1_weight should be finite and of shape"):
        model_file.load(change(network__cell1_weight=np.zeros((3, 3), np.float32)))
    with pytest.raises(GreycardError, match="cell1_weight should be finite"):
        model_file.load(change(network__cell1_weight=np.full((64, 64), np.nan, np.float32)))


def test_broken_gain_or_bias_is_named(tmp_path, untrained_model):
    path = tmp_path / "m.safetensors"
    for gain, bias, wrong in (
        (np.full(12, np.nan, np.float32), np.zeros(12, np.float32), "gain"),
        (None, np.zeros(3, np.float32), "bias"),
    ):
        learned = CandidateSet(untrained_model.cameras["Alpha One"].illuminants, gain, bias)
        model_file.save(replace(untrained_model, cameras={"Alpha One": learned}), path)
        with pytest.raises(GreycardError, match=rf"m\.safetensors: {wrong} must have 12 finite numbers"):
            model_file.load(path)


def test_a_name_that_no_system_takes_is_no_crash():
    with pytest.raises(GreycardError, match="not a bundled model"):
        model_file.load("x" * 5000)


def test_a_newer_format_is_refused(tmp_path, untrained_model, monkeypatch):
    monkeypatch.setattr(model_file, "FORMAT", 2)
    model_file.save(untrained_model, tmp_path / "m.safetensors")
    monkeypatch.setattr(model_file, "FORMAT", 1)
    with pytest.raises(GreycardError, match="newer greycard"):
        model_file.load(tmp_path / "m.safetensors")


def test_an_unknown_name_lists_the_bundled_models():
    with pytest.raises(GreycardError, match=r"'nonsense'.*greycard-1"):
        model_file.load("nonsense")


def test_a_bundled_model_is_checked_against_its_sum(monkeypatch):
    bundled = model_file._bundled()
    monkeypatch.setattr(model_file, "_bundled", lambda: bundled | {"sha256": {"greycard-1": "0" * 64}})
    with pytest.raises(GreycardError, match="checksum"):
        model_file.load()


def test_the_bundled_model_is_camera_agnostic():
    model = model_file.load()
    assert model.network.trainable_weights == 22_849
    assert model.network.weights == 24_641
    assert len(model.cameras) == 11
    assert all(candidates.gain is None for candidates in model.cameras.values())
    assert all(
        candidates.illuminants.shape == (120, 3) for name, candidates in model.cameras.items() if name != "Canon EOS-1D"
    )
    assert len(model.trained_on.names) == 568 + 1736 + 1707
