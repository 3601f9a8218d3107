"""Pages about results, as `bdml report` writes them: by the command that the package carries."""

from __future__ import annotations

import csv
import html
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Sequence

import numpy as np
from sklearn.utils import check_X_y

from ._border import Model, setting_name, setting_text

COMMAND = Path(__file__).with_name("bdml-command")


class Report:
    """One self-contained page; shows itself in a notebook.

    Attributes
    ----------
    html : str
        The page.
    """

    def __init__(self, page: str):
        self.html = page

    def save(self, path: Any) -> None:
        """Write the page to a file that any browser opens."""
        Path(path).write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        # a frame of its own: style and script of the page stay out of the notebook
        return f'<iframe srcdoc="{html.escape(self.html)}" style="width:100%;height:45em;border:0"></iframe>'

    def __repr__(self) -> str:
        return f"Report({len(self.html) // 1024} KiB; save(path) writes it)"


def _run(folder: str, *arguments: str) -> None:
    done = subprocess.run([str(COMMAND), *arguments], cwd=folder, capture_output=True, text=True, encoding="utf-8")
    if done.returncode != 0:
        raise ValueError(done.stderr.strip().removeprefix("bdml: ") or f"the command ended with {done.returncode}")


def of_model(model: Model) -> Report:
    """What a model says of itself: certificate, spectrum, features that matter."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "model.bdml").write_bytes(model.to_bytes())
        _run(folder, "report", "model.bdml", "-o", "page.html")
        return Report((Path(folder) / "page.html").read_text(encoding="utf-8"))


def report(X: Any, y: Any, methods: str | Sequence[Any] | None = None, **settings: Any) -> Report:
    """Compare methods, walk along the distortion cap and train, and make one page of it: `bdml report`.

    Parameters
    ----------
    X, y : points and classes; the columns of a data frame keep their names
    methods : names of the library's methods, or classes, optional
    **settings
        Settings of the library by name, as the estimators have them: splits, scale, distortion, random_state, ...

    Returns
    -------
    Report
    """
    names = [str(c) for c in getattr(X, "columns", [])]
    x, y = check_X_y(X, y, dtype=np.float64)
    names = names or [f"x{j + 1}" for j in range(x.shape[1])]
    if methods is not None:
        names_of = [methods] if isinstance(methods, str) else methods
        settings["methods"] = ",".join(str(getattr(m, "_method", m)) for m in names_of)
    options = [f"--{setting_name(name)}={setting_text(value)}" for name, value in settings.items()]
    with tempfile.TemporaryDirectory() as folder:
        with open(Path(folder) / "data.csv", "w", newline="", encoding="utf-8") as f:
            table = csv.writer(f)
            table.writerow([*names, "label"])
            table.writerows([*map(repr, row), label] for row, label in zip(x.tolist(), y.tolist()))
        _run(folder, "report", "data.csv", "--label=last", "-o", "page.html", *options)
        return Report((Path(folder) / "page.html").read_text(encoding="utf-8"))
