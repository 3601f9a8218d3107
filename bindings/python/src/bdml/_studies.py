"""Studies of a whole data set by the library: the path over the distortion, methods side by side."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from sklearn.utils import check_X_y

from ._border import Call, lib, setting_text


class DistortionPath(dict):
    """The path over the cap K, as the library tells it, with the columns of its table as arrays."""

    def column(self, name: str) -> np.ndarray:
        """One figure along the path, NaN where it is missing."""
        return np.array([np.nan if p.get(name) is None else p[name] for p in self["path"]], dtype=float)

    def plot(self, ax: Any = None) -> Any:
        """Error against distortion, on matplotlib axes."""
        from .plots import plot_path

        return plot_path(self, ax)


def _study(function: Any, X: Any, y: Any, settings: dict[str, Any], verbose: bool | int, callback: Any) -> dict[str, Any]:
    x, y = check_X_y(X, y, dtype=np.float64)
    codes = np.unique(y, return_inverse=True)[1]
    texts = {name.rstrip("_").replace("_", "-"): setting_text(value) for name, value in settings.items()}
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
        Settings of the library by name, '-' written '_': splits, test_fraction, stratify, se_rule, reference, ...

    Returns
    -------
    DistortionPath
        A dict: per K the bracket on the optimum, kappa, training, cross-validated and test error.
    """
    if grid is not None:
        settings["grid"] = ",".join(repr(float(k)) for k in grid)
    return DistortionPath(_study(lib.bdml_path, X, y, settings, verbose, callback))


def evaluate(
    X: Any, y: Any, methods: Sequence[str] = ("bdml", "euclidean"), *, verbose: bool | int = False, callback: Any = None, **settings: Any
) -> dict[str, Any]:
    """Train and test methods of the library side by side on the same splits.

    Parameters
    ----------
    X, y : points and classes
    methods : names of the library's methods, or ("all",)
    **settings
        Settings of the library by name, '-' written '_': splits, test_fraction, folds, stratify, scale, ...

    Returns
    -------
    dict
    """
    settings["methods"] = ",".join(methods)
    return _study(lib.bdml_evaluate, X, y, settings, verbose, callback)
