import pytest

from greycard import GreycardError
from greycard.output import write_whole


def test_a_file_appears_whole_in_a_new_folder(tmp_path):
    write_whole(tmp_path / "new" / "ä.txt", "text")
    assert (tmp_path / "new" / "ä.txt").read_text() == "text"
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["ä.txt"]


def test_a_failed_write_keeps_the_old_file_and_leaves_no_rest(tmp_path):
    target = tmp_path / "a.txt"
    write_whole(target, "old")
    with pytest.raises(TypeError):
        write_whole(target, 3)
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_a_folder_in_the_way_is_named(tmp_path):
    (tmp_path / "a").write_text("a file, not a folder")
    with pytest.raises(GreycardError, match=r"b\.txt: cannot be written"):
        write_whole(tmp_path / "a" / "b.txt", "text")
