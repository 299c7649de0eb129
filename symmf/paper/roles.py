"""What an experiment has to do with the paper, said by the key ``role`` of its file."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """What an experiment is for, and so where reports count it.

    A report reads the role; neither the layout of a figure nor the name of a data set
    decides. An experiment that does not say is a comparison.
    """

    #: its scores enter the combined tables and are set beside the published values
    COMPARISON = "comparison"
    #: its traces decide the claims about convergence; no row of a table
    CONVERGENCE = "convergence"
    #: it varies lambda for the proposed method; no row of a table
    SENSITIVITY = "sensitivity"
    #: it is kept to be drawn
    ILLUSTRATION = "illustration"
    #: a first look; it enters nothing that concerns the paper
    EXAMPLE = "example"
