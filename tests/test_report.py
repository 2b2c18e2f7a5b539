import csv
import json

import pytest

from greycard import GreycardError
from greycard.report import Report

ANSWER = {
    "illuminant": [0.4, 0.8, 0.447],
    "gains": [2.0, 1.0, 1.79],
    "alternatives": [{"illuminant": [0.4, 0.8, 0.447], "probability": 0.9}],
    "warnings": ["dark, perhaps"],
}


@pytest.fixture
def pictures(tmp_path):
    paths = [tmp_path / f"{name}.png" for name in "abc"]
    for path in paths:
        path.write_bytes(b"x")
    return [str(path) for path in paths]


@pytest.fixture(params=["report.csv", "report.jsonl"])
def path(request, tmp_path):
    return tmp_path / request.param


def lines(path):
    text = path.read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines())) if path.suffix == ".csv" else [*map(json.loads, text.splitlines())]


def test_a_second_run_goes_on_where_the_first_ended(path, pictures):
    with Report(path, ["a"]) as report:
        assert report.done == set()
        report.add({"file": pictures[0], **ANSWER})
        report.add({"file": pictures[1], "error": "is empty"})
    with Report(path, ["a"]) as report:
        assert report.done == {pictures[0]}  # what failed is tried again
        report.add({"file": pictures[1], **ANSWER})
    assert [line["file"] for line in lines(path)] == pictures[:2]
    assert not any(line.get("error") for line in lines(path))


def test_a_changed_file_is_done_again_and_other_settings_are_refused(path, pictures, tmp_path):
    with Report(path, ["a"]) as report:
        for picture in pictures:
            report.add({"file": picture, **ANSWER})
    (tmp_path / "b.png").write_bytes(b"other")
    import os

    os.utime(pictures[1], ns=(1, 1))
    with Report(path, ["a"]) as report:
        assert report.done == {pictures[0], pictures[2]}
    before = path.read_bytes()
    with pytest.raises(GreycardError, match="other settings"):
        Report(path, ["b"])
    assert path.read_bytes() == before


def test_a_file_that_is_no_report_is_never_written_over(path):
    content = "name,r,g,b\na,1,2,3\n" if path.suffix == ".csv" else '{"file": "a"}\n'
    path.write_text(content)
    with pytest.raises(GreycardError, match="no report of greycard"):
        Report(path, ["a"])
    assert path.read_text() == content


def test_a_line_that_was_cut_short_is_dropped(path, pictures):
    with Report(path, ["a"]) as report:
        report.add({"file": pictures[0], **ANSWER})
        report.add({"file": pictures[1], **ANSWER})
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole[:-12], encoding="utf-8")
    with Report(path, ["a"]) as report:
        assert report.done == {pictures[0]}
        report.add({"file": pictures[1], **ANSWER})
    assert path.read_text(encoding="utf-8") == whole


def test_a_csv_report_has_a_value_a_column(tmp_path, pictures):
    path = tmp_path / "report.csv"
    with Report(path, []) as report:
        report.add({"file": pictures[0], **ANSWER, "camera": "Acmé, One", "cct": 5000.0})
    (line,) = lines(path)
    assert (line["camera"], line["g"], line["gain_b"], line["cct"]) == ("Acmé, One", "0.8", "1.79", "5000.0")
    assert line["warnings"] == "dark, perhaps"
    assert line["alternatives"].startswith("90% 0.4")


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(GreycardError, match=r"a report ends in \.csv or \.jsonl"):
        Report(tmp_path / "report.txt", [])
