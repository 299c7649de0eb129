"""Tables, figures, verdicts, audit and the report, from stored results only."""
