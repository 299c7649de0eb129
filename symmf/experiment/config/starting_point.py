"""A study of one's own to begin with: what ``symmf configs --new`` writes."""

from __future__ import annotations

from symmf.experiment.config.schema import SCHEMA_FILE

_TEXT = """\
# yaml-language-server: $schema={schema}
# A study of your own. It runs as it is:
#
#     symmf run {file}
#     symmf tables
#
# Every key: symmf configs quickstart, and the guide "Your own method and data".

title: My study

# A data set of `symmf data list`, or a file of yours, relative to this one:
#
#     dataset: {{file: points.csv, labels: species, id: name, drop: [comment]}}
#
# For a table with words and holes: categories: one-hot, missing: median.
dataset: digits

# Numbers of clusters; instead of a list, the word `classes`: as many as there are.
n_clusters: [3, 10]
# Of a smaller K: random classes in each trial (default), largest, or a list of them.
classes: random
trials: 5
# Without this line a trial uses all rows of its classes; a method without randomness
# then gives the same result in every trial of all classes: there is nothing to test.
draw: {{share: 0.8}}

# Before every method, unless it has steps of its own. For a table with units:
# [standardize].
preprocess: []

# What is compared. The entry that the study is about is tested against every other.
proposed: mine
methods:
  - method: symmf
    name: mine
    label: My method
    parameters: {{}}
  - kmeans
  - spectral
  - {{method: sklearn.cluster.AgglomerativeClustering, name: ward, label: Ward}}
  # A method of your own: symmf run {file} --plugin my_methods.py, where the file has
  # METHODS = {{"my_method": MyClusterer}}.
  # - my_method

# A trial that takes longer is stopped and counts as failed.
limits: {{seconds: 600}}
"""


def starting_point(file: str) -> str:
    """Return the text of a study that runs, with comments on what to change.

    Parameters
    ----------
    file : str
        The name under which it will lie, for the commands in its comments.
    """
    return _TEXT.format(schema=SCHEMA_FILE, file=file)
