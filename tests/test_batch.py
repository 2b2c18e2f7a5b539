import multiprocessing
from dataclasses import dataclass

import numpy as np
import pytest

from conftest import random_network
from greycard import thumbnail
from greycard.batch import many
from greycard.candidates import CandidateSet
from greycard.coarse_to_fine import EFFORTS, Scorer
from greycard.errors import GreycardError
from greycard.illuminant import unit


@dataclass(frozen=True)
class Scores:
    scorer: Scorer

    def __call__(self, number, cells):
        return self.scorer.log_likelihoods(thumbnail.log_image(cells, f"thumbnail {number}"))


@pytest.fixture
def scores():
    candidates = CandidateSet(unit(np.random.default_rng(0).uniform(0.2, 1, (20, 3))))
    return Scores(Scorer(random_network(), candidates, EFFORTS["live"]))


@pytest.mark.parametrize("processes", [1, 2])
def test_results_come_in_the_order_of_the_thumbnails(scores, make_packed, processes):
    images = make_packed(70, content="distinct").images
    expected = [scores(number, cells) for number, cells in enumerate(images)]
    np.testing.assert_array_equal(list(many(scores, images, processes)), expected)


@pytest.mark.parametrize("processes", [1, 2])
def test_a_thumbnail_that_cannot_be_used_is_named(scores, make_packed, processes):
    images = make_packed(40).images.copy()
    images[33] = 0
    with pytest.raises(GreycardError, match="thumbnail 33: only 0 of 4096 cells"):
        list(many(scores, images, processes))


@pytest.mark.parametrize("processes", [1, 2])
def test_what_comes_before_a_bad_thumbnail_is_not_lost_and_no_process_is_left(scores, make_packed, processes):
    images = make_packed(40).images.copy()
    images[37] = 0
    found = many(scores, images, processes)
    assert len([next(found) for _ in range(37)]) == 37
    with pytest.raises(GreycardError, match="thumbnail 37") as error:
        next(found)
    assert error.traceback  # held, with all that its frames hold
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("processes", [0, -1])
def test_fewer_than_one_process_are_refused(scores, processes):
    with pytest.raises(GreycardError, match=f"processes: expected 1 or more, got {processes}"):
        list(many(scores, [], processes))


def test_of_no_thumbnails_nothing_is_made(scores):
    assert list(many(scores, [], 2)) == []
