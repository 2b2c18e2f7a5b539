"""What holds for every method, and what each is known for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from greycard import GreycardError
from greycard.baselines import held_out
from greycard.baselines.ccc import BINS, CCC, four_histograms
from greycard.baselines.cells import read
from greycard.baselines.convolutional_mean import SHAPES, ConvolutionalMean, inputs
from greycard.baselines.corrected_moments import correction, moments
from greycard.baselines.ffcc import FFCC
from greycard.baselines.filters import Penalty
from greycard.baselines.gray_index import contrast
from greycard.baselines.method import METHODS, find, learns, predicted
from greycard.baselines.minkowski import norm
from greycard.baselines.regression_trees import consensus
from greycard.baselines.shades_of_gray import ShadesOfGray
from greycard.illuminant import angular_error, unit

UNTRAINED = ("gray-world", "white-patch", "shades-of-gray", "general-gray-world", "gray-edge-1", "gray-edge-2", "pca")


def quick(name):
    """The method with little training."""
    if name == "ffcc":
        return FFCC(Penalty(), (4, 4))
    if name == "convolutional-mean":
        pytest.importorskip("torch", reason="its training needs torch")
        return ConvolutionalMean(epochs=100)
    return CCC(Penalty(map_size=1e6, map_slope=0), (4, 2)) if name == "ccc" else find(name)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_estimates_made_up_scenes_and_does_not_see_exposure_or_masked_cells(name, make_packed):
    data = make_packed(24)
    images = data.images.astype(np.float32)
    method = quick(name).fit(images[:18], data.illuminants[:18])
    found = predicted(method, images[18:], name)
    assert np.median(angular_error(found, data.illuminants[18:])) < 8
    np.testing.assert_allclose(unit(method.predict(images[18:] * 0.25)), unit(found), atol=2e-3)
    masked = images[18:].copy()
    masked[:, :20] = 0
    assert angular_error(method.predict(masked), found).max() < 12


@pytest.mark.parametrize("name", METHODS)
def test_what_the_estimator_refuses_every_method_refuses(name, make_packed):
    data = make_packed(6)
    method = quick(name).fit(data.images, data.illuminants)
    with pytest.raises(GreycardError, match="only 0 of 4096 cells of number 0"):
        method.predict(np.zeros((1, 64, 64, 3), np.uint16))
    with pytest.raises(GreycardError, match="not finite"):
        method.predict(np.full((1, 64, 64, 3), np.nan))
    with pytest.raises(GreycardError, match="of the shape"):
        method.predict(np.ones((1, 32, 32, 3)))


@pytest.mark.parametrize("name", [name for name in METHODS if name not in (*UNTRAINED, "gray-index")])
def test_a_learned_method_refuses_before_it_has_learned(name, make_packed):
    with pytest.raises(GreycardError, match="has to learn"):
        find(name).predict(make_packed(1).images)


@pytest.mark.parametrize("name", [name for name in UNTRAINED if name != "pca"])
@given(st.floats(0.3, 3), st.floats(0.3, 3))
@settings(max_examples=5, deadline=None)
def test_methods_without_learning_follow_a_change_of_the_light(name, red, blue):
    """Twice the red in the picture is twice the red in the estimate; not so for PCA, which chooses its cells anew."""
    generator = np.random.default_rng(0)
    image = generator.beta(2, 4, (1, 64, 64, 3)) * [0.5, 1, 0.7]
    method, change = find(name), np.array([red, 1, blue])
    expected = unit(method.predict(image) * change)
    assert angular_error(method.predict(image * change), expected)[0] < 1e-3


def test_norms_lie_between_the_mean_and_the_largest():
    values = np.random.default_rng(0).random((2, 64, 64, 3)).astype(np.float32)
    for power in (1.0, 2.0, 3.0, 6.0):
        np.testing.assert_allclose(
            norm(values, power), (values.astype(float) ** power).sum((1, 2)) ** (1 / power), 1e-4
        )


def test_parameters_are_chosen_on_the_pictures_given(make_packed):
    data = make_packed(12)
    images = data.images.copy()
    images[:, 0, 0] = 65535  # a white highlight of its own colour misleads high powers
    method = ShadesOfGray()
    assert method.pooling_ == 6
    assert method.fit(images, data.illuminants).pooling_ < 6


def test_the_light_of_gray_edges_is_not_that_of_a_coloured_plane():
    """A large coloured surface misleads gray-world, not the edges of grey texture upon it."""
    generator = np.random.default_rng(0)
    light = np.array([0.6, 1.0, 0.5])
    image = generator.uniform(0.2, 0.4, (1, 64, 64, 1)) * light
    image[:, :, 32:] = 0.5 * np.array([0.9, 0.2, 0.1]) * light
    errors = {name: float(angular_error(find(name).predict(image), light)[0]) for name in ("gray-world", "gray-edge-1")}
    assert errors["gray-edge-1"] < 0.5 * errors["gray-world"]


@given(st.floats(-8, 8))
@settings(max_examples=10, deadline=None)
def test_the_contrast_of_a_flat_picture_is_nothing(level):
    np.testing.assert_allclose(contrast(np.full((2, 64, 64, 3), level, np.float32)), 0, atol=1e-4)
    np.testing.assert_allclose(contrast(np.full((2, 64, 64), level, np.float32)), 0, atol=1e-4)


def test_gray_index_prefers_texture_that_does_not_change_colour():
    generator = np.random.default_rng(0)
    light = np.array([0.6, 1.0, 0.5])
    image = generator.uniform(0.2, 0.4, (1, 64, 64, 3)) * [0.9, 0.4, 0.1]
    image[:, 20:40, 20:40] = generator.uniform(0.1, 0.3, (1, 20, 20, 1)) * light
    assert angular_error(find("gray-index").predict(image), light)[0] < 0.5


def test_the_correction_of_moments_recovers_a_linear_truth(make_packed):
    found = moments(read(make_packed(40, content="distinct").images), ("colours", 2))
    truth = np.random.default_rng(0).random((9, 3))
    lights = unit(found @ truth)
    assert angular_error(found @ correction(found, lights), lights).mean() < 1.5


def test_the_convolutional_mean_without_torch_is_the_one_that_torch_computes(make_packed):
    torch = pytest.importorskip("torch", reason="compares with torch")
    generator = np.random.default_rng(0)
    method = ConvolutionalMean()
    method.weights_ = [generator.normal(0.1, 0.2, shape).astype(np.float32) for shape in SHAPES]
    method.offsets_ = [generator.normal(0.1, 0.1, shape[0]).astype(np.float32) for shape in SHAPES]
    images = make_packed(2).images
    images[0, :10] = 0
    pictures, counted = (torch.from_numpy(array) for array in inputs(read(images)))
    for last, weights, offsets in zip((False, False, True), method.weights_, method.offsets_, strict=True):
        layer = torch.from_numpy(weights), torch.from_numpy(offsets)
        pictures = torch.nn.functional.conv2d(pictures, *layer, padding="same")
        pictures = torch.nn.functional.softplus(pictures) if last else pictures.relu()
    expected = (pictures * counted[:, None]).sum(dim=(2, 3))
    np.testing.assert_allclose(method.predict(images), unit(expected.numpy()), atol=1e-5)
    assert sum(np.prod(shape) + shape[0] for shape in SHAPES) == 1137


def test_features_that_disagree_with_the_others_are_outvoted():
    agreeing = np.array([[[0.3, 0.4]], [[0.31, 0.4]], [[0.3, 0.41]], [[0.6, 0.1]]])
    np.testing.assert_allclose(consensus(agreeing), [[0.3, 0.4]])
    apart = np.array([[[0.1, 0.1]], [[0.2, 0.2]], [[0.3, 0.3]], [[0.6, 0.6]]])
    np.testing.assert_allclose(consensus(apart), [[0.25, 0.25]])


def test_settings_are_judged_on_pictures_that_were_not_learned_from():
    lights = np.tile([0.5, 0.7, 0.5], (21, 1))

    def estimates(setting, learned, rest):
        assert not np.any(learned & rest)
        assert learned.sum() == 14
        return lights[rest] + [setting, 0, 0]

    assert held_out.best((0.3, 0.1, 0.2), lights, estimates) == 0.1
    assert held_out.best((0.3, 0.1), lights[:9], estimates) == 0.3


class Constant:
    """Somebody's own method."""

    value = (1.0, 2.0, 1.0)

    def fit(self, thumbnails, illuminants):
        return self

    def predict(self, thumbnails):
        return np.tile(self.value, (len(thumbnails), 1))


class Negative(Constant):
    value = (1.0, -2.0, 1.0)


def test_anybodys_own_method_is_found_and_checked():
    own = find(f"{__name__}:Constant")
    assert learns(own)
    assert predicted(own, np.ones((2, 64, 64, 3)), "own").shape == (2, 3)
    with pytest.raises(GreycardError, match="rows of positive"):
        predicted(find(f"{__name__}:Negative"), np.ones((2, 64, 64, 3)), "own")
    for wrong, message in (
        ("nonsense", "'nonsense' is not known; expected one of gray-world"),
        ("absent_module:Class", "cannot be made"),
        ("greycard.statistics:Absent", "cannot be made"),
        ("collections:OrderedDict", "needs fit"),
    ):
        with pytest.raises(GreycardError, match=message):
            find(wrong)


def test_ccc_has_histograms_of_cells_and_of_what_is_sharp_bright_and_varied():
    """A grey surface with one light red cell and one masked one: what each of four pictures shows is known."""
    grey, red = np.float32(0.5), np.array([2.0, 0.5, 0.5], np.float32)
    picture = np.full((64, 64, 3), grey)
    picture[20, 20] = red
    picture[40, 40] = 0
    cells, beside, masked = 64 * 64, 9, 9
    origin = np.full(2, -BINS // 2 / 32)
    found = four_histograms(read(picture[None]), origin)[0]

    def share(histogram, red_over_grey):
        return histogram[BINS // 2 + round(-np.log(red_over_grey) * 32), BINS // 2]

    of_cells, sharp, bright, varied = found
    assert share(of_cells, 4) == pytest.approx(1 / (cells - 1))
    assert share(of_cells, 1) == pytest.approx((cells - 2) / (cells - 1))
    assert sharp.sum() == varied.sum() == 0  # they have red only, and red alone has no chroma
    blurred = ((8 * 0.5**4 + 2**4) / 9) ** 0.25
    assert share(bright, blurred / 0.5) == pytest.approx(beside / (cells - masked))
    assert share(bright, 1) == pytest.approx((cells - masked - beside) / (cells - masked))

    picture[20, 20] = [2.0, 1.0, 0.75]
    _, sharp, _, varied = four_histograms(read(picture[None]), origin)[0]
    place = (BINS // 2 + round(np.log(0.5 / 1.5) * 32), BINS // 2 + round(np.log(0.5 / 0.25) * 32))
    assert sharp[place] == pytest.approx(1)  # of the cell alone: 1.5, 0.5 and 0.25 above grey
    assert varied[place] == pytest.approx(1)  # of the cell and those beside it
    flat = four_histograms(read(np.full((1, 64, 64, 3), grey)), origin)[0]
    np.testing.assert_allclose(flat.sum(axis=(1, 2)), [1, 0, 1, 0], atol=1e-6)


@pytest.mark.parametrize("name", METHODS)
def test_too_few_pictures_or_lights_are_refused(name, make_packed):
    data = make_packed(12)
    method = quick(name)
    with pytest.raises(GreycardError, match="expected one or more"):
        method.predict(data.images[:0]) if not learns(method) else method.fit(data.images[:0], data.illuminants[:0])
    if learns(method):
        with pytest.raises(GreycardError, match="illuminants: 5 were given for 12 thumbnails"):
            method.fit(data.images, data.illuminants[:5])
        fitted = method.fit(list(data.images), list(data.illuminants))
        with pytest.raises(GreycardError, match="expected one or more"):
            fitted.predict(data.images[:0])


def test_corrected_moments_of_flat_pictures_are_some_light(make_packed):
    data = make_packed(12)
    flat = np.broadcast_to(data.illuminants[:, None, None], (12, 64, 64, 3)).astype(np.float32)
    found = find("corrected-moments").fit(flat, data.illuminants).predict(flat)
    assert np.all(np.isfinite(found))
    assert angular_error(found, data.illuminants).max() < 1


@pytest.mark.parametrize(
    ("name", "mean", "median"), [("gehler_shi", 4.74, 3.56), ("nus8", 4.19, 3.25), ("cube_plus", 3.57, 2.53)]
)
def test_gray_world_on_real_pictures(data_folder, name, mean, median):
    from greycard.datasets import packed
    from greycard.evaluation import Scores

    data = packed.load(data_folder / f"{name}.npz")
    report = Scores(data, find("gray-world").predict(data.images)).report()
    found = report["geometric_mean" if name == "nus8" else "overall"]
    assert found["mean"] == pytest.approx(mean, abs=0.01)
    assert found["median"] == pytest.approx(median, abs=0.01)
