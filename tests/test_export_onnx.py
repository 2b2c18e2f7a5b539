import numpy as np
import pytest

from greycard import GreycardError, export_onnx, model_file
from greycard.likelihood import log_likelihoods
from greycard.posterior import posterior
from greycard.thumbnail import log_image

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


@pytest.fixture(scope="module")
def model():
    return model_file.load()


@pytest.fixture(scope="module")
def session(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("onnx") / "light.onnx"
    assert export_onnx.write(model, path) < 1e-4
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


@pytest.mark.parametrize(("images", "count"), [(1, 1), (2, 5)])
def test_batch_and_candidates_may_be_any_number(session, model, images, count):
    generator = np.random.default_rng(images)
    blocks = generator.uniform(0.05, 1, (images, 16, 16, 3)).repeat(4, axis=1).repeat(4, axis=2)
    thumbnails = (30_000 * blocks * generator.uniform(0.9, 1.1, (images, 64, 64, 3))).astype(np.float32)
    thumbnails[0, 30:40, :12] = 0
    thumbnails[-1, ..., 1][1::2] = 0  # no cell is surrounded by valid ones
    lights = model.any_camera.illuminants[:count].astype(np.float32)
    gain, prior = generator.uniform(0.5, 1.5, (2, count)).astype(np.float32)
    inputs = {"thumbnails": thumbnails, "candidates": lights, "gain": gain, "log_prior": prior}
    scores, probabilities, found = session.run(["log_likelihoods", "posterior", "illuminant"], inputs)
    for index, thumbnail in enumerate(thumbnails):
        expected = log_likelihoods(model.network, log_image(thumbnail), lights)
        whole = posterior(expected, lights, gain, prior)
        np.testing.assert_allclose(scores[index], expected, atol=1e-4)
        np.testing.assert_allclose(probabilities[index], whole.probabilities, atol=1e-4)
        np.testing.assert_allclose(found[index], whole.mean(), atol=1e-4)


def test_a_graph_that_does_not_agree_is_not_written(model, tmp_path, monkeypatch):
    monkeypatch.setattr(export_onnx, "log_likelihoods", lambda *arguments: log_likelihoods(*arguments) + 1)
    with pytest.raises(GreycardError, match=r"light\.onnx: the ONNX graph differs"):
        export_onnx.write(model, tmp_path / "light.onnx")
    assert list(tmp_path.iterdir()) == []
