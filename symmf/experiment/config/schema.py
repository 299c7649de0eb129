"""The JSON Schema of experiment files, for editors.

``python -m symmf.experiment.config.schema`` writes ``config.schema.json`` beside this
module.
An editor uses it when a file starts with ``# yaml-language-server: $schema=<path>``.
"""

from __future__ import annotations

import json
from pathlib import Path

from symmf.experiment.config.model import ExperimentConfig

SCHEMA_FILE = Path(__file__).with_name("config.schema.json")


def schema_text() -> str:
    """Return the schema as it should lie in ``config.schema.json``."""
    schema = ExperimentConfig.model_json_schema(by_alias=True)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "A symmf experiment"
    # Without a name the experiment is named after its file.
    schema["required"] = [key for key in schema["required"] if key != "name"]
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
