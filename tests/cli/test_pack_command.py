"""`greycard pack` as a user starts it."""

import imagecodecs
import numpy as np
import pytest

from greycard.datasets import packed


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    levels = np.random.default_rng(0).integers(500, 5000, (64, 64, 1))
    for name in ("a.png", "b.png"):
        (folder / name).write_bytes(imagecodecs.png_encode((levels * [2, 4, 3]).astype(np.uint16)))
    return folder


def label(folder, *lines):
    (folder / "labels.csv").write_text("\n".join(["file,camera,r,g,b", *lines]) + "\n")


def test_pack_names_what_is_missing_and_packs_the_rest(run, folder, tmp_path):
    label(folder, "a.png,Alpha One,2,4,3", "absent.png,Alpha One,2,4,3", "b.png,Alpha One,2,x,3")
    out = tmp_path / "set.npz"
    code, printed, err = run("pack", "pictures", folder, "--out", out, "--workers", "1")
    assert code == 1
    assert printed == f"{out}: 1 pictures packed, 2 left out\n"
    assert err.splitlines() == [
        f"greycard: {folder / 'labels.csv'}: line 4: could not convert string to float: 'x'",
        f"greycard: {folder / 'absent.png'}: there is no such file; the data set should have it",
    ]
    assert packed.load(out).names.tolist() == ["a.png"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "set.npz"]


def test_a_packed_file_is_replaced_only_when_asked(run, folder, tmp_path):
    label(folder, "a.png,Alpha One,2,4,3", "b.png,Alpha One,2,4,3")
    out = tmp_path / "set.npz"
    out.write_text("old")
    code, printed, err = run("pack", "pictures", folder, "--out", out)
    assert (code, printed) == (1, "")
    assert err == f"greycard: {out}: exists already; choose another name or --overwrite\n"
    assert out.read_text() == "old"
    code, printed, err = run("pack", "pictures", folder, "--out", out, "--overwrite", "--workers", "1")
    assert (code, err) == (0, "")
    assert printed == f"{out}: 2 pictures packed, 0 left out\n"
    assert packed.load(out).names.tolist() == ["a.png", "b.png"]


def test_problems_are_told_also_where_there_is_nothing_to_pack(run, folder, tmp_path):
    label(folder, "a.png,Alpha One,2,x,3")
    code, _, err = run("pack", "pictures", folder, "--out", tmp_path / "set.npz")
    assert code == 1
    assert "line 2: could not convert string to float: 'x'" in err
    assert "there are no pictures to pack" in err
    label(folder, "absent.png,Alpha One,2,4,3")
    code, printed, err = run("pack", "pictures", folder, "--out", tmp_path / "set.npz", "--workers", "1")
    assert (code, printed) == (1, "nothing packed\n")
    assert "absent.png" in err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pictures", "mine", "--out", "set.npy"], "set.npy: a packed data set ends in .npz"),
        (["pictures", "absent", "--out", "set.npz"], "absent: there is no such folder"),
        (["pictures", "mine", "--out", "set.npz"], "labels.csv: is missing"),
        (["nus-8", "mine", "--out", "set.npz", "--labels", "rec"], "--labels belongs to gehler-shi"),
        (["gehler-shi", "mine", "--out", "set.npz", "--labels", "rec"], "holds 2 PNG files where 568 are expected"),
    ],
)
def test_what_a_user_can_mend_is_one_line(run, folder, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("pack", *arguments)
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert err.startswith("greycard: ")
    assert message in err


def test_labels_reach_the_gehler_shi_loader(run, tmp_path):
    from scipy.io import savemat

    files = np.zeros((1, 1), [("name", object)])
    files["name"] = "IMG_0001.tif"
    split = np.empty((1, 1), object)
    split[0, 0] = np.array([[1.0]])
    savemat(tmp_path / "threefoldCVsplit.mat", {"Xfiles": files, "te_split": split})
    assert "real_illum_568.mat: is missing" in run("pack", "gehler-shi", tmp_path, "--out", "set.npz")[2]
    err = run("pack", "gehler-shi", tmp_path, "--out", "set.npz", "--labels", "rec")[2]
    assert "ColorCheckerData.mat: is missing" in err
