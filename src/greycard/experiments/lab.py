"""What the experiments share: where data and runs lie, and the protocols that several tables use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from greycard.camera import folder_name
from greycard.datasets import packed
from greycard.datasets.packed import FoldColumn, Packed, concatenate
from greycard.errors import GreycardError
from greycard.evaluation import Scores
from greycard.experiments.table import Row, figures_over_seeds
from greycard.model_file import Model
from greycard.splits import Split
from greycard.training import recipe as recipes
from greycard.training.checkpoint import Done
from greycard.training.crossval import Tested, Watcher, crossvalidate, pooled, trained
from greycard.training.recipe import Recipe


@dataclass(frozen=True)
class Outcome:
    """The scores of one run for each seed, and the seconds that they took together, also in earlier runs."""

    scores: Sequence[Scores]
    seconds: float

    def row(
        self, name: str, trained_on: str, published: Mapping[str, float], part: str = "overall", note: str = ""
    ) -> Row:
        """The line of a table about these runs. part: "overall", or "geometric_mean" over the cameras."""
        figures = figures_over_seeds([scores.report()[part] for scores in self.scores])
        return Row(name, trained_on, published, seconds=self.seconds, note=note, **figures)


@dataclass(frozen=True)
class Lab:
    """data: folder with gehler_shi.npz, nus8.npz and cube_plus.npz. runs: where models and estimates are kept.

    seeds: how often a run is repeated. say: called with a line about what is being done.
    """

    data: Path
    runs: Path
    seeds: int = 1
    say: Callable[[str], object] = lambda line: None

    @cached_property
    def gehler_shi(self) -> Packed:
        """568 pictures of two cameras."""
        return self._packed("gehler_shi")

    @cached_property
    def nus8(self) -> Packed:
        """1,736 pictures of eight cameras. The download has a ninth, the Nikon D40, which the literature leaves out."""
        data = self._packed("nus8")
        return data.where(data.cameras != "Nikon D40")

    @cached_property
    def cube_plus(self) -> Packed:
        """1,707 pictures of one camera."""
        return self._packed("cube_plus")

    @cached_property
    def cube_challenge(self) -> Packed | None:
        """363 further pictures of that camera, where they are at hand."""
        return self._packed("cube_challenge") if (self.data / "cube_challenge.npz").is_file() else None

    def without(self, left_out: str, seed: int = 0) -> Model:
        """A camera-agnostic network of the other two data sets: for unseen cameras, and to start fine-tuning from.

        It is the one that `greycard crossval --by dataset --recipe many-cameras --out runs/unseen` trains, too.
        """
        others = [data for data in (self.gehler_shi, self.nus8, self.cube_plus) if data.datasets[0] != left_out]
        recipe = recipes.load("many-cameras").with_seed(seed)
        return self.trained(f"unseen/without-{left_out}-seed-{seed}", concatenate(others), recipe)

    def trained(self, key: str, data: Packed, recipe: Recipe, start: Model | None = None) -> Model:
        """A model of all of `data`."""
        path = self.runs / f"{key}.safetensors"
        return trained(data, recipe, path, start=start, report=lambda done: self._tell(key, recipe, done))

    def cross_validated(
        self, key: str, data: Packed, recipe: Recipe, by: FoldColumn = "folds", start: Model | None = None
    ) -> Outcome:
        """Each fold in turn tested by a model of the others, for each seed."""
        runs = [self._run(key, data, recipe.with_seed(seed), by, start) for seed in range(self.seeds)]
        return Outcome([pooled(run) for run in runs], sum(part.seconds for run in runs for part in run.values()))

    def per_camera(
        self, key: str, data: Packed, recipe: Recipe, by: FoldColumn = "folds", start: Model | None = None
    ) -> Outcome:
        """The same for each camera by itself: one model for each camera and fold."""
        outcomes = [
            self.cross_validated(f"{key}/{folder_name(camera)}", data.where(data.cameras == camera), recipe, by, start)
            for camera in sorted(set(data.cameras.tolist()))
        ]
        together = [
            pooled({str(index): Tested(scores, 0.0) for index, scores in enumerate(of_seed)})
            for of_seed in zip(*(outcome.scores for outcome in outcomes), strict=True)
        ]
        return Outcome(together, sum(outcome.seconds for outcome in outcomes))

    def _run(self, key: str, data: Packed, recipe: Recipe, by: FoldColumn, start: Model | None) -> dict[str, Tested]:
        def training(split: Split, done: Done) -> None:
            self._tell(f"{key}, seed {recipe.seed}, {split.name}", recipe, done)

        return crossvalidate(data, recipe, by, self.runs / key, Watcher(training), start=start)

    def _tell(self, what: str, recipe: Recipe, done: Done) -> None:
        if done.epochs % max(1, recipe.epochs // 5) == 0:
            self.say(f"{what}: epoch {done.epochs}/{recipe.epochs}, error {done.error:.2f}")

    def _packed(self, name: str) -> Packed:
        path = self.data / f"{name}.npz"
        if not path.is_file():
            raise GreycardError(
                f"{path}: is missing; pack it from the public download (`greycard pack`, docs/data-sets.md), or name "
                "its folder with --data"
            )
        return packed.load(path)
