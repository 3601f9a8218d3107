"""Estimators that learn from labelled points."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import _safe_indexing, check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ._base import _FINITE, _TYPES, Metric, _validate, start_of
from ._border import Call


class Labelled(ClassifierMixin, Metric):
    """A metric from labels: a transformer, and a classifier by the vote of nearest neighbours."""

    _needs_labels = True
    classes_: np.ndarray

    def _more_tags(self) -> dict[str, Any]:
        return {
            "requires_y": self._needs_labels,
            "preserves_dtype": _TYPES,
            "allow_nan": self._finite() == "allow-nan",
        }

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn the metric.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points; numbers of points where there is a preprocessor.
        y : array of shape (n_samples,)
            Classes: numbers, strings or booleans.

        Returns
        -------
        self
        """
        return self._fit(X, y)

    def _fit(self, X: Any, y: Any, **more: Any) -> Any:
        with self._all_or_nothing():
            if y is None and not self._needs_labels:
                x, codes = self._points(X, reset=True), None
                self.__dict__.pop("classes_", None)
            else:
                x, codes = self._labelled_points(X, y)
            self._train(x, codes, keep_points="yes", **more)
        return self

    def _labelled_points(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        x, y = _validate(
            self, self._preprocessed(X), y, reset=True, dtype=_TYPES, accept_sparse=False, y_numeric=False,
            **{_FINITE: self._finite()},
        )  # fmt: skip
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        if len(x) < 2:
            raise ValueError(f"{type(self).__name__} cannot learn from 1 sample (n_samples = 1): at least 2 are needed")
        self.classes_, codes = np.unique(y, return_inverse=True)
        return x, codes

    def predict(self, X: Any) -> np.ndarray:
        """Classes by the vote of the nearest training points under the metric (`neighbors` of them)."""
        model = self._fitted()
        x = self._points(X)
        with self._call() as call:
            label = call.predict(model, x)
        return self.classes_[label]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Shares of the votes of the nearest training points: a row for each point, a column for each of `classes_`.

        Of classes with equal shares the one that `predict` names is larger by the last bit.
        """
        model = self._fitted()
        x = self._points(X)
        with self._call() as call:
            label, share = call.vote(model, x)
        winner = (np.arange(len(share)), label)
        share[winner] = np.where(share.argmax(axis=1) == label, share[winner], np.nextafter(share[winner], 1.0))
        return share

    def _votes(self, call: Call) -> int:
        """How many neighbours vote: as many as were asked for, else as many as the model chose, else the default."""
        chosen = self._fitted().description.get("selection", {}).get("neighbors")
        return int(chosen if chosen and self.neighbors in (None, "auto") else call.number("neighbors"))

    def kneighbors(self, X: Any, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """The nearest training points under the metric.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        n_neighbors : int, optional
            As many as vote (`neighbors`), where it is not given.
        return_distance : bool

        Returns
        -------
        distances, numbers of training points : arrays of shape (n_samples, n_neighbors)
            The nearest first; the numbers alone where no distances are wanted.
        """
        model = self._fitted()
        x = self._points(X)
        with self._call() as call:
            if n_neighbors is None:
                n_neighbors = self._votes(call)
            if isinstance(n_neighbors, bool) or not isinstance(n_neighbors, (int, np.integer)):
                raise ValueError(f"n_neighbors must be a whole number, got {n_neighbors!r}")
            index, squared = call.neighbors(model, x, int(n_neighbors))
        return (np.sqrt(squared), index.astype(np.intp)) if return_distance else index.astype(np.intp)


class WarmLabelled(Labelled):
    """Of the methods that can start from a model."""

    def fit(self, X: Any, y: Any = None, warm: Any = None) -> Any:
        """Learn the metric.

        Parameters
        ----------
        X, y : as of other learners from labels
        warm : fitted estimator, or the name of a model file, optional
            Start from it, and take over its settings and choices where none are given here: the same metric as
            without it, sooner. `metric.fit(more, labels, warm=metric)` goes on from what the estimator has learned.

        Returns
        -------
        self
        """
        return self._fit(X, y, **({} if warm is None else {"warm": start_of(warm)}))


class BoundedLabelled(Labelled):
    """Of the methods that have bounds on distances."""

    def fit(self, X: Any, y: Any = None, bounds: Any = None) -> Any:
        """Learn the metric.

        Parameters
        ----------
        X, y : as of other learners from labels
        bounds : two numbers, optional
            metric-learn's way to give `itml_near` and `itml_far`.

        Returns
        -------
        self
        """
        return self._fit(X, y, **self._bounds(bounds))


class Chunks(Labelled):
    """A metric from chunks: points that belong together, by number; -1 for points of which nothing is known."""

    def fit(self, X: Any, y: Any = None, chunks: Any = None) -> Any:
        """Learn the metric.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points; numbers of points where there is a preprocessor.
        y : array of shape (n_samples,)
            Chunks or classes; points with a number below 0 are left out, unless -1 and 1 are all there is: two classes.
        chunks : array of shape (n_samples,), optional
            metric-learn's name of y.

        Returns
        -------
        self
        """
        y = chunks if y is None else y
        numbers = np.asarray(y)
        if numbers.ndim == 1 and numbers.dtype.kind == "i" and (numbers < 0).any() and set(numbers) != {-1, 1}:
            check_consistent_length(X, numbers)
            known = np.flatnonzero(numbers >= 0)
            X, y = _safe_indexing(X, known), numbers[known]
        return super().fit(X, y)
