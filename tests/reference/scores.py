"""Clustering scores straight from their definitions."""

from itertools import permutations

import numpy as np


def accuracy(y_true, y_pred):
    """Try every one-to-one assignment of clusters to classes."""
    y_true, y_pred = np.asarray(y_true), np.asarray(y_pred)
    classes, clusters = list(np.unique(y_true)), list(np.unique(y_pred))
    if len(clusters) > len(classes):
        classes += [object()] * (len(clusters) - len(classes))
    best = 0
    for chosen in permutations(classes, len(clusters)):
        hits = sum(
            np.sum((y_pred == cluster) & (y_true == name))
            for cluster, name in zip(clusters, chosen, strict=True)
            if type(name) is not object
        )
        best = max(best, int(hits))
    return best / len(y_true)


def entropy(y):
    p = np.unique(y, return_counts=True)[1] / len(y)
    return float(-np.sum(p * np.log(p)))


def mutual_information(y_true, y_pred):
    y_true, y_pred = np.asarray(y_true), np.asarray(y_pred)
    total = 0.0
    for a in np.unique(y_true):
        for b in np.unique(y_pred):
            both = np.mean((y_true == a) & (y_pred == b))
            if both > 0:
                total += both * np.log(
                    both / np.mean(y_true == a) / np.mean(y_pred == b)
                )
    return total
