"""Estimators that learn from pairs and triplets, as metric-learn has them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from ._base import Metric
from ._border import Call, lib

NONE2 = np.empty((0, 2), dtype=np.int32)
NONE3 = np.empty((0, 3), dtype=np.int32)


def _answers(y: Any, count: int) -> np.ndarray:
    """Labels of pairs, checked."""
    y = np.asarray(y)
    if y.shape != (count,):
        raise ValueError(f"there are {count} pairs, but labels of shape {y.shape}")
    if not np.isin(y, (-1, 1)).all():
        raise ValueError("the label of a pair must be 1 (the same) or -1 (different)")
    return y.astype(np.int32)


def _refuse(bad: np.ndarray, what: str, why: str) -> None:
    if bad.any():
        raise ValueError(f"{what} {int(np.argmax(bad))} is {why}")


class Tuples(Metric):
    """What learners from tuples share."""

    classes_ = np.array([-1, 1])  # the answers: not, or so

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> np.ndarray:
        raise AttributeError("a learner from tuples has no points to transform: call fit, then transform(X)")


class Pairs(Tuples):
    """A metric from pairs of points, and which pairs are the same."""

    threshold_: float

    def fit(self, pairs: Any, y: Any, calibration_params: dict[str, Any] | None = None) -> Any:
        """Learn the metric and a threshold on the distance.

        Parameters
        ----------
        pairs : array of shape (n, 2, n_features), or (n, 2) with a preprocessor
        y : array of shape (n,)
            1 for pairs that are the same, -1 for others.
        calibration_params : dict, optional
            For `calibrate_threshold` on the training pairs; by default the threshold is the library's, which gets
            the most training pairs right.

        Returns
        -------
        self
        """
        return self._fit(pairs, y, calibration_params)

    def _fit(self, pairs: Any, y: Any, calibration_params: dict[str, Any] | None, **more: str) -> Any:
        with self._all_or_nothing():
            x, rows = self._rows_of(pairs, 2, reset=True)
            same = _answers(y, len(rows))
            equal = rows[:, 0] == rows[:, 1]  # nothing is learned from a point and itself
            _refuse(equal & (same == -1), "pair", "said to be different, but its points are the same")
            rows, same = rows[~equal], same[~equal]
            self._train(x, None, (rows[same == 1], rows[same == -1], NONE3), **more)
            threshold = lib.bdml_model_threshold(self._model.c)
            if self._score_kind() == "distance":
                self.threshold_ = math.sqrt(max(-threshold, 0.0))
            else:
                self.threshold_ = -threshold
            if calibration_params or math.isnan(threshold):
                self.calibrate_threshold(pairs, y, **(calibration_params or {}))
        return self

    def decision_function(self, pairs: Any) -> np.ndarray:
        """How alike pairs are: `pair_score`."""
        return self.pair_score(pairs)

    def predict(self, pairs: Any) -> np.ndarray:
        """1 for pairs that are called the same: those nearer than `threshold_`; -1 for others."""
        self._fitted()
        return np.where(-self.decision_function(pairs) <= self.threshold_, 1, -1)

    def score(self, pairs: Any, y: Any) -> float:
        """Area under the ROC curve of the scores."""
        return float(roc_auc_score(y, self.decision_function(pairs)))

    def set_threshold(self, threshold: float) -> Any:
        """Call pairs the same from now on when their distance is at most this."""
        self._fitted()
        try:
            self.threshold_ = float(threshold)
        except (TypeError, ValueError):
            raise ValueError(f"the threshold must be a number, got {threshold!r}") from None
        return self

    def calibrate_threshold(
        self, pairs_valid: Any, y_valid: Any, strategy: str = "accuracy", min_rate: float | None = None, beta: float = 1.0
    ) -> Any:
        """Choose the threshold on pairs with answers.

        Parameters
        ----------
        pairs_valid, y_valid : as in fit
        strategy : {'accuracy', 'f_beta', 'max_tpr', 'max_tnr'}
            The most right answers; the best F-beta of "the same"; the most true positives with a share of true
            negatives of at least min_rate; the most true negatives with a share of true positives of at least that.
        min_rate : float, for 'max_tpr' and 'max_tnr'
        beta : float, for 'f_beta'

        Returns
        -------
        self
        """
        goal = _goal(strategy)
        chosen_by = beta if strategy == "f_beta" else min_rate if strategy != "accuracy" else 0.0
        if not isinstance(chosen_by, (int, float)):
            name = "beta" if strategy == "f_beta" else "min_rate"
            raise ValueError(f"strategy {strategy} needs {name}, a number; got {chosen_by!r}")
        self._fitted()
        score = self.decision_function(pairs_valid)
        same = _answers(y_valid, len(score)) == 1
        with Call() as call:
            self.threshold_ = -call.threshold(score, same, goal, chosen_by)
        return self


class BoundedPairs(Pairs):
    """Of the methods that have bounds on distances."""

    def fit(  # type: ignore[override]  # the order of metric-learn
        self, pairs: Any, y: Any, bounds: Any = None, calibration_params: dict[str, Any] | None = None
    ) -> Any:
        """Learn the metric and a threshold on the distance.

        Parameters
        ----------
        pairs, y, calibration_params : as of other learners from pairs
        bounds : two numbers, optional
            metric-learn's way to give `itml_near` and `itml_far`.

        Returns
        -------
        self
        """
        return self._fit(pairs, y, calibration_params, **self._bounds(bounds))


def _goal(strategy: str) -> int:
    known = {
        "accuracy": lib.BDML_THRESHOLD_ACCURACY,
        "f_beta": lib.BDML_THRESHOLD_F,
        "max_tpr": lib.BDML_THRESHOLD_SAME,
        "max_tnr": lib.BDML_THRESHOLD_DIFFERENT,
    }
    if strategy not in known:
        raise ValueError(f"strategy must be one of {', '.join(known)}; got {strategy!r}")
    return known[strategy]


class Comparisons(Tuples):
    """A metric from tuples that say of two pairs of their points which one is nearer."""

    _size: int
    _near: list[int]  # columns of the pair that is nearer
    _far: list[int]

    def decision_function(self, tuples: Any) -> np.ndarray:
        """How much nearer the near pair is: the difference of the distances."""
        model = self._fitted()
        x, rows = self._rows_of(tuples, self._size)
        with self._call() as call:
            return np.sqrt(call.distances(model, x, rows[:, self._far])) - np.sqrt(
                call.distances(model, x, rows[:, self._near])
            )

    def predict(self, tuples: Any) -> np.ndarray:
        """1 where the near pair is nearer, -1 where it is not."""
        return np.where(self.decision_function(tuples) > 0, 1, -1)

    def score(self, tuples: Any, y: Any = None) -> float:
        """Share of tuples that hold."""
        return float(np.mean(self.predict(tuples) == 1))


class Triplets(Comparisons):
    """A metric from triplets (a, b, c): a is nearer to b than to c."""

    _size, _near, _far = 3, [0, 1], [0, 2]

    def fit(self, triplets: Any, y: Any = None) -> Any:
        """Learn the metric.

        Parameters
        ----------
        triplets : array of shape (n, 3, n_features), or (n, 3) with a preprocessor
        y : ignored

        Returns
        -------
        self
        """
        with self._all_or_nothing():
            x, rows = self._rows_of(triplets, 3, reset=True)
            _refuse(rows[:, 2] == rows[:, 0], "triplet", "impossible: nothing is nearer to its first point than its third")
            _refuse(rows[:, 1] == rows[:, 2], "triplet", "impossible: its second and third point are the same")
            rows = rows[rows[:, 0] != rows[:, 1]]  # nothing is learned from a point and itself
            self._train(x, None, (rows[:, :2], NONE2, rows))
        return self


class Quadruplets(Comparisons):
    """A metric from quadruplets (a, b, c, d): a is nearer to b than c to d."""

    _size, _near, _far = 4, [0, 1], [2, 3]

    def fit(self, quadruplets: Any, y: Any = None, weights: Any = None) -> Any:
        """Learn the metric.

        Parameters
        ----------
        quadruplets : array of shape (n, 4, n_features), or (n, 4) with a preprocessor
        y : ignored
        weights : array of shape (n,), optional
            How much each of them counts; above 0.

        Returns
        -------
        self
        """
        with self._all_or_nothing():
            x, rows = self._rows_of(quadruplets, 4, reset=True)
            _refuse(rows[:, 2] == rows[:, 3], "quadruplet", "impossible: its third and fourth point are the same")
            same = np.all(np.sort(rows[:, :2]) == np.sort(rows[:, 2:]), axis=1)
            _refuse(same, "quadruplet", "impossible: its two pairs are the same")
            kept = rows[:, 0] != rows[:, 1]  # nothing is learned from a point and itself
            if weights is not None:
                weights = np.asarray(weights, dtype=np.float64)
                if weights.shape != (len(rows),):
                    raise ValueError(f"there are {len(rows)} quadruplets, but weights of shape {weights.shape}")
                weights = weights[kept]
            self._train(x, None, (rows[kept], weights))
        return self
