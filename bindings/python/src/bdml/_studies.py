"""Studies of a whole data set by the library: the path over the distortion, methods side by side."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from sklearn.utils import check_X_y

from ._border import Call, lib, setting_name, setting_text


class DistortionPath(dict):
    """The path over the cap K, as the library tells it, with the columns of its table as arrays."""

    def column(self, name: str) -> np.ndarray:
        """One figure along the path, NaN where it is missing."""
        return np.array([np.nan if p.get(name) is None else p[name] for p in self["path"]], dtype=float)

    def plot(self, ax: Any = None) -> Any:
        """Error against distortion, on matplotlib axes."""
        from .plots import plot_path

        return plot_path(self, ax)


class Comparison(dict):
    """Methods side by side, as the library tells it; prints itself as a table."""

    def __str__(self) -> str:
        lines = [f"{'method':12s}  {'error, %':>14s}  {'kappa':>8s}"]
        for row in self["methods"]:
            spread = "" if row.get("error_std") is None else f" ({row['error_std']:.2f})"
            kappa = "" if row.get("kappa") is None else f"{row['kappa']:.3g}"
            lines.append(f"{row['method']:12s}  {row['error_mean']:.2f}{spread}".ljust(28) + f"  {kappa:>8s}")
        return "\n".join(lines)


def _study(function: Any, X: Any, y: Any, settings: dict[str, Any], verbose: bool | int, callback: Any) -> dict[str, Any]:
    x, y = check_X_y(X, y, dtype=np.float64)
    codes = np.unique(y, return_inverse=True)[1]
    texts = {setting_name(name): setting_text(value) for name, value in settings.items()}
    with Call(texts, verbose, callback) as call:
        return call.json(function, call.dataset(x, codes))


def distortion_path(
    X: Any, y: Any, *, grid: Sequence[float] | None = None, verbose: bool | int = False, callback: Any = None, **settings: Any
) -> DistortionPath:
    """Follow the metric and its error along the distortion cap K.

    Parameters
    ----------
    X, y : points and classes
    grid : sequence of float, optional
        The distortions, ascending, each at least 1.
    verbose, callback : as of the estimators
    **settings
        Settings of the library by name, as the estimators have them: splits, test_fraction, stratify, se_rule, reference, ...

    Returns
    -------
    DistortionPath
        A dict: per K the bracket on the optimum, kappa, training, cross-validated and test error.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import bdml
    >>> path = bdml.distortion_path(*load_iris(return_X_y=True), grid=[1, 10, 100], splits=2)
    >>> path.column("distortion").tolist()
    [1.0, 10.0, 100.0]
    >>> bool(path.column("kappa").max() < 100.01)
    True
    """
    if grid is not None:
        settings["grid"] = ",".join(repr(float(k)) for k in grid)
    return DistortionPath(_study(lib.bdml_path, X, y, settings, verbose, callback))


def evaluate(
    X: Any, y: Any, methods: str | Sequence[Any] = ("bdml", "euclidean"), *, verbose: bool | int = False, callback: Any = None, **settings: Any
) -> Comparison:
    """Train and test methods of the library side by side on the same splits.

    Parameters
    ----------
    X, y : points and classes
    methods : names of the library's methods, or classes; "all"
    verbose, callback : as of the estimators
    **settings
        Settings of the library by name, as the estimators have them: splits, test_fraction, folds, stratify, scale, random_state, ...

    Returns
    -------
    Comparison
        A dict, as `bdml eval --json` writes it; prints itself as a table.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import bdml
    >>> found = bdml.evaluate(*load_iris(return_X_y=True), ["euclidean", "lda"], splits=2)
    >>> [row["method"] for row in found["methods"]]
    ['euclidean', 'lda']
    >>> print(str(found).splitlines()[0])
    method              error, %     kappa
    """
    names = [methods] if isinstance(methods, str) else methods
    settings["methods"] = ",".join(str(getattr(m, "_method", m)) for m in names)
    return Comparison(_study(lib.bdml_evaluate, X, y, settings, verbose, callback))
