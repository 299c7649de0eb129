"""From a YAML file to records: config, grid, trial, store, runner, provenance.

The modules are imported by name (``symmf.experiment.runner``), so that reading results
does not import what computes them.
"""
