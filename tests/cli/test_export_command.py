import pytest


def test_a_c_file_with_the_candidates_of_a_camera(run, tmp_path):
    code, out, _ = run("export", tmp_path / "light.c", "--camera", "canon eos 5d")
    assert code == 0
    assert "light_test.c" in out
    text = (tmp_path / "light.c").read_text()
    assert "#define GREYCARD_CANDIDATES 120" in text
    assert (tmp_path / "light_test.c").is_file()


def test_an_onnx_file(run, tmp_path):
    pytest.importorskip("onnxruntime")
    code, out, _ = run("export", tmp_path / "light.onnx")
    assert code == 0
    assert "of greycard's" in out
    assert (tmp_path / "light.onnx").stat().st_size > 90_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["light.bin"], "expected a name that ends in .onnx or .c"),
        (["light.onnx", "--camera", "A"], "--camera belongs"),
    ],
)
def test_what_cannot_be_exported_is_said(run, tmp_path, arguments, message):
    code, _, err = run("export", tmp_path / arguments[0], *arguments[1:])
    assert code == 1
    assert message in err
    assert list(tmp_path.iterdir()) == []
