"""What an experiment has to do with the paper, said by the key ``role`` of its file."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """What an experiment is for, and so where reports count it.

    A report reads the role; neither the layout of a figure nor the name of a data set
    decides. An experiment that does not say is a study of one's own.
    Entries stand for rows of the paper in comparisons alone; the other roles with the
    same cells are shown next to them.
    """

    #: its scores enter the combined tables and are compared with the published values
    COMPARISON = "comparison"
    #: the same cells, every symmetric method on the same inner products
    INNER_PRODUCTS = "inner_products"
    #: the same cells, every symmetric method on the same graph
    EQUAL_TERMS = "equal_terms"
    #: the same cells under other readings of what the paper leaves open
    READINGS = "readings"
    #: the same cells, the framework used as well as we can without labels
    USED_WELL = "used_well"
    #: the same cells by classifiers that see labels: what is within reach at all
    CEILING = "ceiling"
    #: its traces decide the claims about convergence; no row of a table
    CONVERGENCE = "convergence"
    #: it varies lambda for the proposed method; no row of a table
    SENSITIVITY = "sensitivity"
    #: it varies step, iterations, starts, input and lambda together
    FACTORIAL = "factorial"
    #: the proposed method with every constraint set of the framework
    SETS = "sets"
    #: the pipelines of USED_WELL on data that no choice was made on
    HELD_OUT = "held_out"
    #: the baselines exactly as their papers print them
    AS_PUBLISHED = "as_published"
    #: its records are drawn
    ILLUSTRATION = "illustration"
    #: somebody's own study: nothing of the paper is said of it
    STUDY = "study"
    #: a first look; it enters nothing that concerns the paper
    EXAMPLE = "example"


# Rows of the combined tables come from these, in this order.
TABLE_ROLES = (Role.COMPARISON, Role.INNER_PRODUCTS, Role.EQUAL_TERMS, Role.READINGS)
# Arms: the same rows on different inputs, and what the methods of each have in common.
ARM_TITLES = {
    Role.COMPARISON: "each on its authors' input",
    Role.INNER_PRODUCTS: "all on the same inner products",
    Role.EQUAL_TERMS: "all on the common graph",
}
# Studies of one method: their readings are all alike, none stands for a row.
STUDY_ROLES = (
    *(Role.CONVERGENCE, Role.SENSITIVITY, Role.ILLUSTRATION, Role.FACTORIAL),
    *(Role.SETS, Role.HELD_OUT, Role.AS_PUBLISHED),
)
