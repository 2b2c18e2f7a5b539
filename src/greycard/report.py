"""Reports of many pictures, as CSV or JSON Lines: a line is written once it is known, and a second run adds to it.

A line counts as done if it has no error and its file has not changed since. Other lines are dropped when the report is
opened again, with the half line that a killed run may leave. A report made with other settings, or a file that is no
report, is refused: nothing of it is lost.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from greycard.errors import GreycardError
from greycard.output import write_whole

SUFFIXES = (".csv", ".jsonl")
_COLUMNS = (
    *("file", "camera", "r", "g", "b", "gain_r", "gain_b", "cct", "duv", "alternatives", "candidates_from"),
    *("warnings", "error", "modified", "settings"),
)


class Report:
    """A report that is open for further lines; use it in a `with` block.

    done: names of the files that need not be looked at again.
    """

    def __init__(self, path: Path, settings: Any) -> None:
        """Open a report, new or begun. settings: whatever decides the estimates, as JSON can tell it."""
        if path.suffix.lower() not in SUFFIXES:
            raise GreycardError(f"{path}: a report ends in {' or '.join(SUFFIXES)}")
        self._is_csv = path.suffix.lower() == ".csv"
        self._settings = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]
        lines = self._read(path)
        if any(line.get("settings") not in (None, "", self._settings) for line in lines):
            raise GreycardError(f"{path}: is a report made with other settings; choose another name, or remove it")
        kept = [line for line in lines if self._holds(line)]
        self.done = {str(line["file"]) for line in kept}
        write_whole(path, self._text(kept, with_head=True))
        self._file = path.open("a", encoding="utf-8", newline="")

    def __enter__(self) -> Report:
        """The report itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close the file; what was added is there whatever happened."""
        self._file.close()

    def add(self, answer: Mapping[str, Any]) -> None:
        """Write one picture's line: what `Estimate.to_dict` tells, or file and error."""
        line = {**answer, "modified": _modified(str(answer["file"])), "settings": self._settings}
        self._file.write(self._text([_flat(line) if self._is_csv else line]))
        self._file.flush()

    def _holds(self, line: Mapping[str, Any]) -> bool:
        """Whether a line of an earlier run still tells what a new one would."""
        if line.get("error") or line.get("settings") != self._settings or not line.get("file"):
            return False
        return str(line.get("modified")) == str(_modified(str(line["file"])))

    def _read(self, path: Path) -> list[dict[str, Any]]:
        if not path.exists():
            return []
        try:
            text = path.read_text(encoding="utf-8")
            whole = text[: text.rfind("\n") + 1]
            lines = list(csv.DictReader(io.StringIO(whole))) if self._is_csv else _parsed(whole.splitlines())
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise GreycardError(f"{path}: is no report that can be read ({error}); choose another name") from error
        head = ",".join(_COLUMNS)
        if text and not (text.startswith(head) if self._is_csv else any("settings" in line for line in lines)):
            raise GreycardError(f"{path}: is there already and no report of greycard; choose another name")
        return lines

    def _text(self, lines: Iterable[Mapping[str, Any]], *, with_head: bool = False) -> str:
        if not self._is_csv:
            return "".join(json.dumps(line) + "\n" for line in lines)
        text = io.StringIO()
        rows = csv.DictWriter(text, _COLUMNS, lineterminator="\n", extrasaction="ignore")
        if with_head:
            rows.writeheader()
        rows.writerows(lines)
        return text.getvalue()


def _parsed(lines: Iterable[str]) -> list[dict[str, Any]]:
    """The JSON objects among the lines; a line that was cut short is none."""
    found = []
    for line in lines:
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def _flat(line: Mapping[str, Any]) -> dict[str, Any]:
    """A line with one value a column."""
    flat = dict(line)
    if "illuminant" in line:
        flat |= dict(zip("rgb", line["illuminant"], strict=True))
        flat |= {"gain_r": line["gains"][0], "gain_b": line["gains"][2], "warnings": "; ".join(line["warnings"])}
        flat["alternatives"] = "; ".join(
            f"{other['probability']:.0%} {' '.join(f'{value:.4f}' for value in other['illuminant'])}"
            for other in line["alternatives"]
        )
    return flat


def _modified(file: str) -> int:
    """When a file, or the packed data set that a picture is in, was changed last, in nanoseconds; 0 for none."""
    packed, inside, _ = file.rpartition(".npz:")
    try:
        return Path(f"{packed}.npz" if inside else file).stat().st_mtime_ns
    except OSError:
        return 0
