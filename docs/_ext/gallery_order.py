"""The order of the gallery: from a first fit to questions of the study."""

from __future__ import annotations

from pathlib import Path

LESSONS = (
    *("digits", "framework", "constraints", "own_graph", "text", "images"),
    *("lambda_path", "solvers", "large", "audit"),
)


class ByLesson:
    """A key that sphinx-gallery sorts the files of a folder by."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, name: str) -> int:
        """Return the place of an example; one that has none is an error."""
        return LESSONS.index(Path(name).stem.removeprefix("plot_"))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"
