import json

import numpy as np
import pytest

import greycard
from greycard import GreycardError, synthetic
from greycard.datasets import packed
from greycard.estimator import Estimator, light_name
from greycard.illuminant import Temperature, angular_error, unit


@pytest.fixture
def pixels():
    return np.random.default_rng(0).uniform(0.05, 0.8, (80, 100, 3))


@pytest.fixture
def estimator(untrained_model):
    return Estimator(untrained_model)


def test_the_public_face():
    names = {"Alternative", "Estimate", "Estimator", "GreycardError", "Tracker", "__version__", "load"}
    assert set(greycard.__all__) == names
    assert all(hasattr(greycard, name) for name in greycard.__all__)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = greycard.nonsense


def test_an_estimate_holds_the_whole_posterior(estimator, pixels):
    estimate = estimator.estimate(pixels, camera="alpha one")
    assert estimate.camera == "Alpha One"
    assert estimate.candidates.shape == (12, 3)
    assert estimate.probabilities.sum() == pytest.approx(1)
    np.testing.assert_allclose(estimate.illuminant, estimate.posterior.mean())
    red, green, blue = estimate.gains
    assert green == 1
    np.testing.assert_allclose(np.array([red, green, blue]) * estimate.illuminant, estimate.illuminant[1])
    assert estimate.user_wb == [red, 1, blue, 1]
    assert sum(other.probability for other in estimate.alternatives(100)) == pytest.approx(1)
    assert len(estimate.alternatives(2)) <= 2


def test_nothing_is_invented_before_it_is_calibrated(estimator, pixels):
    estimate = estimator.estimate(pixels, camera="Alpha One")
    assert estimate.confidence is None
    assert estimate.credible_degrees(0.9) is None
    assert (estimate.cct, estimate.duv) == (None, None)  # no colour matrix of this camera is known
    with pytest.raises(GreycardError, match="share"):
        estimate.credible_degrees(90)


def test_arrays_files_and_thumbnails_give_the_same_answer(estimator, pixels, tmp_path):
    np.save(tmp_path / "a.npy", pixels)
    from_array = estimator.estimate(pixels, camera="Alpha One")
    from_file = estimator.estimate(tmp_path / "a.npy", camera="Alpha One")
    np.testing.assert_allclose(from_file.probabilities, from_array.probabilities)
    cells = np.random.default_rng(1).uniform(0.1, 0.8, (64, 64, 3)).astype(np.float32)
    np.testing.assert_allclose(
        estimator.estimate_thumbnail(cells, "Beta Two").probabilities,
        estimator.estimate(cells, camera="Beta Two").probabilities,
        rtol=1e-4,
    )


def test_exposure_does_not_matter(estimator, pixels):
    first = estimator.estimate(pixels, camera="Alpha One", white=np.inf)
    second = estimator.estimate(pixels * 0.01, camera="Alpha One", white=np.inf)
    np.testing.assert_allclose(first.probabilities, second.probabilities, rtol=1e-3)


def test_candidates_of_your_own(estimator, pixels):
    estimate = estimator.estimate(pixels, candidates=[[1, 2, 1], [2, 2, 1]])
    assert estimate.candidates.shape == (2, 3)
    with pytest.raises(GreycardError, match="row 1"):
        estimator.estimate(pixels, candidates=[[1, 2, 1], [2, 0, 1]])


def test_without_a_camera_the_candidates_of_all_are_used_with_a_warning(estimator, pixels):
    estimate = estimator.estimate(pixels)
    assert estimate.camera is None
    assert len(estimate.candidates) == 20
    assert any("no camera is named" in warning for warning in estimate.warnings)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda pixels: pixels * 0, "only 0 of 8000 pixels"),
        (lambda pixels: pixels * 0 + 1, "only 0 of 8000 pixels.*clipped"),
        (lambda pixels: pixels - 1, "negative"),
        (lambda pixels: np.where(pixels > 0.5, np.nan, pixels), "not finite"),
        (lambda pixels: (pixels * 1000).astype(int), "integers"),
        (lambda pixels: pixels[..., 0], "height, width, 3"),
        (lambda pixels: pixels * 60_000, "above the white level"),
    ],
)
def test_pictures_without_an_answer_are_refused(estimator, pixels, change, message):
    with pytest.raises(GreycardError, match=message):
        estimator.estimate(change(pixels), camera="Alpha One")


def test_a_fully_masked_picture_is_refused(estimator, pixels):
    with pytest.raises(GreycardError, match="only 0 of 8000 pixels"):
        estimator.estimate(pixels, camera="Alpha One", mask=np.ones((80, 100), bool))


def test_an_unknown_camera_is_refused(estimator, pixels):
    with pytest.raises(GreycardError, match=r"'Gamma Three' is not known.*Alpha One, Beta Two"):
        estimator.estimate(pixels, camera="Gamma Three")


@pytest.mark.parametrize("camera", [5, ["Alpha One"]])
def test_what_is_no_camera_name_is_refused(estimator, pixels, camera):
    with pytest.raises(GreycardError, match="camera: expected a name"):
        estimator.estimate(pixels, camera=camera)


def test_a_picture_that_is_mostly_masked_is_warned_about(estimator, pixels):
    mask = np.zeros((80, 100), bool)
    mask[:60] = True
    warnings = estimator.estimate(pixels, camera="Alpha One", mask=mask).warnings
    assert any("of the picture could be used" in warning for warning in warnings)


def test_a_picture_of_a_few_pixels_is_refused(estimator):
    with pytest.raises(GreycardError, match="only 63 of 63 pixels"):
        estimator.estimate(np.full((7, 9, 3), 0.5), camera="Alpha One")
    assert estimator.estimate(np.full((8, 8, 3), 0.5), camera="Alpha One").candidates.shape == (12, 3)


def test_an_unknown_camera_in_the_file_is_a_warning_and_a_known_one_is_used(estimator, pixels, tmp_path):
    import tifffile

    def tagged(make, model):
        tags = [(271, 2, 0, make, True), (272, 2, 0, model, True)]
        tifffile.imwrite(tmp_path / "a.tif", pixels.astype(np.float32), photometric="rgb", extratags=tags)
        return estimator.estimate(tmp_path / "a.tif")

    unknown = tagged("Canon", "EOS R5")
    assert unknown.camera == "Canon EOS R5"
    assert len(unknown.candidates) == 20
    assert any("Canon EOS R5 is not known" in warning for warning in unknown.warnings)
    known = tagged("BETA", "Two")
    assert known.camera == "Beta Two"
    assert not any("known" in warning for warning in known.warnings)


def test_lights_have_everyday_names():
    assert light_name(Temperature(2850, 0.0)) == "incandescent"
    assert light_name(Temperature(5500, 0.003)) == "daylight"
    assert light_name(Temperature(9000, 0.003)) == "shade or blue sky"
    assert light_name(Temperature(4200, 0.02)) == "fluorescent or foliage"
    assert light_name(None) is None


@pytest.mark.parametrize("light", ["A", "D65", "FL2", "4000K"])
def test_the_bundled_model_finds_the_light_of_a_scene_from_spectra(light):
    """A camera and a scene that the model never saw; the truth is known by construction."""
    scene = synthetic.scene(light, seed=1)
    estimate = greycard.load().estimate(scene.pixels, candidates=synthetic.camera_candidates())
    assert angular_error(estimate.illuminant, scene.illuminant) < 5


def test_a_real_photo_gets_a_temperature_and_the_json_contract(data_folder):
    data = packed.load(data_folder / "gehler_shi.npz")
    estimate = greycard.load().estimate_thumbnail(data.images[100], data.cameras[100], name="a.png")
    found = json.loads(json.dumps(estimate.to_dict()))
    assert list(found) == [
        "file",
        "camera",
        "illuminant",
        "gains",
        "cct",
        "duv",
        "confidence",
        "credible_degrees",
        "alternatives",
        "warnings",
        "candidates_from",
        "as_shot",
    ]
    assert found["confidence"] is None
    assert found["credible_degrees"] == {"50": None, "90": None}
    assert 1500 < found["cct"] < 20_000
    assert {"illuminant", "probability", "cct", "name"} == set(found["alternatives"][0])
    assert found["gains"][1] == 1


def raw_file(path, camera, matrix=None, balance=None):
    """A small RAW file by a camera, with a colour matrix and an AnalogBalance where wanted."""
    from conftest import fractions, write_dng

    mosaic = np.random.default_rng(0).integers(200, 3000, (160, 160)).astype(np.uint16)
    tags = {272: (2, 0, camera), 271: None}
    if matrix is not None:
        tags[50721] = (10, 9, fractions(matrix))
    if balance is not None:
        tags[50727] = (5, 3, fractions(balance))
    return write_dng(path, mosaic, tags=tags)


def test_which_candidates_win(tmp_path, untrained_model):
    """Given ones; else labels of the camera and the file's matrix; else the matrix; else those of all cameras."""
    from greycard.camera import ColourMatrices
    from greycard.candidates import from_colour_matrix

    estimator, identity = Estimator(untrained_model), np.eye(3)
    of_matrix = from_colour_matrix(ColourMatrices((identity,))).illuminants
    of_labels = untrained_model.cameras["Alpha One"].illuminants

    known = raw_file(tmp_path / "known.dng", "Alpha One", identity)
    own = unit([[1.0, 1, 1], [1, 2, 1]])
    np.testing.assert_allclose(estimator.estimate(known, candidates=own).candidates, own)
    with_matrix = estimator.estimate(known)
    np.testing.assert_array_equal(with_matrix.candidates[:12], of_labels)
    np.testing.assert_allclose(with_matrix.candidates[12:], of_matrix, atol=1e-6)
    bare = estimator.estimate(raw_file(tmp_path / "bare.dng", "Alpha One"))
    np.testing.assert_array_equal(bare.candidates, of_labels)
    unknown = raw_file(tmp_path / "unknown.dng", "Gamma Three", identity)
    np.testing.assert_allclose(estimator.estimate(unknown).candidates, of_matrix, atol=1e-6)
    origins = [estimator.estimate(path).candidates_from for path in (known, unknown)]
    assert origins == ["labels of Alpha One and colour matrix of the file", "colour matrix of the file"]
    assert bare.candidates_from == "labels of Alpha One"
    np.testing.assert_array_equal(estimator.estimate(unknown, "Alpha One").candidates, with_matrix.candidates)
    without = estimator.estimate(raw_file(tmp_path / "without.dng", "Gamma Three"))
    np.testing.assert_array_equal(without.candidates, untrained_model.any_camera.illuminants)
    assert any("Gamma Three is not known" in warning for warning in without.warnings)


def test_labels_do_not_fit_a_file_that_was_balanced_before_it_was_stored(tmp_path, untrained_model):
    path = raw_file(tmp_path / "balanced.dng", "Alpha One", np.eye(3), balance=[2, 1, 1.5])
    estimate = Estimator(untrained_model).estimate(path)
    assert len(estimate.candidates) > 100  # of the matrix, AnalogBalance included; there are 12 from labels
    assert estimate.cct is not None


def test_a_region_is_estimated_by_itself(untrained_model):
    pixels = np.random.default_rng(0).uniform(0.1, 0.8, (200, 200, 3))
    estimator = Estimator(untrained_model)
    part = estimator.estimate(pixels, "Alpha One", region=(0.5, 0.25, 1.0, 0.75))
    cut = estimator.estimate(pixels[50:150, 100:], "Alpha One")
    np.testing.assert_array_equal(part.probabilities, cut.probabilities)


def test_noisy_thumbnails_are_looked_at_in_fewer_cells(untrained_model):
    generator, estimator = np.random.default_rng(0), Estimator(untrained_model, "exact")
    scene = generator.uniform(0.2, 0.8, (32, 32, 3)).repeat(2, axis=0).repeat(2, axis=1)
    noise = generator.choice([-0.1, 0.1], (32, 1, 32, 1, 3)) * np.array([[1, -1], [-1, 1]])[None, :, None, :, None]
    noisy = scene + noise.reshape(64, 64, 3)  # its average over 2 x 2 cells is the scene's
    clean, coarse, fine = (
        estimator.estimate_thumbnail(cells, "Alpha One", grid=grid).probabilities
        for cells, grid in ((scene, 32), (noisy, 32), (noisy, 64))
    )
    np.testing.assert_allclose(coarse, clean, atol=1e-5)
    assert np.abs(fine - clean).max() > 1e-3


def test_the_chart_of_a_real_picture_is_found_where_the_cameras_own_white_is_far_off(raw_folder):
    estimate = greycard.load().estimate(raw_folder / "canon_eos_550d_colour_chart.dng", region=(0.35, 0.05, 0.80, 0.90))
    neutral = [0.321, 0.472, 0.207]
    assert float(angular_error(estimate.illuminant, neutral)) < 4
    assert float(angular_error(estimate.as_shot, neutral)) > 13


@pytest.mark.parametrize("processes", [1, 2])
def test_many_thumbnails_are_answered_in_their_order(estimator, make_packed, processes):
    images = make_packed(7, content="distinct").images
    one_by_one = [estimator.estimate_thumbnail(image, "Alpha One") for image in images]
    at_once = list(estimator.estimate_thumbnails(images, "Alpha One", processes=processes))
    for found, alone in zip(at_once, one_by_one, strict=True):
        np.testing.assert_allclose(found.illuminant, alone.illuminant, rtol=1e-6)
        np.testing.assert_allclose(found.probabilities, alone.probabilities, rtol=1e-4, atol=1e-9)
        assert (found.warnings, found.camera) == (alone.warnings, alone.camera)
    assert at_once[2].name == "thumbnail 2"
    assert list(estimator.estimate_thumbnails([], "Alpha One")) == []


def test_a_thumbnail_among_many_that_cannot_be_used_is_named(estimator, make_packed):
    images = make_packed(3).images
    images[1] = 0
    with pytest.raises(GreycardError, match="thumbnail 1: only 0 of 4096 cells"):
        list(estimator.estimate_thumbnails(images, "Alpha One"))


def test_speeds_are_told_apart_and_unknown_ones_refused(untrained_model, make_packed):
    cells = make_packed(1, content="distinct").images[0]
    candidates = unit(np.random.default_rng(0).uniform(0.2, 1, (80, 3)))
    answers = {
        speed: Estimator(untrained_model, speed).estimate_thumbnail(cells, candidates=candidates).probabilities
        for speed in ("exact", "default", "live")
    }
    assert not np.array_equal(answers["exact"], answers["default"])
    assert not np.array_equal(answers["default"], answers["live"])
    with pytest.raises(GreycardError, match="speed: expected one of exact, default, live"):
        Estimator(untrained_model, "ludicrous")
