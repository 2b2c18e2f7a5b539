import zipfile
from dataclasses import replace

import numpy as np
import pytest

from conftest import save_packed
from greycard import GreycardError
from greycard.datasets import packed


def test_a_data_set_comes_back_as_it_was(tmp_path, make_packed):
    data = make_packed(9)
    read = packed.load(save_packed(data, tmp_path / "set.npz"))
    np.testing.assert_array_equal(read.images, data.images)
    np.testing.assert_allclose(read.illuminants, data.illuminants)
    assert set(read.datasets) == {"set"}
    np.testing.assert_array_equal(read.fold_numbers("folds"), data.folds)
    with pytest.raises(GreycardError, match="set: has no 'scene_folds'"):
        read.fold_numbers("scene_folds")


def test_parts_and_wholes(make_packed):
    first, second = make_packed(6, dataset="a"), make_packed(3, dataset="b", seed=1)
    together = packed.concatenate([first, second])
    assert len(together) == 9
    np.testing.assert_array_equal(together.where(together.datasets == "b").images, second.images)


def test_digests_follow_the_pixels_and_nothing_else(make_packed):
    first, renamed, other = make_packed(6, dataset="a"), make_packed(6, dataset="b"), make_packed(6, seed=1)
    np.testing.assert_array_equal(first.digests(), renamed.digests())
    assert not np.isin(first.digests(), other.digests()).any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda arrays: arrays.pop("illuminants"), "illuminants missing"),
        (lambda arrays: arrays.update(images=arrays["images"][:, :32]), "images should be"),
        (lambda arrays: arrays.update(images=arrays["images"].astype(float)), "images should be"),
        (lambda arrays: arrays.update(names=arrays["names"][:-1]), "names should be text of shape"),
        (lambda arrays: arrays.update(illuminants=-arrays["illuminants"]), "the illuminant of made-up_000.png"),
        (lambda arrays: arrays.update(names=np.array(["same"] * 6)), "the name same stands for more than one"),
        (lambda arrays: arrays.update({key: value[:0] for key, value in arrays.items()}), "holds no images"),
        (lambda arrays: arrays.update(names=np.array([None] * 6, dtype=object)), "cannot be read"),
        (lambda arrays: arrays.update(images=np.uint16(3)), "images should be"),
        (lambda arrays: arrays.update(illuminants=np.full((6, 3), "x")), "illuminants should be numbers"),
        (lambda arrays: arrays.update(folds=np.full(6, np.nan)), "folds should be integers"),
    ],
)
def test_what_is_wrong_is_said_by_name(tmp_path, make_packed, change, message):
    data = make_packed(6)
    arrays = {key: getattr(data, key) for key in ("images", "illuminants", "cameras", "names", "folds")}
    change(arrays)
    np.savez(tmp_path / "set.npz", **arrays)
    with pytest.raises(GreycardError, match=f"set.npz.*{message}"):
        packed.load(tmp_path / "set.npz")


def test_byte_order_and_scale_do_not_matter(tmp_path, make_packed):
    data = make_packed(6)
    tiny = data.illuminants * 1e-200
    np.savez(
        tmp_path / "set.npz", images=data.images.astype(">u2"), illuminants=tiny, cameras=data.cameras, names=data.names
    )
    read = packed.load(tmp_path / "set.npz")
    np.testing.assert_array_equal(read.images, data.images)
    np.testing.assert_allclose(read.illuminants, data.illuminants)


def test_fold_numbers_may_be_large(tmp_path, make_packed):
    data = replace(make_packed(3), folds=np.array([0, 256, 128]))
    assert packed.load(save_packed(data, tmp_path / "set.npz")).folds.tolist() == [0, 256, 128]


def test_broken_files_are_named(tmp_path, make_packed):
    data = make_packed(3)
    np.savez_compressed(tmp_path / "damaged.npz", images=data.images, names=data.names)
    content = bytearray((tmp_path / "damaged.npz").read_bytes())
    content[200:240] = bytes(40)
    (tmp_path / "damaged.npz").write_bytes(content)
    (tmp_path / "text.npz").write_text("hello")
    with zipfile.ZipFile(tmp_path / "foreign.npz", "w") as archive:
        archive.writestr("images", b"not an array")
        archive.writestr("names", b"nor this")
    for name in ("text.npz", "absent.npz", "foreign.npz", "damaged.npz"):
        with pytest.raises(GreycardError, match=name):
            packed.load(tmp_path / name)


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(packed, "_LARGEST", 1_000_000)
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("images.npy", bytes(2_000_000))
    with pytest.raises(GreycardError, match="unpacks to 2,000,000 bytes"):
        packed.load(tmp_path / "bomb.npz")


def test_the_real_data_sets_are_what_their_readme_says(data_folder):
    sizes = {name: len(packed.load(data_folder / f"{name}.npz")) for name in ("gehler_shi", "nus8", "cube_plus")}
    assert sizes == {"gehler_shi": 568, "nus8": 1736, "cube_plus": 1707}
    nus = packed.load(data_folder / "nus8.npz")
    assert set(np.unique(nus.fold_numbers("scene_folds"))) == {0, 1, 2}
