"""What is kept: one folder per experiment, one file per trial."""
