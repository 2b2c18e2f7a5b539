import numpy as np
import pytest

from greycard import GreycardError
from greycard.datasets.packed import Packed, concatenate
from greycard.estimator import Estimator
from greycard.evaluation import Scores, evaluate, label_candidates, read_predictions, seen
from greycard.model_file import TrainingImages


def trained_on(data):
    return TrainingImages(data.datasets, data.names, data.digests())


def with_history(model, data):
    from dataclasses import replace

    return Estimator(replace(model, trained_on=trained_on(data)))


def test_a_report_has_the_contracts_keys(make_packed):
    data = make_packed(12, cameras=("Alpha One", "Beta Two"))
    report = Scores(data, data.illuminants * [1.1, 1, 1]).report()
    assert set(report["cameras"]) == {"Alpha One", "Beta Two"}
    for row in (*report["cameras"].values(), report["overall"]):
        assert {"n", "mean", "median", "trimean", "best25", "worst25", "worst5", "max"} <= set(row)
    assert report["overall"]["n"] == 12
    assert report["geometric_mean"]["mean"] == pytest.approx(
        np.sqrt(report["cameras"]["Alpha One"]["mean"] * report["cameras"]["Beta Two"]["mean"])
    )
    low, high = report["overall"]["mean_interval"]
    assert low <= report["overall"]["mean"] <= high
    assert report["reproduction"]["mean"] > 0


def test_perfect_estimates_have_no_error(make_packed):
    data = make_packed(6)
    assert Scores(data, data.illuminants).report()["overall"]["max"] == pytest.approx(0, abs=1e-6)


def test_per_image_errors_can_be_read_back_as_predictions(make_packed, tmp_path):
    data = make_packed(6)
    scores = Scores(data, data.illuminants * [1.1, 1, 1])
    scores.write_csv(tmp_path / "errors.csv")
    again = read_predictions(tmp_path / "errors.csv", data)
    np.testing.assert_allclose(again.angular_errors, scores.angular_errors, atol=1e-3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,r,g\n", "columns name, r, g, b"),
        ("", "columns name, r, g, b"),
        ("name,r,g,b\nmade-up_000.png,1,x,1\n", "line 2"),
        ("name,r,g,b\nmade-up_000.png,1,-1,1\n", "line 2"),
        ("name,r,g,b\nmade-up_000.png,1,1,1\nmade-up_000.png,1,1,1\n", "line 3: a second row"),
        ("name,r,g,b\nmade-up_000.png,1,1,1\n", "no row for made-up_001.png and 4 more"),
    ],
)
def test_wrong_predictions_are_named(make_packed, tmp_path, text, message):
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(GreycardError, match=f"p.csv.*{message}"):
        read_predictions(tmp_path / "p.csv", make_packed(6))


def test_a_spreadsheets_csv_is_read(make_packed, tmp_path):
    data = make_packed(3)
    rows = "".join(f"{name},{r},{g},{b}\n" for name, (r, g, b) in zip(data.names, data.illuminants, strict=True))
    (tmp_path / "p.csv").write_text("\ufeffname,r,g,b\n" + rows, encoding="utf-8")
    assert read_predictions(tmp_path / "p.csv", data).angular_errors.max() < 1e-6


def test_a_model_is_not_scored_on_what_it_has_seen(make_packed, untrained_model):
    data = make_packed(6)
    estimator = with_history(untrained_model, data)
    with pytest.raises(GreycardError, match=r"trained on every image.*--include-seen"):
        evaluate(estimator, data, candidates="model")
    asked = evaluate(estimator, data, candidates="model", include_seen=True)
    assert asked.report()["seen_images_scored"] == 6


def test_a_planted_overlap_is_found_under_another_name(make_packed, untrained_model):
    """Three training images hidden in a test set: other data set, other names, other order."""
    training, test = make_packed(6, dataset="train"), make_packed(8, dataset="test", seed=1)
    planted = make_packed(6, dataset="innocent").where(np.arange(6) >= 3)
    mixed = concatenate([test, planted])
    estimator = with_history(untrained_model, training)
    assert seen(mixed, estimator.model.trained_on).tolist() == [False] * 8 + [True] * 3
    scores = evaluate(estimator, mixed, candidates="model")
    assert scores.data.names.tolist() == test.names.tolist()
    assert scores.seen == 0


def test_a_repacked_image_is_known_by_its_name(make_packed, untrained_model):
    training = make_packed(6, dataset="train")
    repacked = make_packed(6, dataset="train", seed=9)  # other pixels, the same data set and names
    assert seen(repacked, trained_on(training)).all()
    assert not seen(make_packed(6, dataset="other", seed=9), trained_on(training)).any()


def test_candidates_for_a_fold_come_from_the_other_folds(make_packed):
    data = make_packed(12, cameras=("Alpha One", "Beta Two"))
    chosen = label_candidates(data, "folds")
    assert set(chosen) == {(camera, fold) for camera in ("Alpha One", "Beta Two") for fold in (0, 1, 2)}
    for (camera, fold), chosen_set in chosen.items():
        candidates = chosen_set.illuminants
        allowed = data.illuminants[(data.cameras == camera) & (data.folds != fold)]
        forbidden = data.illuminants[(data.cameras == camera) & (data.folds == fold)]
        distances = np.abs(candidates[:, None] - allowed[None]).max(axis=-1).min(axis=1)
        np.testing.assert_allclose(distances, 0, atol=1e-12)
        assert np.abs(candidates[:, None] - forbidden[None]).max(axis=-1).min() > 1e-6
        np.testing.assert_allclose(chosen_set.bias, 0, atol=1e-6)  # every label is a candidate: all as frequent


def test_a_model_with_learned_gain_and_bias_uses_its_own_candidates(make_packed, untrained_model):
    from dataclasses import replace

    from greycard.candidates import CandidateSet

    data = make_packed(6)
    own = untrained_model.cameras["Alpha One"].illuminants
    learned = CandidateSet(own, np.ones(12, np.float32), np.full(12, -50, np.float32))
    learned.bias[3] = 50  # a prior that leaves no doubt
    model = replace(untrained_model, cameras={"Alpha One": learned}, any_camera=learned)
    estimates = evaluate(Estimator(model), data).estimates
    np.testing.assert_allclose(estimates, np.tile(own[3], (6, 1)), atol=1e-6)
    with pytest.raises(GreycardError, match="--candidates model"):
        evaluate(Estimator(model), data, candidates="labels")


def test_without_folds_the_way_out_is_named(make_packed, untrained_model):
    from dataclasses import replace

    with pytest.raises(GreycardError, match=r"has no 'scene_folds'.*--candidates model"):
        evaluate(Estimator(untrained_model), make_packed(3), folds="scene_folds")
    without = replace(make_packed(3), folds=np.full(3, -1))
    assert len(evaluate(Estimator(untrained_model), without, candidates="model").data) == 3


def test_predictions_are_matched_by_data_set_where_they_name_one(make_packed, tmp_path):
    first, second = make_packed(3, dataset="a"), make_packed(3, dataset="b", seed=1)
    second = Packed(**{**vars(second), "names": first.names})
    both = concatenate([first, second])
    Scores(both, both.illuminants).write_csv(tmp_path / "p.csv")
    assert read_predictions(tmp_path / "p.csv", both).angular_errors.max() < 1e-3


def test_labels_of_a_single_fold_leave_no_candidates(make_packed):
    from dataclasses import replace

    data = replace(make_packed(6), folds=np.zeros(6, np.int8))
    with pytest.raises(GreycardError, match="Alpha One: all its images are in one fold"):
        label_candidates(data, "folds")


def test_candidates_from_a_matrix_need_no_labels(make_packed, untrained_model, tmp_path):
    from greycard.camera import read_matrices
    from greycard.candidates import from_colour_matrix
    from greycard.evaluation import matrix_candidates

    data = make_packed(6, cameras=("Canon EOS 5D", "Sony SLT-A57"))
    estimator = Estimator(untrained_model)
    chosen = matrix_candidates(estimator, data, "folds")
    assert set(chosen) == {("Canon EOS 5D", 0), ("Canon EOS 5D", 1), ("Canon EOS 5D", 2)} | {
        ("Sony SLT-A57", fold) for fold in range(3)
    }
    assert len(evaluate(estimator, data, candidates="matrix").data) == 6
    unknown = make_packed(6)
    with pytest.raises(GreycardError, match="Alpha One: its colour matrix is not known; give it with --cameras"):
        evaluate(estimator, unknown, candidates="matrix")
    path = tmp_path / "cameras.json"
    path.write_text('{"xyz_to_camera": {"Alpha One": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}}')
    given = matrix_candidates(estimator, unknown, "folds", read_matrices(path))["Alpha One", 0]
    np.testing.assert_allclose(
        given.illuminants, from_colour_matrix(read_matrices(path)["Alpha One"]).illuminants, atol=1e-12
    )
    for wrong in ("no json", '{"xyz_to_camera": {"Alpha One": [[0, 0, 0], [0, 0, 0], [0, 0, 0]]}}', "{}"):
        path.write_text(wrong)
        with pytest.raises(GreycardError, match=r"cameras\.json"):
            read_matrices(path)


def test_a_prior_from_pictures_never_sees_the_fold_that_it_serves(make_packed, untrained_model):
    from dataclasses import replace

    from greycard.evaluation import matrix_candidates

    data, estimator = make_packed(33, cameras=("Canon EOS 5D",)), Estimator(untrained_model, "live")
    chosen = matrix_candidates(estimator, data, "folds", pictures=True)
    assert all(np.ptp(one.bias) > 0.1 for one in chosen.values())
    images = data.images.copy()
    images[data.folds == 1] = images[0]
    labels = np.roll(data.illuminants, 7, axis=0)
    changed = matrix_candidates(estimator, replace(data, images=images, illuminants=labels), "folds", pictures=True)
    np.testing.assert_array_equal(chosen["Canon EOS 5D", 1].bias, changed["Canon EOS 5D", 1].bias)
    assert np.abs(chosen["Canon EOS 5D", 0].bias - changed["Canon EOS 5D", 0].bias).max() > 1e-3
    assert len(evaluate(estimator, data, candidates="pictures", speed="live").data) == 33
