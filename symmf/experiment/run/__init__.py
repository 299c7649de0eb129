"""Where trials run: this machine's processes, or a dask cluster."""
