"""Rows in dask arrays: their products, their operators, and folders read lazily."""
