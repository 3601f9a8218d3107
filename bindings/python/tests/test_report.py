"""Pages about results: of a model, and of a data set as the command makes them."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import bdml


def test_page_of_a_model(wine):
    X, y = wine
    frame = pd.DataFrame(X, columns=[f"col{j}" for j in range(13)])
    metric = bdml.BDML(distortion=10.0, reference="within").fit(frame, y)
    page = metric.report_.html
    assert page.lstrip().lower().startswith("<!doctype html") and "col12" in page and "certificate" in page.lower()
    shown = metric.report_._repr_html_()
    assert shown.startswith("<iframe") and "<script" not in shown and "col12" in shown
    assert "KiB" in repr(metric.report_)
    assert "<svg" in bdml.LDA().fit(X, y).report_.html  # methods that prove nothing have a page too


def test_page_of_a_data_set(iris, tmp_path):
    X, y = iris
    names = np.array(["setosa", "versicolor, the", 'virgi"nica'])[y]
    made = bdml.report(X, names, ["euclidean", "lda"], splits=2, distortion=10.0, reference="within")
    made.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == made.html
    assert "lda" in made.html and "versicolor, the" in made.html
    with pytest.raises(ValueError, match="distortion"):
        bdml.report(X, y, distortion=0.5)
    with pytest.raises(ValueError, match="nosuch"):
        bdml.report(X, y, nosuch=1)


def test_the_command_in_the_package():
    done = subprocess.run([sys.executable, "-m", "bdml", "--version"], capture_output=True, text=True, check=True)
    assert bdml.__version__ in done.stdout
