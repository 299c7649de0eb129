"""Parse files that nobody vouches for in a child process, so that nothing can crash.

Readers of binary formats are C code that trusts what it reads: a damaged file can make
them crash, take all memory or never end. :func:`read_in_child` runs such a reader in a
process with limits and hands back plain data; whatever goes wrong there is a
:class:`~symmf.errors.DataError` with a sentence.

>>> from symmf.common.sandbox import check_file, read_in_child
>>> arrays = read_in_child(read_arrays, Path("points.mat"))  # doctest: +SKIP

``read_arrays(path, **options)`` is any function at the top level of a module. It may
return numbers, texts, bytes, None, numpy arrays, scipy sparse matrices, and lists,
tuples and dicts of them; nothing is ever unpickled, and sparse matrices arrive with
their index arrays checked.
"""

from __future__ import annotations

from symmf.common.sandbox.call import LARGEST, read_in_child
from symmf.common.sandbox.files import check_file

__all__ = ["LARGEST", "check_file", "read_in_child"]
