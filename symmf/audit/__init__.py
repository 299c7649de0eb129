"""Bounds that published (AC, NMI) pairs must obey, and what they exclude."""
