import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from sklearn.datasets import load_iris, load_wine

import bdml

settings.register_profile(
    "small", max_examples=int(os.environ.get("BDML_EXAMPLES", "40")), deadline=None, derandomize=True, database=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
settings.load_profile("small")


@pytest.fixture(scope="session")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="session")
def wine():
    return load_wine(return_X_y=True)


@pytest.fixture(scope="session")
def pairs(iris):
    """Numbers of points (n, 2) and whether they are of one class."""
    _, y = iris
    i, j = np.random.RandomState(0).randint(len(y), size=(2, 150))
    return np.column_stack([i, j]), np.where(y[i] == y[j], 1, -1)


@pytest.fixture(scope="session")
def triplets(iris):
    _, y = iris
    rng = np.random.RandomState(1)
    kinds = rng.randint(3, size=60)
    near = [rng.choice(np.flatnonzero(y == k), 2, replace=False) for k in kinds]
    far = [rng.choice(np.flatnonzero(y != k)) for k in kinds]
    return np.column_stack([near, far])


@pytest.fixture(scope="session")
def command():
    """The command of the same build, where the tests of the project run."""
    path = os.environ.get("BDML_COMMAND")
    if not path or not Path(path).exists():
        pytest.skip("BDML_COMMAND does not name the command")
    return path


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    """A C program of the library that the package carries."""
    source, cc = os.environ.get("BDML_SOURCE"), shutil.which("cc")
    if not source or not cc:
        pytest.skip("BDML_SOURCE does not name the sources, or there is no C compiler")
    path = tmp_path_factory.mktemp("program") / "same_bits"
    carried = Path(bdml.__file__).with_name("libbdml.so")
    dynamic = subprocess.run(["readelf", "-d", carried], check=True, capture_output=True, text=True).stdout
    library = path.parent / re.search(r"soname: \[(.*)\]", dynamic)[1]  # the name that programs look for
    library.symlink_to(carried)
    subprocess.run([cc, "-std=c11", "-I", Path(source) / "include", Path(__file__).with_name("same_bits.c"), "-o", path,
                    library, f"-Wl,-rpath,{path.parent}"], check=True)  # fmt: skip
    return path
