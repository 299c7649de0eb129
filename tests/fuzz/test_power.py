"""What a loss of power leaves, as the attack makes it."""

from __future__ import annotations

from scripts.fuzz.power import after_loss, read_log

LOG = b"""create\t/r/.a.tmp\t\t0\t0
write\t/r/.a.tmp\t\t0\t3
abcfsync\t/r/.a.tmp\t\t0\t0
rename\t/r/.a.tmp\t/r/a\t0\t0
"""
SYNC = b"fsync\t/r\t\t0\t0\n"
MORE = b"write\t/r/a\t\t3\t2\nde"


def kept() -> bool:
    return True


def lost() -> bool:
    return False


def test_names_are_safe_when_their_folder_is_synced() -> None:
    changes = read_log(LOG)
    assert after_loss(changes, kept) == {"/r/a": b"abc"}
    assert after_loss(changes, lost) == {}
    assert after_loss(read_log(LOG + SYNC), lost) == {"/r/a": b"abc"}


def test_data_are_safe_when_their_file_is_synced() -> None:
    changes = read_log(LOG + SYNC + MORE)
    assert after_loss(changes, kept) == {"/r/a": b"abcde"}
    assert after_loss(changes, lost) == {"/r/a": b"abc"}


def test_a_file_may_be_renamed_before_its_data_are_there() -> None:
    unsynced = read_log(LOG.replace(b"fsync\t/r/.a.tmp\t\t0\t0\n", b"") + SYNC)
    assert after_loss(unsynced, lost) == {"/r/a": b""}
    late = [change for change in unsynced if change.kind != "fsync"]
    answers = iter([True, True, False])
    assert after_loss(late, lambda: next(answers)) == {"/r/a": b""}
