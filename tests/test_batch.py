import numpy as np
import pytest

from conftest import random_network
from greycard import thumbnail
from greycard.batch import many_scores
from greycard.candidates import CandidateSet
from greycard.coarse_to_fine import EFFORTS, Scorer
from greycard.errors import GreycardError
from greycard.illuminant import unit


@pytest.fixture
def scorer():
    candidates = CandidateSet(unit(np.random.default_rng(0).uniform(0.2, 1, (20, 3))))
    return Scorer(random_network(), candidates, EFFORTS["live"])


@pytest.mark.parametrize("processes", [1, 2])
def test_scores_come_in_the_order_of_the_thumbnails(scorer, make_packed, processes):
    images = make_packed(70, content="distinct").images
    expected = [scorer.log_likelihoods(thumbnail.log_image(cells)) for cells in images]
    np.testing.assert_array_equal(list(many_scores(scorer, images, processes)), expected)


@pytest.mark.parametrize("processes", [1, 2])
def test_a_thumbnail_that_cannot_be_used_is_named(scorer, make_packed, processes):
    images = make_packed(40).images.copy()
    images[33] = 0
    with pytest.raises(GreycardError, match="thumbnail 33: only 0 of 4096 cells"):
        list(many_scores(scorer, images, processes))


def test_what_comes_before_a_bad_thumbnail_is_not_lost(scorer, make_packed):
    images = make_packed(40).images.copy()
    images[33] = 0
    scores = many_scores(scorer, images, 1)
    assert len([next(scores) for _ in range(33)]) == 33
    with pytest.raises(GreycardError):
        next(scores)


@pytest.mark.parametrize("processes", [0, -1])
def test_fewer_than_one_process_are_refused(scorer, processes):
    with pytest.raises(GreycardError, match=f"processes: expected 1 or more, got {processes}"):
        list(many_scores(scorer, [], processes))


def test_of_no_thumbnails_there_are_no_scores(scorer):
    assert list(many_scores(scorer, [], 2)) == []
