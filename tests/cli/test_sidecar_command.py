"""`greycard sidecar` as a user starts it."""

import errno
from pathlib import Path

import numpy as np
import pytest

from conftest import fractions, write_dng
from greycard import sidecars

MATRIX = [[0.65, -0.12, -0.09], [-0.38, 1.16, 0.25], [-0.04, 0.15, 0.6]]


@pytest.fixture
def picture(tmp_path):
    grey = np.kron(np.random.default_rng(0).uniform(0.02, 0.5, (20, 30)), np.ones((8, 8)))
    stored = grey * np.tile([[0.45, 0.8], [0.8, 0.4]], (80, 120)) * 4095
    return write_dng(tmp_path / "Bild ä.dng", stored.astype(np.uint16), tags={50721: (10, 9, fractions(MATRIX))})


def test_a_sidecar_is_written_and_kept(run, picture, tmp_path):
    before = picture.read_bytes()
    (tmp_path / "a.png").write_bytes(b"")
    code, out, err = run("sidecar", picture, tmp_path / "a.png", "--for", "rawtherapee")
    path = tmp_path / "Bild ä.dng.pp3"
    assert (code, out.strip()) == (1, str(path))
    assert "a.png: is no RAW file" in err
    assert sidecars.read_labels([picture])[0] == [picture]
    kept = path.read_text()
    code, _, err = run("sidecar", picture, "--for", "rawtherapee")
    assert (code, path.read_text()) == (1, kept)
    assert f"{path}: has a white balance already; use --overwrite to replace it" in err
    assert picture.read_bytes() == before


def test_an_unknown_program_is_refused_before_anything_is_done(run, picture):
    code, _, err = run("sidecar", picture, "--for", "gimp")
    assert code == 1
    assert "--for: expected one of rawtherapee, darktable, adobe, got 'gimp'" in err


def test_sidecars_that_are_not_understood_and_a_read_only_folder_cost_a_line_each(monkeypatch, run, picture, tmp_path):
    """One is not XML, one is of a newer version, one cannot be written; the last one goes on."""
    names = ("a.dng", "b.dng", "c.dng")
    for name in names:
        (tmp_path / name).write_bytes(picture.read_bytes())
    newer = b'<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><r:Description xmlns:d="http://darktable.sf.net/"'
    newer += b' d:xmp_version="77"/></r:RDF>'
    for name, content in (("a.dng.xmp", b"no xml"), ("b.dng.xmp", newer)):
        (tmp_path / name).write_bytes(content)
    write_bytes = Path.write_bytes

    def refuse_c(self, data):
        if "c.dng" in self.name:
            raise OSError(errno.EROFS, "Read-only file system")
        return write_bytes(self, data)

    monkeypatch.setattr(Path, "write_bytes", refuse_c)
    code, out, err = run("sidecar", *(tmp_path / name for name in names), picture, "--for", "darktable", "--overwrite")
    assert (code, out.strip()) == (1, f"{picture}.xmp")
    assert [line for line in err.splitlines() if line.startswith("greycard: ")] == [
        f"greycard: {tmp_path / 'a.dng.xmp'}: is not XML (syntax error: line 1, column 0); mend or remove it",
        f"greycard: {tmp_path / 'b.dng.xmp'}: is of version 77, newer than greycard knows (5); it was not touched",
        f"greycard: {tmp_path / 'c.dng.xmp'}: cannot be written (Read-only file system)",
    ]
    assert (tmp_path / "a.dng.xmp").read_bytes() == b"no xml"
    assert (tmp_path / "b.dng.xmp").read_bytes() == newer
    assert {path.name for path in tmp_path.glob("*.xmp")} == {"a.dng.xmp", "b.dng.xmp", f"{picture.name}.xmp"}
