"""Graphs of data: neighbours, local scales, normalised cuts, whole graphs."""
