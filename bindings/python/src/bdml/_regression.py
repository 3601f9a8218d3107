"""Estimators that learn from points with a number each."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from ._base import _FINITE, _TYPES, Metric, _validate


class Regression(Metric):
    """A metric under which near points have near numbers: a transformer before a regression by neighbours or kernels."""

    def _more_tags(self) -> dict[str, Any]:
        return {"requires_y": True, "preserves_dtype": _TYPES, "allow_nan": self._finite() == "allow-nan"}

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn the metric.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points; numbers of points where there is a preprocessor.
        y : array of shape (n_samples,)
            The numbers to be predicted.

        Returns
        -------
        self
        """
        with self._all_or_nothing():
            x, y = _validate(
                self, self._preprocessed(X), y, reset=True, dtype=_TYPES, accept_sparse=False, y_numeric=True,
                **{_FINITE: self._finite()},
            )  # fmt: skip
            values, codes = np.unique(column_or_1d(y, warn=True).astype(np.float64), return_inverse=True)
            if len(x) < 2:
                raise ValueError(f"{type(self).__name__} cannot learn from 1 sample (n_samples = 1): at least 2 are needed")
            # the library reads the numbers off the names of the classes, which repr writes in full
            self._train(x, codes, names=[repr(float(v)) for v in values], keep_points="no")
        return self
