import pytest

from greycard import GreycardError
from greycard.datasets import listings


@pytest.mark.parametrize("kind", list(listings.LISTINGS))
def test_an_empty_folder_is_refused_with_what_was_expected(tmp_path, kind):
    with pytest.raises(GreycardError, match="expected"):
        listings.of(kind, tmp_path)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(GreycardError, match="absent: there is no such folder; expected the data set nus-8 in it"):
        listings.of("nus-8", tmp_path / "absent")


def test_an_unknown_data_set_is_refused_with_those_known(tmp_path):
    with pytest.raises(GreycardError, match="data set 'nus-9': is not known; known: gehler-shi, nus-8, "):
        listings.of("nus-9", tmp_path)
