"""A study of one's own to begin with: what ``symmf configs --new`` writes."""

from __future__ import annotations

from pathlib import Path

from symmf.experiment.config.schema import SCHEMA_FILE

_TEXT = Path(__file__).with_suffix(".yaml")


def starting_point(file: str) -> str:
    """Return the text of a study that runs, with comments on what to change.

    Parameters
    ----------
    file : str
        The name under which it will lie, for the commands in its comments.
    """
    text = _TEXT.read_text(encoding="utf-8")
    return text.replace("SCHEMA", str(SCHEMA_FILE)).replace("study.yaml", file)
