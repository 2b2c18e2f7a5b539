import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from greycard import GreycardError
from greycard.statistics import STATISTICS, bootstrap_interval, geometric_mean, paired_comparison, summary


def test_statistics_of_a_list_that_can_be_worked_out_by_hand():
    found = summary(np.arange(1, 101)[::-1])
    assert found == {
        "n": 100,
        "mean": 50.5,
        "median": 50.5,
        "trimean": pytest.approx((25.75 + 2 * 50.5 + 75.25) / 4),
        "best25": 13.0,  # mean of 1 to 25
        "worst25": 88.0,  # mean of 76 to 100
        "worst5": 98.0,  # mean of 96 to 100
        "max": 100.0,
    }


@given(st.lists(st.floats(0, 90), min_size=1, max_size=50))
def test_statistics_are_ordered(errors):
    found = summary(errors)
    assert found["best25"] <= found["mean"] + 1e-9
    assert found["mean"] <= found["worst25"] + 1e-9
    assert found["worst25"] <= found["worst5"] + 1e-9
    assert found["worst5"] <= found["max"] + 1e-9


def test_the_geometric_mean_is_over_cameras_and_each_statistic():
    rows = [dict.fromkeys(STATISTICS, 2.0), dict.fromkeys(STATISTICS, 8.0)]
    assert geometric_mean(rows) == pytest.approx(dict.fromkeys(STATISTICS, 4.0))


def test_the_bootstrap_covers_the_truth_about_as_often_as_it_says():
    generator = np.random.default_rng(0)
    hits = 0
    for seed in range(200):
        low, high = bootstrap_interval(generator.gamma(2, 1, 80), seed=seed)
        hits += low <= 2.0 <= high
    assert 0.88 <= hits / 200 <= 0.99


def test_a_paired_comparison_sees_what_unpaired_spread_would_hide():
    generator = np.random.default_rng(1)
    hard = generator.gamma(1, 3, 300)
    better, worse = hard + 0.1 + generator.normal(0, 0.05, 300), hard + 0.2 + generator.normal(0, 0.05, 300)
    found = paired_comparison(better, worse)
    assert found["mean_difference"] == pytest.approx(-0.1, abs=0.02)
    assert found["mean_interval"][1] < 0
    assert found["better_share"] > 0.85
    same = paired_comparison(better, better)
    assert same["mean_interval"] == [0, 0]
    assert same["better_share"] == 0


@pytest.mark.parametrize("wrong", [[], [np.nan], [[1.0, 2.0]]])
def test_what_is_no_list_of_errors_is_refused(wrong):
    with pytest.raises(GreycardError, match="errors"):
        summary(wrong)


def test_a_paired_comparison_needs_the_same_images():
    with pytest.raises(GreycardError, match="same images"):
        paired_comparison([1.0, 2.0], [1.0])
