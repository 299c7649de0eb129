"""Judgements: published values and claims of the paper."""
