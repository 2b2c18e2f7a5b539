"""Put a trained model into the package, with the results of its leave-one-data-set-out runs and its checksum.

greycard train gehler_shi.npz nus8.npz cube_plus.npz --recipe many-cameras --out greycard-1.safetensors
greycard crossval gehler_shi.npz nus8.npz cube_plus.npz --by dataset --recipe many-cameras --out runs/unseen
python scripts/bundle_model.py greycard-1.safetensors --results runs/unseen/results*.json
"""

from __future__ import annotations

import argparse
import hashlib
import json
from dataclasses import replace
from pathlib import Path

from greycard import model_file
from greycard.output import write_whole

MODELS = Path(__file__).parent.parent / "src" / "greycard" / "models"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--results", type=Path, nargs="*", help="results of `greycard crossval --by dataset`")
    arguments = parser.parse_args()

    model = model_file.load(arguments.model)
    unseen = {}
    for path in arguments.results or ():
        results = json.loads(path.read_text(encoding="utf-8"))
        for name, result in results["results"].items():
            figures = {part: result[part] for part in ("overall", "geometric_mean")}
            unseen[name.removeprefix("without-")] = {**figures, "seeds": results["seeds"]}
    if unseen:
        model = replace(model, results={"unseen_data_set": unseen})
    bundled = MODELS / f"{model.name}.safetensors"
    model_file.save(model, bundled)

    listed = MODELS / "bundled.json"
    content = json.loads(listed.read_text(encoding="utf-8"))
    content["default"] = model.name
    content["sha256"][model.name] = hashlib.sha256(bundled.read_bytes()).hexdigest()
    write_whole(listed, json.dumps(content, indent=1) + "\n")
    print(f"{bundled}: {bundled.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
