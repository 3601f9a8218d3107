"""Docstrings say what is so: every example is run, every public name is documented and typed."""

import doctest
import inspect
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bdml
import bdml._border
import bdml._methods
import bdml._studies
import bdml.constraints
import bdml.plots


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", bdml.LABELLED + bdml.REGRESSION + bdml.PAIRS + bdml.TRIPLETS + bdml.QUADRUPLETS, ids=lambda k: k.__name__)
def test_examples(kind):
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    (test,) = [t for t in finder.find(kind, kind.__name__, module=bdml._methods) if t.examples]
    assert runner.run(test).failed == 0


@pytest.mark.parametrize("module", [bdml._border, bdml._studies, bdml.constraints, bdml.plots], ids=lambda m: m.__name__)
def test_examples_of_functions(module):
    if module is bdml.plots:
        pytest.importorskip("matplotlib").use("Agg")
    tried = doctest.testmod(module)
    assert tried.attempted > 0 and tried.failed == 0


def test_every_public_name_is_documented():
    for name in bdml.__all__:
        thing = getattr(bdml, name)
        if not isinstance(thing, tuple):
            assert inspect.getdoc(thing), name
    for kind in (bdml.LMNN, bdml.ITML, bdml.BDML_Triplets, bdml.LSML, bdml.MLKR, bdml.RCA, bdml.Constraints):
        for name, thing in inspect.getmembers(kind, callable):
            if not name.startswith("_"):
                assert inspect.getdoc(thing), (kind, name)


def test_types():
    mypy = shutil.which("mypy") or pytest.skip("mypy is not installed")
    folder = Path(bdml.__file__).parent
    assert (folder / "py.typed").exists()
    ran = subprocess.run(
        [
            mypy, "--strict", "--allow-any-generics", "--allow-subclassing-any", "--no-warn-return-any", "--ignore-missing-imports",
            "--python-executable", sys.executable, "--cache-dir", "/dev/null", str(folder),
        ],
        capture_output=True, text=True,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout
