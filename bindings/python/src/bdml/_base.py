"""What all estimators share: settings, points, the learned metric."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from os import PathLike
from typing import Any, Iterator

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import check_array, check_random_state

from ._border import Call, Infeasible, Model, ffi, lib, setting_text
from ._report import Report, of_model
from ._results import Certificate, InfeasibleError, Verdict

try:  # scikit-learn 1.6 made a function of the method, and gave its argument another name
    from sklearn.utils.validation import validate_data

    _FINITE = "ensure_all_finite"
except ImportError:
    _FINITE = "force_all_finite"

    def validate_data(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        return estimator._validate_data(*args, **kwargs)


def _validate(estimator: Any, *args: Any, **kwargs: Any) -> Any:
    """As scikit-learn checks points; an error about NaN names the setting that takes them."""
    try:
        return validate_data(estimator, *args, **kwargs)
    except ValueError as e:
        if "contains NaN" not in str(e) or "Input y" in str(e) or not hasattr(estimator, "missing"):
            raise
        advice = 'missing="mean" fills in the mean of the column, missing="drop" leaves such rows out'
        raise ValueError(f"{e}\n{type(estimator).__name__}: {advice}") from None


_TYPES = [np.float64, np.float32]  # taken as they are; others become the first

# Settings that say how to work, which every call on a fitted estimator takes over.
_MEANS = ("threads", "memory", "search", "candidates", "neighbors")


class MetricFunction:
    """The distance of two points under a learned metric; a function that scikit-learn takes as `metric=`."""

    def __init__(self, model: Model):
        self._model = model

    def __call__(self, u: Any, v: Any, squared: bool = False) -> float:
        points = np.array([np.ravel(u), np.ravel(v)], dtype=np.float64)
        if points.shape[1] != self._model.input_dimension:
            raise ValueError(f"points of {self._model.input_dimension} values are expected, got {points.shape[1]}")
        with Call({"threads": "1"}) as call:
            d = float(call.distances(self._model, points, np.array([[0, 1]]))[0])
        return d if squared else float(np.sqrt(d))


def start_of(warm: Any) -> Any:
    """What a fit is to start from: the name of a file, or the model of a fitted estimator."""
    if isinstance(warm, (str, PathLike)):
        return str(warm)
    if not isinstance(warm, Metric):
        raise ValueError(f"warm is a fitted estimator or the name of a model file; got {type(warm).__name__}")
    return warm._fitted()


class Metric(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of the estimators: a metric, how it is set up and what can be asked of it."""

    _method: str
    _settings: dict[str, tuple[str, Any]]  # argument -> (setting of the library, default)
    _foreign: dict[str, str] = {}  # metric-learn's name -> argument
    _switch: dict[str, str] = {}  # flag of metric-learn -> the method that it stands for
    _only: dict[str, str] = {}  # argument of metric-learn -> the one value of it that is to be had
    _implied: dict[str, str] = {}  # argument -> the one that it follows where it is not given
    _model: Model

    # ---- settings ----

    def _texts(self) -> dict[str, Any]:
        """The settings that differ from their defaults, as the library takes them."""
        values = {argument: getattr(self, argument) for argument in self._settings}
        for alias, argument in self._foreign.items():
            value = getattr(self, alias)
            if value is None:
                continue
            default = self._settings[argument][1]
            if values[argument] != default and values[argument] != value:
                raise ValueError(f"{alias} and {argument} are two names of one setting; give one of them")
            values[argument] = value
        for alias, word in self._only.items():
            if getattr(self, alias) not in (None, word):
                raise ValueError(f"{alias} is {word!r} in {type(self).__name__}; got {getattr(self, alias)!r}")
        for argument, other in self._implied.items():
            if values[argument] == self._settings[argument][1] and values[other] != self._settings[other][1]:
                values[argument] = values[other]
        texts = {"method": method for flag, method in self._switch.items() if getattr(self, flag)}
        for argument, (name, default) in self._settings.items():
            value = values[argument]
            if argument == "random_state" and value is not None and not isinstance(value, (int, np.integer)):
                value = check_random_state(value).randint(2**31 - 1)
            if argument == "reference" and not isinstance(value, (str, type(None))):
                texts[name] = check_array(value, dtype=np.float64, order="C", input_name="reference")
            elif argument == "warm" and value:
                texts[name] = start_of(value)
            elif value is not None and setting_text(value) != setting_text(default):
                texts[name] = setting_text(value)
        return texts

    def _call(self) -> Call:
        """For questions to a fitted estimator."""
        texts = self._texts()
        return Call({name: texts[name] for name in _MEANS if name in texts})

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """A fit that fails leaves the estimator as it was."""
        before = self.__dict__.copy()
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _bounds(self, bounds: Any) -> dict[str, str]:
        """The bounds of ITML on squared distances, of similar and of dissimilar pairs, as settings."""
        if bounds is None:
            return {}
        values = np.asarray(bounds, dtype=np.float64)
        if values.shape != (2,):
            raise ValueError(f"bounds are two numbers, for similar and for dissimilar pairs; got {bounds!r}")
        if {"itml-near", "itml-far"} & set(self._texts()):
            raise ValueError("bounds and itml_near, itml_far are two names of the same; give one of them")
        return {"itml_near": setting_text(values[0]), "itml_far": setting_text(values[1])}

    # ---- points ----

    def _finite(self) -> Any:
        return True if getattr(self, "missing", "error") == "error" else "allow-nan"

    def _preprocessed(self, X: Any) -> Any:
        """Points for numbers of points, where a preprocessor says what they are."""
        if self.preprocessor is None:
            return X
        given = np.asarray(X)
        return self._fetch(given) if given.ndim == 1 else X

    def _fetch(self, numbers: np.ndarray) -> np.ndarray:
        source = self.preprocessor
        if callable(source):
            return np.asarray(source(numbers))
        if numbers.dtype.kind not in "iu":
            raise ValueError(f"the preprocessor is an array, so points are given by whole numbers; got {numbers.dtype}")
        return np.asarray(source)[numbers]

    def _points(self, X: Any, reset: bool = False) -> np.ndarray:
        return _validate(
            self, self._preprocessed(X), reset=reset, dtype=_TYPES, accept_sparse=False, **{_FINITE: self._finite()}
        )

    # ---- training ----

    def _train(
        self, x: np.ndarray, codes: np.ndarray | None, constraints: Any = None, names: Any = None, **more: Any
    ) -> None:
        """Learn, and keep what was learned. constraints: (targets, impostors, triplets), or (quadruplets, weights), by row."""
        texts = {"method": self._method, **self._texts()}
        for name, value in more.items():
            texts.setdefault(name.replace("_", "-"), value)
        with Call(texts, verbose=self.verbose, callback=self.callback) as call:
            names = self.__dict__.get("classes_") if names is None else names
            data = call.dataset(x, codes, names, self.__dict__.get("feature_names_in_"))
            make: Any = call.quadruplets if constraints and len(constraints) == 2 else call.constraints
            given = None if constraints is None else make(len(x), *constraints)
            try:
                self._model = call.train(data, given)
            except Infeasible as e:
                raise InfeasibleError(str(e), e.proof.description["certificate"], self._checker(e.proof)) from None
        self._warn()

    def _warn(self) -> None:
        """Tell when a solve was cut short."""
        d = self._model.description
        stopping, solution, claim = (d.get(part, {}) for part in ("stopping", "solution", "certificate"))
        if claim.get("status") == "stopped":
            said = f"the gap is {claim['gap']:.3g}" if claim.get("gap") is not None else "no bound was proven"
        elif stopping.get("converged") is False:
            reached = stopping["reached"]  # None: no bound was found
            said = f"{stopping['rule']} is {'unknown' if reached is None else f'{reached:.3g}'} and should be {stopping['wanted']:.3g}"
        elif solution.get("done") is False:
            said = f"the gap is {solution['gap']:.3g}"
        else:
            return
        warnings.warn(f"{type(self).__name__} was stopped before it was solved: {said}", ConvergenceWarning, stacklevel=4)

    # ---- the metric ----

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__

    def _fitted(self) -> Model:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments "
                "before using this estimator."
            )
        return self._model

    @property
    def _n_features_out(self) -> int:
        return self._fitted().output_dimension

    def transform(self, X: Any) -> np.ndarray:
        """Map points so that their Euclidean distance is the learned one.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        model = self._fitted()
        x = self._points(X)
        with self._call() as call:
            return call.transform(model, x)

    @property
    def components_(self) -> np.ndarray:
        """The linear map L, of shape (n_components, n_features): distances are those of X @ L.T."""
        model = self._fitted()
        out = np.empty((model.output_dimension, model.input_dimension))
        with Call() as call:
            call.run(lib.bdml_model_get_linear, model.c, ffi.cast("double *", out.__array_interface__["data"][0]))
        return out

    def get_mahalanobis_matrix(self) -> np.ndarray:
        """M = L'L, of shape (n_features, n_features)."""
        model = self._fitted()
        with Call() as call:
            if self._is_plain():
                return call.metric_of(model)
            linear = np.ascontiguousarray(self.components_)
            whole = ffi.new("bdml_model **")
            start = ffi.cast("const double *", linear.__array_interface__["data"][0])
            call.run(lib.bdml_model_from_map, *linear.shape, start, 0, whole)
            return call.metric_of(Model(whole[0]))

    def _is_plain(self) -> bool:
        """No preparation: the model's own matrix is that of raw points."""
        d = self._fitted().description
        return d.get("scale", "none") == "none" and "pca" not in d

    @property
    def eigenvalues_(self) -> np.ndarray:
        """Of the learned matrix on prepared points, ascending."""
        model = self._fitted()
        with Call() as call:
            return call.eigenvalues(model)

    def get_metric(self) -> MetricFunction:
        """The distance of two points as a function `metric(u, v, squared=False)`."""
        return MetricFunction(self._fitted())

    @property
    def description_(self) -> dict[str, Any]:
        """What the model says of itself: method, settings, choices, certificate, times."""
        return self._fitted().description

    @property
    def report_(self) -> Report:
        """A page about the metric, as `bdml report` makes it: what is proven, the spectrum, the features that matter."""
        return of_model(self._fitted())

    @property
    def n_iter_(self) -> int:
        """Steps of the solver. AttributeError for closed forms."""
        d = self._fitted().description
        for part in ("stopping", "certificate", "solution", "selection"):
            if "iterations" in d.get(part, {}):
                return max(int(d[part]["iterations"]), 1)
        raise AttributeError(f"method {self._method} takes no steps")

    # ---- pairs ----

    def _rows_of(self, tuples: Any, size: int, reset: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Different points and, for each tuple, their row numbers: rows in the order in which they come."""
        array = np.asarray(tuples) if not isinstance(tuples, np.ndarray) else tuples
        name = {2: "pairs", 3: "triplets", 4: "quadruplets"}[size]
        if array.ndim == 2 and self.preprocessor is not None:
            if array.shape[1] != size:
                raise ValueError(f"{name} are rows of {size} numbers of points, got shape {array.shape}")
            numbers, place = _different(array.ravel())
            points = self._fetch(numbers)
        elif array.ndim == 3 and array.shape[1] == size:
            points, place = array.reshape(-1, array.shape[2]), None
        else:
            raise ValueError(
                f"{name} must be an array of shape (n, {size}, n_features), or with a preprocessor (n, {size}); "
                f"got shape {array.shape}"
            )
        x = _validate(self, points, reset=reset, dtype=np.float64, **{_FINITE: self._finite()})
        x, rows = _different(np.ascontiguousarray(x))
        return x, (rows if place is None else rows[place]).reshape(-1, size)

    def pair_distance(self, pairs: Any) -> np.ndarray:
        """Distances of pairs of points.

        Parameters
        ----------
        pairs : array of shape (n, 2, n_features), or (n, 2) with a preprocessor
        """
        model = self._fitted()
        x, rows = self._rows_of(pairs, 2)
        with self._call() as call:
            return np.sqrt(call.distances(model, x, rows))

    def pair_score(self, pairs: Any) -> np.ndarray:
        """How alike pairs are, larger = more alike: minus the distance, or what the method learns instead."""
        model = self._fitted()
        if self._score_kind() == "distance":
            return -self.pair_distance(pairs)
        x, rows = self._rows_of(pairs, 2)
        with self._call() as call:
            return call.pair_scores(model, x, rows)

    def score_pairs(self, pairs: Any) -> np.ndarray:
        """The old name of `pair_distance` in metric-learn."""
        warnings.warn("score_pairs is the old name of pair_distance", FutureWarning, stacklevel=2)
        return self.pair_distance(pairs)

    def _score_kind(self) -> str:
        return self._fitted().description.get("verification", {}).get("score", "distance")

    # ---- proofs ----

    def _checker(self, model: Model) -> Checker:
        return Checker(model, getattr(self, "missing", "error"))

    @property
    def certificate_(self) -> Certificate:
        """What is proven of the metric (method bdml). AttributeError for methods that prove nothing."""
        model = self._fitted()
        c = model.description.get("certificate")
        if c is None:
            raise AttributeError(f"method {self._method} proves nothing of its metric; method bdml does")
        return Certificate(
            status=c["status"], lower=c.get("lower"), upper=c.get("upper"), gap=c.get("gap"), kappa=c.get("kappa"),
            distortion=c.get("distortion"), reference=c.get("reference"), details=c, _check=self._checker(model),
        )  # fmt: skip


class Checker:
    """The independent checker on one model; missing: what was done with missing values."""

    def __init__(self, model: Model, missing: str):
        self._model = model
        self._missing = missing

    def __call__(self, X: Any, y: Any = None, level: str = "auto") -> Verdict:
        x = check_array(X, dtype=_TYPES, **{_FINITE: True if self._missing == "error" else "allow-nan"})
        classes, codes = (None, None) if y is None else np.unique(np.asarray(y), return_inverse=True)
        with Call({"missing": self._missing, "level": level}) as call:
            named = lib.bdml_model_feature_name(self._model.c, 0) != ffi.NULL  # or it was fitted on an array
            data = call.dataset(x, codes, classes, _column_names(X) if named else None)
            confirmed = ffi.new("int *")
            o = call.json(lib.bdml_certify_model, self._model.c, data, confirmed)
        return Verdict(
            bool(confirmed[0]), o["claim"], o["checks"], o["level"], o["statement"], o["checked"], o["not_checked"]
        )


def _column_names(X: Any) -> list[str] | None:
    """Of a data frame, where all are texts, as scikit-learn takes them for the names of features."""
    names = list(getattr(X, "columns", []))
    return names if names and all(isinstance(n, str) for n in names) else None


def _different(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different rows in the order in which they come, and which of them each row is."""
    keys = a if a.ndim == 1 else a.view(np.dtype((np.void, a.itemsize * a.shape[1]))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return a[first[order]], place[inverse]
