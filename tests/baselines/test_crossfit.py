from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from greycard import GreycardError
from greycard.baselines import kept
from greycard.baselines import method as methods
from greycard.baselines.crossfit import crossfit, scored_on_others
from greycard.datasets.packed import concatenate
from greycard.illuminant import unit

FITS = []


class Remembers:
    """Estimates the mean light that it was fitted to, and remembers how many pictures that were."""

    def fit(self, thumbnails, illuminants):
        FITS.append(len(thumbnails))
        self.light_ = unit(np.mean(illuminants, axis=0))
        return self

    def predict(self, thumbnails):
        return np.tile(self.light_, (len(thumbnails), 1))


OWN = f"{__name__}:Remembers"


@pytest.fixture(autouse=True)
def _forget():
    FITS.clear()


def test_each_fold_is_estimated_from_the_others(make_packed):
    data = make_packed(12, cameras=("Alpha One", "Beta Two"))
    found = crossfit(OWN, data)
    assert FITS == [8, 8, 8]
    assert set(found.parts) == {"fold-0", "fold-1", "fold-2"}
    pooled = found.pooled()
    for fold in range(3):
        expected = unit(data.illuminants[data.folds != fold].mean(axis=0))
        np.testing.assert_allclose(pooled.estimates[pooled.data.folds == fold], np.tile(expected, (4, 1)))
    assert found.protocol == "fitted to the other folds, all cameras together"
    assert list(crossfit(OWN, data, only="fold-1").parts) == ["fold-1"]
    with pytest.raises(GreycardError, match="fold-9"):
        crossfit(OWN, data, only="fold-9")


def test_an_interrupted_run_goes_on_where_it_was(make_packed, tmp_path):
    data = make_packed(12, cameras=("Alpha One", "Beta Two"))
    data = replace(data, folds=np.arange(12) // 2 % 3)
    first = crossfit(OWN, data, per_camera=True, folder=tmp_path)
    assert FITS == [4] * 6
    assert (tmp_path / "Beta Two" / "fold-2.json").exists()
    (tmp_path / "Alpha One" / "fold-1.json").unlink()
    (tmp_path / "Beta Two" / "fold-0.json").write_text("{")
    again = crossfit(OWN, data, per_camera=True, folder=tmp_path)
    assert FITS == [4] * 8
    np.testing.assert_array_equal(again.pooled().estimates, first.pooled().estimates)
    # Other labels are another run: those of fold 0 teach folds 1 and 2 of both cameras.
    relabelled = np.where((data.folds == 0)[:, None], data.illuminants[:, ::-1], data.illuminants)
    crossfit(OWN, replace(data, illuminants=relabelled), per_camera=True, folder=tmp_path)
    assert FITS == [4] * 12


def test_what_a_method_imports_is_part_of_it():
    found = kept.source(methods.find("ffcc"))
    assert {"baselines/ffcc.py", "baselines/filters.py", "baselines/cells.py"} <= set(found)
    assert "baselines/bayesian.py" not in found
    assert "training/convolutional_mean.py" in kept.source(methods.find("convolutional-mean"))
    assert {"greycard/candidates.py", "greycard/statistics.py"} <= set(kept.source(methods.find("oh-kim")))


def test_what_lies_beside_somebodys_own_method_is_part_of_it(tmp_path, monkeypatch):
    (tmp_path / "beside_it.py").write_text("VALUE = 1\n")
    (tmp_path / "my_own_method.py").write_text(
        "from beside_it import VALUE\n\n\n"
        "class Own:\n"
        "    def fit(self, thumbnails, illuminants):\n        return self\n\n"
        "    def predict(self, thumbnails):\n        return VALUE\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    found = kept.source(methods.find("my_own_method:Own"))
    assert {Path(name).name for name in found} == {"my_own_method.py", "beside_it.py"}


def test_cameras_are_fitted_one_by_one_where_folds_share_scenes(make_packed):
    data = make_packed(12, cameras=("Alpha One", "Beta Two"))
    data = replace(data, folds=np.arange(12) // 2 % 3, scene_folds=np.arange(12) // 2 % 3)
    assert "each camera by itself" in crossfit(OWN, data).protocol
    assert FITS == [4] * 6
    FITS.clear()
    assert "scene folds, all cameras together" in crossfit(OWN, data, "scene_folds").protocol
    assert FITS == [8] * 3
    FITS.clear()
    crossfit(OWN, data, "scene_folds", per_camera=True)
    assert FITS == [4] * 6


def test_a_data_set_is_estimated_from_the_others(make_packed):
    data = concatenate([make_packed(6, dataset="a", seed=1), make_packed(9, dataset="b", seed=2)])
    found = crossfit(OWN, data, "dataset")
    assert FITS == [9, 6]
    assert {name: len(part.data) for name, part in found.parts.items()} == {"without-a": 6, "without-b": 9}
    with pytest.raises(GreycardError, match="--per-camera"):
        crossfit(OWN, data, "dataset", per_camera=True)


def test_what_learns_nothing_needs_no_folds(make_packed):
    data = make_packed(4)
    found = crossfit("gray-world", replace(data, folds=np.full(4, -1)))
    assert found.protocol == "nothing is fitted"
    assert len(found.pooled().data) == 4
    with pytest.raises(GreycardError, match="has no 'folds'"):
        crossfit("pca", replace(data, folds=np.full(4, -1)))


def test_a_camera_whose_name_looks_like_a_path_stays_in_the_folder(make_packed, tmp_path):
    data = make_packed(12)
    cameras = np.where(np.arange(12) % 2, "../escaped/Beta", "/tmp/Alpha")
    crossfit(OWN, replace(data, cameras=cameras), per_camera=True, folder=tmp_path / "kept")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert len(list((tmp_path / "kept").iterdir())) == 2


def test_pictures_that_were_fitted_to_are_not_scored(make_packed):
    data = make_packed(9, content="distinct")
    first = data.where(np.arange(9) < 3)
    assert len(scored_on_others(OWN, data, first).data) == 6
    with pytest.raises(GreycardError, match="every image"):
        scored_on_others(OWN, first, data)


def test_a_picture_that_cannot_be_used_is_named(make_packed):
    data = make_packed(6)
    data.images[4] = 0
    with pytest.raises(GreycardError, match=r"made-up_004\.png can be used"):
        crossfit("gray-world", data)


def test_every_name_leads_to_a_method():
    assert all(methods.find(name) is not None for name in methods.METHODS)
