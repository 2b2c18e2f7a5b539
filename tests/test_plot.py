import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="plots need matplotlib")

from greycard import plot
from greycard.estimator import Estimator


def test_every_candidate_the_estimate_and_the_truth_are_drawn(untrained_model, tmp_path):
    pixels = np.random.default_rng(0).uniform(0.1, 0.8, (70, 70, 3))
    estimate = Estimator(untrained_model).estimate(pixels, camera="Alpha One")
    figure = plot.posterior(estimate, [0.4, 0.8, 0.5])
    candidates, found, truth = figure.axes[0].collections
    assert len(candidates.get_offsets()) == 12
    np.testing.assert_allclose(truth.get_offsets()[0], [0.5, 0.625])
    np.testing.assert_allclose(found.get_offsets()[0], estimate.illuminant[[0, 2]] / estimate.illuminant[1])
    plot.save(figure, tmp_path / "p.png")
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_a_gallery_has_a_row_for_each_example_with_its_posterior_last(untrained_model):
    pixels = np.random.default_rng(0).uniform(0.1, 0.8, (70, 70, 3))
    estimate = Estimator(untrained_model).estimate(pixels, camera="Alpha One")
    pictures = {title: np.zeros((64, 64, 3), np.uint8) for title in ("before", "after")}
    figure = plot.gallery([plot.Example(name, pictures, estimate, [0.4, 0.8, 0.5]) for name in ("a.png", "b.png")])
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["before", "after", "a.png", "before", "after", "b.png"]
    assert [len(axes.images) for axes in figure.axes] == [1, 1, 0, 1, 1, 0]
