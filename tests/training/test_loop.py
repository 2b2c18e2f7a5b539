import re
from dataclasses import fields, replace

import numpy as np
import pytest

from greycard import GreycardError
from greycard.illuminant import angular_error

torch = pytest.importorskip("torch", reason="training needs torch")

from greycard.candidates import log_prior  # noqa: E402
from greycard.datasets.packed import concatenate  # noqa: E402
from greycard.training.loop import (  # noqa: E402
    TrainingCells,
    choose_candidates,
    draw_batches,
    draw_candidates,
    draw_lights,
    learning_rate,
    train,
)
from greycard.training.recipe import Recipe  # noqa: E402

QUICK = Recipe(epochs=4, batch=8, cells=16, candidates=12, dropout=0.1, schedule="cosine")


def weights(model):
    return np.concatenate([getattr(model.network, field.name).ravel() for field in fields(model.network)])


def test_a_seed_repeats_a_run_exactly_and_another_does_not(make_packed):
    data = make_packed(16)
    first, second, other = (train(data, QUICK.with_seed(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(weights(first), weights(second))
    np.testing.assert_array_equal(first.cameras["Alpha One"].gain, second.cameras["Alpha One"].gain)
    assert not np.array_equal(weights(first), weights(other))


def test_a_trained_model_is_trained_further(make_packed, tmp_path):
    first = make_packed(16, dataset="first")
    second = make_packed(16, dataset="second", seed=1)
    start = train(first, replace(QUICK, gain_bias="fixed"))
    still = replace(QUICK, learning_rate=1e-12)
    same = train(second, still, start=start)
    np.testing.assert_allclose(weights(same), weights(start), atol=1e-6)
    assert same.trained_on.datasets.tolist() == ["first"] * 16 + ["second"] * 16
    fresh = train(second, replace(still, fresh_last_layer=True), start=start)
    np.testing.assert_allclose(fresh.network.dense2_weight, start.network.dense2_weight, atol=1e-6)
    assert np.abs(fresh.network.dense3_weight - start.network.dense3_weight).max() > 1e-3
    checkpoint = tmp_path / "run.checkpoint"
    train(second, QUICK, start=start, checkpoint=checkpoint)
    with pytest.raises(GreycardError, match="remove it to start afresh"):
        train(second, QUICK, checkpoint=checkpoint)


class Killed(Exception):
    pass


def test_a_killed_run_goes_on_and_ends_as_if_nothing_had_happened(make_packed, tmp_path):
    data, checkpoint = make_packed(16), tmp_path / "run.checkpoint"

    def kill(done):
        if done.epochs == 2:
            raise Killed

    with pytest.raises(Killed):
        train(data, QUICK, checkpoint=checkpoint, report=kill)
    epochs = []
    resumed = train(data, QUICK, checkpoint=checkpoint, report=lambda done: epochs.append(done.epochs))
    assert epochs == [3, 4]
    straight = train(data, QUICK)
    np.testing.assert_array_equal(weights(resumed), weights(straight))
    np.testing.assert_array_equal(resumed.cameras["Alpha One"].gain, straight.cameras["Alpha One"].gain)
    np.testing.assert_array_equal(resumed.cameras["Alpha One"].bias, straight.cameras["Alpha One"].bias)
    assert resumed.results["training_error"] == straight.results["training_error"]


def test_a_checkpoint_of_another_run_is_refused(make_packed, tmp_path):
    data, checkpoint = make_packed(8), tmp_path / "run.checkpoint"
    train(data, QUICK, checkpoint=checkpoint)
    for other_data, other_recipe in (
        (data, replace(QUICK, dropout=0.2)),
        (make_packed(8, seed=1), QUICK),
        (replace(data, illuminants=data.illuminants[::-1]), QUICK),
    ):
        with pytest.raises(GreycardError, match="another recipe or other images"):
            train(other_data, other_recipe, checkpoint=checkpoint)
    checkpoint.write_bytes(b"rubbish")
    with pytest.raises(GreycardError, match="not a checkpoint"):
        train(data, QUICK, checkpoint=checkpoint)


def test_training_learns(make_packed):
    errors = []
    recipe = replace(QUICK, epochs=15)
    train(make_packed(32), recipe, report=lambda done: errors.append(done.error))
    assert errors[-1] < 0.5 * errors[0]


def test_gain_and_bias_are_learned_or_the_prior_is_that_of_the_labels(make_packed):
    data = make_packed(16)
    learned = train(data, QUICK).cameras["Alpha One"]
    assert np.abs(learned.gain - 1).max() > 0
    assert np.abs(learned.bias).max() > 0
    fixed = train(data, replace(QUICK, gain_bias="fixed")).cameras["Alpha One"]
    assert fixed.gain is None
    np.testing.assert_array_equal(fixed.bias, log_prior(data.illuminants, fixed.illuminants))


def test_a_model_with_one_set_uses_it_also_for_unknown_cameras(make_packed):
    data = make_packed(16, cameras=("Alpha One", "Beta Two"))
    model = train(data, QUICK)
    assert set(model.cameras) == {"Alpha One", "Beta Two"}
    for shared in (*model.cameras.values(), model.any_camera):
        np.testing.assert_array_equal(shared.illuminants, model.any_camera.illuminants)
        np.testing.assert_array_equal(shared.gain, model.any_camera.gain)


def test_a_run_that_explodes_is_stopped(make_packed):
    with pytest.raises(GreycardError, match=r"epoch \d: the training error is no longer a number"):
        train(make_packed(8), replace(QUICK, learning_rate=1e30))


def test_the_frozen_layer_stays_as_it_is(make_packed):
    from greycard.training.network import LikelihoodNetwork

    before = LikelihoodNetwork().to_numpy()
    after = train(make_packed(8), QUICK).network
    np.testing.assert_array_equal(after.convolution_weight, before.convolution_weight)
    np.testing.assert_array_equal(after.convolution_bias, before.convolution_bias)


def test_a_model_records_what_it_was_trained_on(make_packed):
    data = concatenate([make_packed(6, dataset="a"), make_packed(6, dataset="b", seed=1)])
    model = train(data, QUICK)
    assert model.trained_on.datasets.tolist() == ["a"] * 6 + ["b"] * 6
    np.testing.assert_array_equal(model.trained_on.digests, data.digests())
    assert model.recipe["epochs"] == 4


def test_each_camera_has_candidates_from_its_own_labels(make_packed):
    data = make_packed(40, cameras=("Alpha One", "Beta Two"))
    recipe = replace(QUICK, cameras="each", gain_bias="fixed", candidates=20)
    sets = choose_candidates(data, recipe)
    assert len(sets.candidates) == 2
    for index, camera in enumerate(("Alpha One", "Beta Two")):
        own = data.illuminants[data.cameras == camera]
        assert angular_error(sets.candidates[index].numpy()[:, None], own[None]).min(axis=1).max() < 1e-3
    assert len(choose_candidates(data, replace(recipe, cameras="one")).candidates) == 1


def test_cameras_may_have_different_numbers_of_candidates(make_packed):
    data = concatenate([make_packed(16), make_packed(5, dataset="few", cameras=("Beta Two",), seed=1)])
    model = train(data, replace(QUICK, cameras="each", gain_bias="fixed"))
    assert {name: len(chosen.illuminants) for name, chosen in model.cameras.items()} == {"Alpha One": 12, "Beta Two": 5}


def test_a_batch_holds_one_camera_and_an_epoch_every_image_once():
    groups = np.array([0] * 70 + [1] * 33 + [2] * 5)
    batches = draw_batches(groups, 32, np.random.default_rng(0))
    assert sorted(np.concatenate(batches).tolist()) == list(range(108))
    assert all(len(np.unique(groups[batch])) == 1 and len(batch) <= 32 for batch in batches)
    order = [groups[batch[0]] for batch in batches]
    assert order != sorted(order)


def test_drawn_patches_are_neighbourhoods_of_cells_that_count(make_packed):
    data = make_packed(2)
    images = data.images.copy()
    images[0, :60] = 0  # only the last four rows are left
    cells = TrainingCells(replace(data, images=images))
    patches = cells.draw(np.array([0, 1]), data.illuminants, 500, np.random.default_rng(0)).numpy()
    assert patches.shape == (2, 500, 27)
    assert patches.min() > np.log(1e-4)  # a masked neighbour would be at the floor


def test_a_relit_image_is_what_the_camera_would_have_seen(make_packed):
    data = make_packed(2)
    images = data.images.astype(np.float64)
    images[0, :20] = 0
    old, new = data.illuminants[0], data.illuminants[1]
    # On a scale that rounding to integers does not touch.
    before = replace(data, images=np.round(images).astype(np.uint16))
    after = replace(before, images=before.images * (new / old) * 1000, illuminants=np.stack([new, new]))
    batch, lights = np.array([0]), new[None]
    np.testing.assert_allclose(
        TrainingCells(before).draw(batch, lights, 200, np.random.default_rng(0)).numpy(),
        TrainingCells(after).draw(batch, lights, 200, np.random.default_rng(0)).numpy(),
        atol=1e-4,
    )


def test_lights_are_borrowed_within_a_group_and_only_as_often_as_asked():
    illuminants = np.arange(300, dtype=float).reshape(100, 3) + 1
    groups, batch = np.arange(100) % 2, np.arange(0, 100, 2)
    for share, low, high in ((0.0, 0, 0), (0.5, 0.3, 0.7), (1.0, 0.9, 1.0)):
        lights = draw_lights(illuminants, groups, batch, share, np.random.default_rng(0))
        assert np.isin(lights[:, 0], illuminants[groups == 0][:, 0]).all()
        assert low <= np.mean(lights[:, 0] != illuminants[batch][:, 0]) <= high


def test_a_step_looks_at_some_of_the_candidates_or_at_all():
    generator = np.random.default_rng(0)
    drawn = [draw_candidates(120, 32, generator).tolist() for _ in range(50)]
    assert all(len(set(some)) == 32 and some == sorted(some) for some in drawn)
    assert len({candidate for some in drawn for candidate in some}) == 120
    for wanted in (0, 120, 500):
        assert draw_candidates(120, wanted, generator).tolist() == list(range(120))


def test_schedules():
    halving = Recipe()
    rates = [learning_rate(halving, epoch) for epoch in (0, 9.9, 10, 49, 50, 80, 119)]
    np.testing.assert_allclose(rates, [5e-3, 5e-3, 2.5e-3, 2.5e-3, 1.25e-3, 0.625e-3, 0.625e-3])
    cosine = replace(halving, schedule="cosine")
    np.testing.assert_allclose([learning_rate(cosine, epoch) for epoch in (0, 60, 120)], [5e-3, 2.5e-3, 0], atol=1e-12)


def test_an_unusable_training_image_is_named(make_packed):
    data = make_packed(4)
    images = data.images.copy()
    images[2] = 0
    with pytest.raises(GreycardError, match=re.escape("made-up_002.png: only 0 of 4096 cells")):
        train(replace(data, images=images), QUICK)
