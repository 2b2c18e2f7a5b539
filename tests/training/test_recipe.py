import pytest

from greycard import GreycardError
from greycard.training import recipe
from greycard.training.recipe import Recipe


def load_text(tmp_path, text):
    path = tmp_path / "r.toml"
    path.write_text(text)
    return recipe.load(path)


def test_the_defaults_are_the_papers(tmp_path):
    assert load_text(tmp_path, "") == Recipe(
        epochs=120, batch=32, learning_rate=5e-3, schedule="halving", dropout=0.5, candidates=120, gain_bias="learned"
    )


def test_bundled_recipes_can_be_read():
    assert recipe.names() == ["fine-tune-many", "fine-tune-one", "many-cameras", "one-camera", "paper"]
    for name in recipe.names():
        assert recipe.load(name).candidates == 120
    assert recipe.load("fine-tune-one").fresh_last_layer
    assert recipe.load("paper") == Recipe()
    assert recipe.load("many-cameras").gain_bias == "fixed"
    assert recipe.load("many-cameras").cameras == "each"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("epoch = 3", "unknown key 'epoch'; did you mean 'epochs'?"),
        ("colour = 3", "unknown key 'colour'; known keys: epochs"),
        ('epochs = "many"', "epochs must be of type int"),
        ("epochs = 2.5", "epochs must be of type int"),
        ("epochs = true", "epochs must be of type int"),
        ("epochs = 0", "epochs must be a number above 0"),
        ("learning_rate = -1.0", "learning_rate must be a number above 0"),
        ("learning_rate = nan", "learning_rate must be a number above 0"),
        ("learning_rate = inf", "learning_rate must be a number above 0"),
        ("seed = 5000000000", "seed must be from 0"),
        ("dropout = 1.0", "dropout must be from 0 to below 1"),
        ("relight = 2", "relight must be from 0 to 1"),
        ("step_candidates = -1", "step_candidates must not be negative"),
        ("fresh_last_layer = 1", "fresh_last_layer must be of type bool"),
        ("seed = -1", "seed must be from 0"),
        ('strategy = "kmean"', "strategy must be one of 'kmeans', 'uniform', 'mixture', not 'kmean'"),
        ('cameras = "each"', "learned"),
        ("epochs = ", "not valid TOML"),
    ],
)
def test_every_key_is_checked(tmp_path, text, message):
    with pytest.raises(GreycardError) as caught:
        load_text(tmp_path, text)
    assert message in str(caught.value)
    assert "r.toml" in str(caught.value)


def test_an_integer_is_fine_where_a_number_is_meant(tmp_path):
    assert load_text(tmp_path, "learning_rate = 1").learning_rate == 1.0


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(GreycardError, match="no such recipe file"):
        recipe.load(tmp_path / "absent.toml")
    with pytest.raises(
        GreycardError, match=r"'nonsense': is not known; bundled: fine-tune-many, fine-tune-one, many-cameras"
    ):
        recipe.load("nonsense")
