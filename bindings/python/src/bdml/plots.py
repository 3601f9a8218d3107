"""Pictures of metrics, on matplotlib where it is installed. Each draws on the axes given, or on new ones, and
returns them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import auc, roc_curve

__all__ = ["plot_before_after", "plot_path", "plot_roc", "plot_spectrum"]


def _axes(ax: Any, count: int = 1) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as e:
        raise ImportError("the plots of bdml need matplotlib: pip install matplotlib") from e
    return plt.subplots(1, count, figsize=(4.5 * count, 3.6), constrained_layout=True)[1]


def plot_path(path: Any, ax: Any = None) -> Any:
    """Training, cross-validated and test error against the distortion cap.

    Parameters
    ----------
    path : DistortionPath
        What `bdml.distortion_path` gives.
    ax : axes of matplotlib, optional

    Returns
    -------
    The axes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import bdml
    >>> from bdml.plots import plot_path
    >>> path = bdml.distortion_path(*load_iris(return_X_y=True), grid=[1, 10, 100], splits=2)
    >>> plot_path(path).get_xlabel()
    'distortion cap K'
    """
    ax = _axes(ax)
    k = path.column("distortion")
    for name, label in (("train", "training"), ("validation", "cross-validated"), ("test", "test")):
        error, se = path.column(name + "_error"), path.column(name + "_se")
        (line,) = ax.plot(k, error, marker="o", markersize=3, label=label)
        ax.fill_between(k, error - se, error + se, alpha=0.15, color=line.get_color(), linewidth=0)
    ax.axvline(path["chosen"]["distortion"], color="grey", linestyle=":", label="chosen")
    ax.set(xscale="log", xlabel="distortion cap K", ylabel="error, %")
    ax.legend()
    return ax


def plot_spectrum(metric: Any, ax: Any = None) -> Any:
    """Eigenvalues of the learned matrix on prepared points, largest first, relative to the largest.

    Those that are 0 but for rounding are not drawn; a title tells how many there are.

    Parameters
    ----------
    metric : a fitted estimator
    ax : axes of matplotlib, optional

    Returns
    -------
    The axes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import bdml
    >>> from bdml.plots import plot_spectrum
    >>> plot_spectrum(bdml.LDA().fit(*load_iris(return_X_y=True))).get_title()
    '2 of 4 directions'
    """
    ax = _axes(ax)
    values = metric.eigenvalues_[::-1]
    there = values > 1e-12 * values[0]
    ax.plot(np.flatnonzero(there) + 1, values[there] / values[0], marker="o", markersize=3)
    ax.set(yscale="log", xlabel="direction", ylabel="eigenvalue, relative to the largest", xlim=(0.5, len(values) + 0.5))
    ax.xaxis.get_major_locator().set_params(integer=True)
    if not there.all():
        ax.set_title(f"{there.sum()} of {len(values)} directions")
    return ax


def plot_before_after(metric: Any, X: Any, y: Any, axes: Any = None) -> Any:
    """The points before and after the learned map, each on their two leading principal axes.

    Parameters
    ----------
    metric : a fitted estimator
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        Classes, by which points are coloured; numbers where the metric learned from numbers.
    axes : two axes of matplotlib, optional

    Returns
    -------
    The two axes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import bdml
    >>> from bdml.plots import plot_before_after
    >>> X, y = load_iris(return_X_y=True)
    >>> [ax.get_title() for ax in plot_before_after(bdml.LDA().fit(X, y), X, y)]
    ['before', 'after']
    """
    from ._methods import Euclidean  # the principal axes are the library's

    axes = _axes(axes, 2)
    y = np.asarray(y)
    for ax, points, title in zip(axes, (np.asarray(X), metric.transform(X)), ("before", "after")):
        flat = Euclidean(pca=2).fit_transform(points, y) if points.shape[1] > 2 else points
        for c in np.unique(y):
            ax.scatter(flat[y == c, 0], flat[y == c, -1], s=8, label=str(c))
        ax.set(title=title, xticks=[], yticks=[])
    axes[-1].legend(markerscale=2)
    return axes


def plot_roc(metric: Any, pairs: Any, y: Any, ax: Any = None, label: str | None = None) -> Any:
    """The ROC curve of a learner from pairs, and the point of its threshold.

    Parameters
    ----------
    metric : a fitted estimator from pairs
    pairs, y : as in fit
    ax : axes of matplotlib, optional
        Those of an earlier call, to draw curves side by side.
    label : str, optional
        By default the name of the class.

    Returns
    -------
    The axes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> import bdml
    >>> from bdml.plots import plot_roc
    >>> X, y = load_iris(return_X_y=True)
    >>> a, b, c, d = bdml.Constraints(y).positive_negative_pairs(100, random_state=0)
    >>> pairs, same = np.column_stack([[*a, *c], [*b, *d]]), np.repeat([1, -1], 100)
    >>> ax = plot_roc(bdml.ITML(preprocessor=X).fit(pairs, same), pairs, same)
    >>> ax.get_legend().get_texts()[0].get_text()[:11]
    'ITML, area '
    """
    ax = _axes(ax)
    wrong, right, _ = roc_curve(y, metric.decision_function(pairs))
    (line,) = ax.plot(wrong, right, label=f"{label or type(metric).__name__}, area {auc(wrong, right):.3f}")
    said, y = metric.predict(pairs), np.asarray(y)
    ax.plot(np.mean(said[y == -1] == 1), np.mean(said[y == 1] == 1), marker="o", color=line.get_color())
    ax.set(xlabel="different pairs called the same", ylabel="same pairs called the same")
    ax.legend(loc="lower right")
    return ax
