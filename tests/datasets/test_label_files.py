import numpy as np
import pytest
from miniature import cell, matlab_73
from scipy.io import savemat

from greycard import GreycardError
from greycard.datasets import label_files


def test_a_cell_of_names_and_numbers_come_back(tmp_path):
    savemat(tmp_path / "a.mat", {"names": cell(["a", "bc"], (2, 1)), "one": cell(["a"], (1, 1)), "level": np.uint16(7)})
    found = label_files.matlab(tmp_path / "a.mat", "names", "one", "level")
    assert [str(name) for name in found["names"]] == ["a", "bc"]
    assert [str(name) for name in found["one"]] == ["a"]
    assert found["level"].tolist() == [7]


def test_a_missing_variable_is_named(tmp_path):
    savemat(tmp_path / "a.mat", {"real_rgb": np.ones((2, 3))})
    with pytest.raises(GreycardError, match=r"a\.mat: has no variable CC_coords"):
        label_files.matlab(tmp_path / "a.mat", "real_rgb", "CC_coords")


def test_a_damaged_matlab_file_is_named(tmp_path):
    savemat(tmp_path / "a.mat", {"real_rgb": np.ones((50, 3))})
    content = (tmp_path / "a.mat").read_bytes()
    for broken in (content[:400], b"", b"hello", content[:128] + bytes(reversed(content[128:])), content[:100]):
        (tmp_path / "a.mat").write_bytes(broken)
        with pytest.raises(GreycardError, match=r"a\.mat: (cannot be read as a MATLAB file|has no variable real_rgb)"):
            label_files.matlab(tmp_path / "a.mat", "real_rgb")


def test_version_7_3_is_named_with_the_way_out(tmp_path):
    matlab_73(tmp_path / "a.mat")
    with pytest.raises(GreycardError, match=r"a\.mat: is of MATLAB's version 7\.3; save it again with the option -v7"):
        label_files.matlab(tmp_path / "a.mat", "real_rgb")


def test_labels_are_three_numbers_a_picture(tmp_path):
    np.testing.assert_array_equal(label_files.lights(np.uint8([1, 2, 3]), tmp_path), [[1.0, 2.0, 3.0]])
    for wrong in (np.ones((3, 2)), np.array([["a", "b", "c"]]), np.array([[None] * 3]), np.ones((2, 3, 3))):
        with pytest.raises(GreycardError, match="expected three numbers a picture"):
            label_files.lights(wrong, tmp_path)


def test_numbers_are_separated_by_blanks_or_commas(tmp_path):
    (tmp_path / "a.txt").write_text("1 2.5\t3e-1\r\n4, 5,6\n\n")
    assert label_files.numbers(tmp_path / "a.txt") == [[1, 2.5, 0.3], [4, 5, 6]]


def test_an_empty_line_would_shift_the_labels_and_is_refused(tmp_path):
    (tmp_path / "a.txt").write_text("1 2 3\n\n4 5 6\n")
    with pytest.raises(GreycardError, match=r"a\.txt: line 2: expected numbers, it is empty"):
        label_files.numbers(tmp_path / "a.txt")


def test_words_among_the_numbers_are_told_with_their_line(tmp_path):
    (tmp_path / "a.txt").write_text("1 2 3\nred green blue\n")
    with pytest.raises(GreycardError, match=r"a\.txt: line 2: expected numbers, found 'red green blue'"):
        label_files.numbers(tmp_path / "a.txt")


def test_a_table_is_read_as_spreadsheets_and_people_write_it(tmp_path):
    (tmp_path / "a.csv").write_bytes('\ufefffile, camera, r\r\n"a, b.png", Alpha One, 1\r\n'.encode())
    assert label_files.table(tmp_path / "a.csv", "file", "r") == [{"file": "a, b.png", "camera": "Alpha One", "r": "1"}]
    with pytest.raises(GreycardError, match=r"a\.csv: has no column g, b; found file, camera, r"):
        label_files.table(tmp_path / "a.csv", "r", "g", "b")


def test_files_that_hold_no_text_are_named(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"\xff\xfe\x80image")
    for read in (label_files.numbers, label_files.table):
        with pytest.raises(GreycardError, match=r"a\.csv: cannot be read as text"):
            read(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text("image\n" + "x" * 200_000)
    with pytest.raises(GreycardError, match=r"a\.csv: cannot be read as a table"):
        label_files.table(tmp_path / "a.csv", "image")


def test_a_missing_or_far_too_large_file_is_told(tmp_path, monkeypatch):
    with pytest.raises(GreycardError, match=r"a\.mat: is missing; the labels"):
        label_files.matlab(tmp_path / "a.mat", "x")
    monkeypatch.setattr(label_files, "_LARGEST", 10)
    (tmp_path / "a.txt").write_text("1 2 3 4 5 6")
    with pytest.raises(GreycardError, match=r"a\.txt: has 11 bytes, too many"):
        label_files.numbers(tmp_path / "a.txt")
