"""Textbook versions, slow and obvious, that the library is compared with."""
