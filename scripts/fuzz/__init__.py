"""The attack on symmf: damaged files, odd configurations, kills, failing calls.

``python -m scripts.fuzz PART --seed S --count N`` makes N cases of a part, runs them
and prints a table. Case I of a part is a function of S and I alone, and every failure
comes with the command that makes it again.
"""
