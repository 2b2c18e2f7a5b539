from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import greycard
from greycard import GreycardError, series
from greycard.estimator import Estimate
from greycard.illuminant import angular_error, unit
from greycard.posterior import Posterior, posterior

ANGLES = np.radians(np.arange(20, 61, 4.0))
CANDIDATES = unit(np.stack([np.cos(ANGLES), np.full(len(ANGLES), 0.8), np.sin(ANGLES)], axis=1))
NOON = datetime(2026, 5, 4, 12)


def belief(at, strength=6.0, wrong=0.0, prior=None):
    """A posterior that favours the candidate `at`."""
    distance = np.abs(np.arange(len(CANDIDATES)) - at - wrong)
    return posterior(-strength * np.minimum(distance, 4) / 4, CANDIDATES, bias=prior)


def estimate(at, name="a", **options):
    found = belief(at, **options)
    return Estimate(found.mean(), found, "Alpha One", name)


def taken(*seconds):
    return [None if one is None else NOON + timedelta(seconds=one) for one in seconds]


def paths(*names):
    return [Path(name) for name in names]


def test_bursts_gaps_and_folders():
    names = paths("a/1", "a/2", "a/3", "b/4", "a/5")
    times = taken(0, 1.5, 60, 1, None)
    assert series.grouped(names, "burst", times) == [[0, 1], [2], [4], [3]]
    assert series.grouped(names, "gap:100", times) == [[0, 1, 2], [4], [3]]
    assert series.grouped(names, "folder", times) == [[0, 1, 2, 4], [3]]


def test_a_burst_is_a_chain_in_the_order_of_time_not_of_names():
    assert series.grouped(paths("c", "a", "b"), "burst", taken(0, 2, 4)) == [[0, 1, 2]]


@pytest.mark.parametrize("rule", ["", "gap", "gap:x", "gap:-1", "hour:3", "gap:nan", "gap:1:2"])
def test_a_rule_that_makes_no_sense_is_refused(rule):
    with pytest.raises(GreycardError, match="--group: expected burst, folder or gap:SECONDS"):
        series.grouped([], rule, [])


def test_the_prior_counts_once():
    prior = np.linspace(-2, 2, len(CANDIDATES))
    silent = [belief(0, strength=0.0, prior=prior) for _ in range(9)]
    np.testing.assert_allclose(series.combined(silent).probabilities, silent[0].probabilities)


def test_many_pictures_are_more_evidence_than_one_but_not_as_much_as_independent_ones():
    one = belief(3)
    many = series.combined([one] * 9)
    independent = posterior(9 * one.evidence(), CANDIDATES)
    assert one.probabilities.max() < many.probabilities.max() < independent.probabilities.max()


def test_one_light_gives_one_balance_and_what_belongs_to_a_picture_stays_its_own():
    singles = [estimate(4, "a"), estimate(5, "b"), estimate(4, "c")]
    found = series.balanced_together(singles)
    assert [one.name for one in found] == ["a", "b", "c"]
    for one in found:
        np.testing.assert_array_equal(one.illuminant, found[0].illuminant)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 8), st.integers(1, 8))
def test_a_change_of_light_splits_a_group_where_it_is(before, after):
    series_of = [belief(1, strength=40)] * before + [belief(9, strength=40)] * after
    assert series.parts(series_of) == [slice(0, before), slice(before, before + after)]


def test_one_odd_picture_does_not_split_a_group():
    assert series.parts([belief(4), belief(4), belief(6), belief(4)]) == [slice(0, 4)]


def test_cameras_are_not_mixed():
    other = Posterior(CANDIDATES[:5], np.full(5, 0.2))
    stranger = Estimate(other.mean(), other, "Beta Two", "b")
    found = series.balanced_together([estimate(4), stranger, estimate(5)])
    np.testing.assert_array_equal(found[1].illuminant, stranger.illuminant)
    np.testing.assert_array_equal(found[0].illuminant, found[2].illuminant)


def test_nothing_changes_for_a_single_picture():
    one = estimate(4)
    np.testing.assert_allclose(series.balanced_together([one])[0].illuminant, one.illuminant)


class Scripted:
    """An estimator that says what it is told."""

    def __init__(self, answers):
        self._answers = iter(answers)

    def estimate(self, frame, camera=None, *, candidates=None):
        return next(self._answers)


def follow(answers):
    tracker = greycard.Tracker(Scripted(answers))
    return np.array([tracker.update(None).illuminant for _ in answers])


def test_the_first_frame_is_answered_like_a_picture():
    one = estimate(4)
    np.testing.assert_array_equal(follow([one])[0], one.illuminant)


def test_frames_that_say_nothing_let_the_tracker_forget():
    """What was seen fades until the prior alone is left."""
    prior = np.linspace(-2, 2, len(CANDIDATES))
    after = follow([estimate(1, strength=20, prior=prior)] + [estimate(0, strength=0, prior=prior)] * 80)
    distance = angular_error(after, posterior(prior, CANDIDATES).mean())
    assert np.all(np.diff(distance) <= 1e-9)
    assert distance[0] > 10
    assert distance[-1] < 0.1


def test_the_tracker_does_not_flicker():
    generator = np.random.default_rng(0)
    answers = [estimate(5, wrong=generator.normal(0, 1)) for _ in range(60)]
    alone = np.array([one.illuminant for one in answers])
    after = follow(answers)
    jitter = [np.mean(angular_error(lights[11:], lights[10:-1])) for lights in (alone, after)]
    assert jitter[1] < jitter[0] / 5


def test_the_tracker_follows_a_step_within_five_frames():
    after = follow([estimate(1, strength=20)] * 20 + [estimate(9, strength=20)] * 20)
    new = belief(9, strength=20).mean()
    assert float(angular_error(after[19], new)) > 20
    assert float(angular_error(after[24], new)) < 2


def test_the_tracker_follows_a_drift():
    places = np.linspace(1, 9, 80)
    after = follow([estimate(place, strength=20) for place in places])
    truth = np.array([belief(place, strength=20).mean() for place in places])
    assert np.mean(angular_error(after[10:], truth[10:])) < 3


def test_the_tracker_works_on_frames():
    tracker = greycard.Tracker(greycard.load(), camera="Canon EOS 5D")
    frame = np.random.default_rng(0).uniform(0.1, 0.8, (80, 80, 1)) * [0.4, 0.8, 0.5]
    first, second = tracker.update(frame), tracker.update(frame)
    assert second.probabilities.max() >= first.probabilities.max()
    assert second.probabilities.sum() == pytest.approx(1)


def test_groups_on_the_command_line_share_a_light(run, tmp_path):
    """Two linear pictures of one light in a folder, a third in another."""
    import json

    generator = np.random.default_rng(0)
    for name, light in (("a/1.npy", [0.4, 0.8, 0.5]), ("a/2.npy", [0.42, 0.8, 0.5]), ("b/3.npy", [0.6, 0.8, 0.3])):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        np.save(tmp_path / name, generator.uniform(0.1, 0.9, (70, 70, 1)) * light)
    files = [tmp_path / name for name in ("a/1.npy", "b/3.npy", "a/2.npy")]
    code, out, err = run("estimate", *files, "--camera", "Canon EOS 5D", "--group", "folder", "--json", "--workers", 1)
    first, other, second = (json.loads(line) for line in out.splitlines())
    assert code == 0, err
    assert [one["file"] for one in (first, other, second)] == [str(file) for file in files]
    assert first["illuminant"] == second["illuminant"] != other["illuminant"]
