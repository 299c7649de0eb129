"""BLAS and OpenMP have one thread where symmf computes; bits do not depend on it."""

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
import threadpoolctl

from symmf.linalg import threads
from symmf.linalg.threads import in_threads, one_thread, product


def pools() -> set[int]:
    return {pool["num_threads"] for pool in threadpoolctl.threadpool_info()}


@pytest.fixture
def two_threads():
    with one_thread():
        pass  # loads every library there is
    with threadpoolctl.threadpool_limits(2):
        if 1 in pools():
            pytest.skip("a library here cannot be given two threads")
        yield


@pytest.mark.usefixtures("two_threads")
def test_there_is_one_thread_inside_and_what_was_before_outside():
    with one_thread():
        assert pools() == {1}
        with one_thread():
            assert pools() == {1}
        assert pools() == {1}
    assert pools() == {2}


@pytest.mark.usefixtures("two_threads")
def test_an_error_inside_gives_the_threads_back():
    with pytest.raises(ValueError, match="inside"), one_thread():
        raise ValueError("inside")
    assert pools() == {2}


@pytest.mark.parametrize("shape", [(1, 3, 2), (700, 30, 5), (701, 40, 1)])
def test_products_in_blocks_are_products_and_have_the_bits_of_one_thread(
    shape, monkeypatch
):
    n, m, k = shape
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((n, m)), rng.standard_normal((m, k))
    monkeypatch.setattr(threads, "_BLOCK_WORK", 100 * m * k)
    monkeypatch.setattr(threads, "_BLOCK_ROWS", 1)
    found = []
    for number in ("1", "4"):
        monkeypatch.setenv("OMP_NUM_THREADS", number)
        found.append(product(A, B))
    np.testing.assert_array_equal(*found)
    np.testing.assert_allclose(found[0], A @ B, rtol=1e-12, atol=1e-12)


def test_results_come_in_the_order_of_the_items(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert in_threads(lambda i: i * i, range(50)) == [i * i for i in range(50)]


def test_work_in_threads_may_ask_for_threads_itself(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    found = in_threads(lambda i: sum(in_threads(lambda j: i * j, range(9))), range(9))
    assert found == [36 * i for i in range(9)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_threads_are_started_again_after_a_fork(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    in_threads(abs, range(4))
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as child:
        assert child.submit(in_threads, abs, range(-3, 3)).result(60) == [
            *(3, 2, 1, 0, 1, 2)
        ]
