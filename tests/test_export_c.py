import ctypes
import shutil
import subprocess

import numpy as np
import pytest

from greycard import export_c, model_file
from greycard.illuminant import angular_error
from greycard.likelihood import log_likelihoods
from greycard.posterior import posterior
from greycard.thumbnail import log_image

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler is installed")
STRICT = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic"]


@pytest.fixture(scope="module")
def model():
    return model_file.load()


@pytest.fixture(scope="module")
def folder(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("c")
    export_c.write(model, model.cameras["Canon EOS 5D"], folder / "light.c")
    return folder


@pytest.fixture(scope="module")
def library(folder):
    target = folder / "light.so"
    subprocess.run([COMPILER, *STRICT, "-shared", "-fPIC", "light.c", "-o", target, "-lm"], cwd=folder, check=True)
    return ctypes.CDLL(str(target))


def call(library, thumbnail, candidates, *, gain=None, prior=None, most_cells=0):
    """(cells looked at, log-likelihoods, posterior, illuminant) of the compiled file."""
    count = len(candidates)
    inputs = [np.ascontiguousarray(thumbnail, np.float32), np.ascontiguousarray(candidates, np.float32)]
    inputs += [None if one is None else np.ascontiguousarray(one, np.float32) for one in (gain, prior)]
    outputs = [
        np.zeros(4 * 64 * 64 + 320 * count, np.float32),
        *np.zeros((2, count), np.float32),
        np.zeros(3, np.float32),
    ]
    pointers = [None if one is None else one.ctypes.data_as(ctypes.c_void_p) for one in (*inputs, *outputs)]
    looked_at = library.greycard_estimate(*pointers[:4], count, most_cells, *pointers[4:])
    return looked_at, *outputs[1:]


@needs_compiler
def test_the_test_program_beside_it_compiles_without_a_warning_and_agrees(folder):
    subprocess.run([COMPILER, *STRICT, "light_test.c", "-o", "check", "-lm"], cwd=folder, check=True)
    run = subprocess.run([folder / "check"], capture_output=True, text=True, check=False)
    assert run.returncode == 0
    assert run.stdout.startswith("largest difference ")


@needs_compiler
def test_the_test_program_notices_another_weight(folder, tmp_path):
    text = (folder / "light.c").read_text()
    before, after = text.split("dense3_bias[1] = {\n", 1)
    (tmp_path / "light.c").write_text(before + "dense3_bias[1] = {\n 1.0f +" + after)
    shutil.copy(folder / "light_test.c", tmp_path)
    subprocess.run([COMPILER, *STRICT, "light_test.c", "-o", "check", "-lm"], cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "check"], capture_output=True, check=False).returncode == 1


@needs_compiler
def test_it_gives_the_answer_of_numpy(library, model, data_folder):
    from greycard.datasets import packed

    images = packed.load(data_folder / "gehler_shi.npz").images[[3, 300]]
    chosen = model.cameras["Canon EOS 5D"]
    lights = chosen.illuminants[::10]
    gain, prior = np.linspace(0.5, 1.5, len(lights)), np.linspace(-1, 1, len(lights))
    for image in images:
        expected = log_likelihoods(model.network, log_image(image), lights)
        whole = posterior(expected, lights, gain, prior)
        looked_at, scores, probabilities, light = call(library, image, lights, gain=gain, prior=prior)
        assert looked_at == log_image(image).counted.sum()
        np.testing.assert_allclose(scores, expected, atol=1e-4)
        np.testing.assert_allclose(probabilities, whole.probabilities, atol=1e-4)
        assert angular_error(light, whole.mean()) < 0.01


@needs_compiler
def test_few_cells_are_looked_at_where_asked_and_too_few_are_refused(library, model):
    thumbnail, lights = export_c.made_up_thumbnail(), model.any_camera.illuminants[:3]
    assert call(library, thumbnail, lights, most_cells=100)[0] == 100
    sparse = np.zeros_like(thumbnail)
    sparse[::4, ::4] = thumbnail[32::4, ::4].repeat(2, axis=0)[:16]  # none next to another: valid ones count
    looked_at, scores, _, _ = call(library, sparse, lights)
    assert looked_at == 256
    np.testing.assert_allclose(scores, log_likelihoods(model.network, log_image(sparse), lights), atol=1e-4)
    sparse[4:] = 0
    assert call(library, sparse, lights)[0] == 0


def test_a_name_cannot_leave_its_comment(model):
    from dataclasses import replace

    text = export_c.source(replace(model, name="a */ int main"), model.any_camera)
    assert "Model: a __ int main" in text
