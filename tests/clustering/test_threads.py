"""Labels do not depend on the number of threads."""

import json
import os
import subprocess
import sys

import pytest

from symmf.datasets import load_dataset
from symmf.errors import DataError

FIT = """
import json, sys, warnings
warnings.simplefilter("ignore")
from symmf.clustering import METHODS
from symmf.clustering.labels import labels_digest
from symmf.datasets import load_dataset
data = load_dataset(sys.argv[1])
found = {}
for name in ("symmf", "spectral"):
    model = METHODS[name](n_clusters=data.n_classes, random_state=0).fit(data.X)
    found[name] = labels_digest(model.labels_)
print(json.dumps(found))
"""


def digests(name: str, threads: int) -> dict[str, str]:
    variables = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    environment = {**os.environ, **dict.fromkeys(variables, str(threads))}
    command = [sys.executable, "-c", FIT, name]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "name", ["digits", pytest.param("coil20", marks=pytest.mark.slow)]
)
def test_labels_are_those_of_one_thread(name):
    try:
        load_dataset(name)
    except DataError:
        pytest.skip(f"{name} is not here")
    assert digests(name, 1) == digests(name, 2)
