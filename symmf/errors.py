"""Errors a user can cause, each with the exit code the command line gives it."""


class SymmfError(Exception):
    """A problem described in a sentence for a person; never shown as a traceback."""

    exit_code = 2


class ConfigError(SymmfError):
    """An experiment file, or an option that changes one, is not valid."""


class InputError(SymmfError, ValueError):
    """An argument, or a matrix handed to the library, is not valid."""


class DataError(SymmfError):
    """A data file is missing, unreadable or not the file it should be."""

    exit_code = 3


class SymmfWarning(UserWarning):
    """Something a user should know, although the computation goes on."""
