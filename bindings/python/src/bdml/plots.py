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
    """Training, cross-validated and test error against the distortion cap of `bdml.distortion_path`."""
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
    """Eigenvalues of the learned matrix, largest first, relative to the largest."""
    ax = _axes(ax)
    values = metric.eigenvalues_[::-1]
    ax.plot(np.arange(1, len(values) + 1), values / values[0], marker="o", markersize=3)
    ax.set(yscale="log", xlabel="direction", ylabel="eigenvalue, relative to the largest")
    return ax


def plot_before_after(metric: Any, X: Any, y: Any, axes: Any = None) -> Any:
    """The points before and after the learned map, each on their two leading principal axes."""
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
    """The ROC curve of a learner from pairs, and the point of its threshold."""
    ax = _axes(ax)
    wrong, right, _ = roc_curve(y, metric.decision_function(pairs))
    (line,) = ax.plot(wrong, right, label=f"{label or type(metric).__name__}, area {auc(wrong, right):.3f}")
    said, y = metric.predict(pairs), np.asarray(y)
    ax.plot(np.mean(said[y == -1] == 1), np.mean(said[y == 1] == 1), marker="o", color=line.get_color())
    ax.set(xlabel="different pairs called the same", ylabel="same pairs called the same")
    ax.legend(loc="lower right")
    return ax
