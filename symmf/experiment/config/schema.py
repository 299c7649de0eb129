"""The JSON Schema of experiment files, for editors, and a first file to edit.

``python -m symmf.experiment.config.schema`` writes ``config.schema.json`` beside this
module. An editor uses it when a file starts with
``# yaml-language-server: $schema=<path>``.
"""

from __future__ import annotations

import json
from pathlib import Path

from symmf.experiment.config.model import ExperimentConfig

SCHEMA_FILE = Path(__file__).with_name("config.schema.json")
_FIRST = Path(__file__).with_name("starting_point.yaml")


def schema_text() -> str:
    """Return the schema as it should lie in ``config.schema.json``."""
    schema = ExperimentConfig.model_json_schema(by_alias=True)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "A symmf experiment"
    # Without a name the experiment is named after its file.
    schema["required"] = [key for key in schema["required"] if key != "name"]
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


def starting_point(file: str) -> str:
    """Return the text of a study that runs, with comments on what to change.

    Parameters
    ----------
    file : str
        The name under which it will lie, for the commands in its comments.
    """
    text = _FIRST.read_text(encoding="utf-8")
    return text.replace("SCHEMA", str(SCHEMA_FILE)).replace("study.yaml", file)


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
