"""Table 5: a camera that was never seen: trained on NUS-8 and Gehler-Shi, tested on Cube+ (or its challenge)."""

from __future__ import annotations

from greycard.candidates import CandidateSet, log_prior, select
from greycard.datasets.packed import Packed
from greycard.evaluation import LABEL_CANDIDATES, CandidateSets, label_candidates
from greycard.experiments.lab import Lab
from greycard.experiments.table import Row, Table, figures_over_seeds, published
from greycard.training.crossval import Tested, scored


def run(lab: Lab) -> Table:
    """One row: nothing of the test camera but its labels is used."""
    runs = [unseen(lab, seed) for seed in range(lab.seeds)]
    return Table(
        "table-5",
        f"{where_tested(lab)} Of the test camera only labels are used, as candidates with their prior; no picture of "
        "it was trained on. NUS-8's Canon EOS 600D is a near sibling of the test camera, the Canon EOS 550D.",
        [
            Row(
                "unseen camera",
                "NUS-8 and Gehler-Shi",
                published(2.07, 1.31, 1.43, 0.41, 5.12),
                seconds=sum(one.seconds for one in runs),
                **figures_over_seeds([one.scores.report()["overall"] for one in runs]),
            )
        ],
    )


def unseen(lab: Lab, seed: int) -> Tested:
    """Scores on the challenge with candidates from Cube+, or on Cube+ with candidates from its other folds."""
    data, candidates = test_set(lab, LABEL_CANDIDATES)
    # On Cube+ this is the test of `greycard crossval --by dataset`, whose estimates serve.
    name = "without-cube_plus" if lab.cube_challenge is None else "cube_challenge"
    return scored(lab.without("cube_plus", seed), data, str(lab.runs / "unseen" / f"{name}-seed-{seed}"), candidates)


def test_set(lab: Lab, count: int) -> tuple[Packed, CandidateSets]:
    """The images to test, and as many candidates for each of their folds."""
    if lab.cube_challenge is not None:
        return lab.cube_challenge, _of_cube_plus(lab, count)
    return lab.cube_plus, label_candidates(lab.cube_plus, "folds", count)


def _of_cube_plus(lab: Lab, count: int) -> CandidateSets:
    """Candidates from all labels of Cube+ for every fold of the challenge, which shares no picture with it."""
    labels = lab.cube_plus.illuminants
    chosen = select(labels, count)
    camera = str(lab.cube_plus.cameras[0])
    return {(camera, fold): CandidateSet(chosen, bias=log_prior(labels, chosen)) for fold in (-1, 0, 1, 2)}


def where_tested(lab: Lab) -> str:
    """The beginning of a caption."""
    if lab.cube_challenge:
        return "The Cube challenge, candidates from the labels of Cube+."
    return (
        "**Not the same images as published:** the paper tests on the Cube challenge, which was not at hand; here it "
        "is Cube+, with candidates for each fold from the labels of its other folds."
    )
