"""What is asked for: the YAML file, checked, resolved and expanded."""
