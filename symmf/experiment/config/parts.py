"""What all parts of the experiment file share, and the layout of its figures."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer

from symmf.paper.roles import Role


class Part(BaseModel):
    """A part of the file: exact types, no unknown keys.

    The text under a key tells editors what it means: see `config.schema.json`.
    """

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        populate_by_name=True,
        use_attribute_docstrings=True,
    )


def or_empty(value: Any) -> Any:
    """Read a key with nothing after it as an empty mapping."""
    return {} if value is None else value


# A word in the file and in what is written again; exact types alone would refuse it.
RoleWord = Annotated[Role, Field(strict=False), PlainSerializer(str, return_type=str)]


class Panel(Part):
    """One panel of the convergence figure."""

    title: str = ""
    """Title of the panel."""
    x: Literal["iteration", "seconds"] = "iteration"
    """Axis."""
    y: Literal["error", "split_error"] = "error"
    """Axis."""
    xscale: Literal["linear", "log"] | None = None
    """Scale of the x axis; default: log where curves need it."""
    n_clusters: int | None = Field(None, ge=1)
    """The K whose traces are drawn; default: the largest."""
    methods: list[str] = Field(min_length=1)
    """Entries to draw, by name."""
    note: str = ""
    """What the reader must know to compare."""


class ConvergenceFigure(Part):
    """Layout of the convergence figure."""

    panels: list[Panel] = Field(default_factory=list)
    columns: int | None = Field(None, ge=1, le=8)
    """Panels side by side."""
    note: str = ""
    """A note for the caption."""


class Figures(Part):
    """How figures of an experiment are laid out; read by ``symmf plot``."""

    convergence: Annotated[ConvergenceFigure, BeforeValidator(or_empty)] | None = None
