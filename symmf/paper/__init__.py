"""The paper as data: its rows, panels and published values."""
