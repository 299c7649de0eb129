"""Label-free features, learned on the samples they are given."""

from symmf.features.columns import MixedColumns

__all__ = ["MixedColumns"]
