"""The border to C: one handle a call, errors as exceptions, arrays passed where they lie.

Each call has a handle of its own, so that any number of threads may use one estimator at once. The GIL is
released while C works. C asks about ten times a second whether to go on: there signals are heard (Ctrl-C),
progress is shown and the user's callback is called.
"""

from __future__ import annotations

import json
import logging
import numbers
import os
import threading
from pathlib import Path
from typing import Any, Callable, Mapping

import numpy as np

from ._cdef import ffi as ffi
from ._progress import Progress

lib = ffi.dlopen(str(Path(__file__).with_name("libbdml.so")))
logger = logging.getLogger("bdml")
logger.addHandler(logging.NullHandler())

_LEVELS = {
    lib.BDML_LOG_WARNING: logging.WARNING,
    lib.BDML_LOG_INFO: logging.INFO,
    lib.BDML_LOG_TABLE: logging.DEBUG,
}


class Stopped(RuntimeError):
    """The callback of a fit asked to stop; the estimator is as it was before."""


class Infeasible(Exception):
    """Training ended with a proof instead of a metric."""

    def __init__(self, message: str, proof: "Model"):
        super().__init__(message)
        self.proof = proof


# ---- fork ------------------------------------------------------------------------------------------

# The threads of OpenMP do not survive a fork, but OpenMP believes that they do and waits for them. A child
# made by fork works on one thread: results are the same bits.
_forked = False


def _after_fork() -> None:
    global _forked
    _forked = True


os.register_at_fork(after_in_child=_after_fork)

# ---- callbacks ---------------------------------------------------------------------------------------

_lost = threading.local()  # an exception that came before a callback could take hold of it


def _onerror(kind: Any, value: BaseException, traceback: Any) -> None:
    _lost.exception = value


LEAVE: int = lib.BDML_LEAVE  # at once: no proof of what a solve has found so far


def _asked(user: Any, phase: Any, done: int, total: int) -> int:
    return ffi.from_handle(user)._ask(ffi.string(phase).decode(errors="replace"), done, total)


def _told(user: Any, level: int, line: Any) -> None:
    logger.log(_LEVELS.get(level, logging.INFO), "%s", ffi.string(line).decode(errors="replace"))


_progress = ffi.callback("int(void *, const char *, int64_t, int64_t)", _asked, error=LEAVE, onerror=_onerror)
_log = ffi.callback("void(void *, bdml_log_level, const char *)", _told, onerror=_onerror)


# ---- settings ------------------------------------------------------------------------------------------


def version() -> str:
    """The version of the C library."""
    return _text(lib.bdml_version())


def _text(pointer: Any) -> str:
    return ffi.string(pointer).decode("utf-8", errors="replace") if pointer else ""


def settings() -> dict[str, dict[str, Any]]:
    """The library's table of settings: name, then group, default, range and help.

    >>> settings()["gap"]["default"]
    '1e-3'
    """
    table = {}
    for i in range(lib.bdml_option_count()):
        row = lib.bdml_option_at(i)
        table[_text(row.name)] = {
            "group": _text(row.group),
            "default": _text(row.default_value),
            "min": row.min,
            "max": row.max,
            "choices": _text(row.choices).split("|") if row.choices else None,
            "help": _text(row.help),
        }
    return table


_OTHERWISE = {"random_state": "seed", "n_components": "components", "pair_score_by": "pair-score"}


def setting_name(argument: str) -> str:
    """The library's name of a setting whose argument is this one of the estimators.

    >>> setting_name("max_iter"), setting_name("lambda_"), setting_name("random_state")
    ('max-iter', 'lambda', 'seed')
    """
    return _OTHERWISE.get(argument, argument.rstrip("_").replace("_", "-"))


def setting_text(value: Any) -> str:
    """A value as the library's settings are written."""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    return str(value)


# ---- arrays --------------------------------------------------------------------------------------------


def rows(x: np.ndarray) -> tuple[Any, int, np.ndarray]:
    """Pointer to the first row, distance of rows, and the array that must live as long as they are used.

    Not copied when the values of a row lie side by side, whatever the distance of rows.
    """
    size = x.itemsize
    along, down = x.strides[1], x.strides[0]
    near = along == size or x.shape[1] == 1
    if not (near and down % size == 0 and down >= size * x.shape[1] and x.flags.aligned) and x.shape[0] > 1:
        x = np.ascontiguousarray(x)
        down = x.strides[0]
    elif x.shape[0] == 1:
        x = np.ascontiguousarray(x)
        down = size * x.shape[1]
    kind = "const float *" if x.dtype == np.float32 else "const double *"
    return ffi.cast(kind, x.__array_interface__["data"][0]), down // size, x


def _names(names: Any) -> tuple[Any, list[Any]] | None:
    """Names as C has them, and what must live as long; None where there are none, or two are the same in writing."""
    if names is None:
        return None
    texts = [ffi.new("char[]", str(n).encode("utf-8", errors="replace").replace(b"\0", b"?")) for n in names]
    if len({ffi.string(t) for t in texts}) < len(texts):
        return None
    return ffi.new("const char *[]", texts), texts


def pointer(kind: str, array: np.ndarray) -> Any:
    """Of a contiguous array."""
    assert array.flags.c_contiguous
    return ffi.cast(kind, array.__array_interface__["data"][0])


# ---- objects of the library --------------------------------------------------------------------------


class Model:
    """A trained model, or a proof that there is none. Pickled as the bytes of a model file."""

    __slots__ = ("c", "_described", "__weakref__")

    def __init__(self, c: Any):
        self.c = ffi.gc(c, lib.bdml_free_model)
        self._described: dict[str, Any] | None = None

    @property
    def description(self) -> dict[str, Any]:
        if self._described is None:
            self._described = json.loads(_text(lib.bdml_model_describe(self.c)))
        return self._described

    def to_bytes(self) -> bytes:
        with Call() as call:
            out, size = ffi.new("void **"), ffi.new("size_t *")
            call.run(lib.bdml_save_model_bytes, self.c, out, size)
            try:
                return bytes(ffi.buffer(out[0], size[0]))
            finally:
                lib.bdml_free_bytes(out[0])

    @staticmethod
    def from_bytes(data: bytes) -> "Model":
        with Call() as call:
            out = ffi.new("bdml_model **")
            call.run(lib.bdml_load_model_bytes, ffi.from_buffer(data), len(data), out)
            return Model(out[0])

    def __reduce__(self) -> Any:
        return Model.from_bytes, (self.to_bytes(),)

    @property
    def input_dimension(self) -> int:
        return lib.bdml_model_input_dimension(self.c)

    @property
    def metric_dimension(self) -> int:
        return lib.bdml_model_metric_dimension(self.c)

    @property
    def output_dimension(self) -> int:
        return lib.bdml_model_output_dimension(self.c)


class Call:
    """A handle for the time of one call, with its settings, its progress and its errors.

    settings: texts by the library's names; the reference may be a matrix, warm a model. report: called with (phase, done, total); what is true stops.
    """

    def __init__(
        self,
        settings: Mapping[str, str | np.ndarray | Model] | None = None,
        verbose: bool | int = False,
        callback: Callable[[str, int, int], Any] | None = None,
    ):
        out = ffi.new("bdml_handle **")
        if lib.bdml_create(out) != lib.BDML_OK:
            raise MemoryError("out of memory while a handle was made")
        self.h = out[0]
        self._start: Model | None = None
        self._exception: BaseException | None = None
        self._stopped = False
        self._callback = callback
        self._progress = Progress() if verbose else None
        self._self = ffi.new_handle(self)
        lib.bdml_set_progress(self.h, _progress, self._self)
        lib.bdml_set_log(self.h, _log, self._self)
        try:
            for name, value in (settings or {}).items():
                self.set(name, value)
            if _forked:
                self.set("threads", "1")
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Call":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def close(self) -> None:
        if self._progress:
            self._progress.close()
        lib.bdml_free(self.h)
        self.h = ffi.NULL
        self._self = None  # the handle of cffi refers to this object

    def set(self, name: str, value: str | np.ndarray | Model) -> None:
        if isinstance(value, str):
            self.check(lib.bdml_set(self.h, name.encode(), value.encode()))
        elif isinstance(value, Model):
            self._start = value  # borrowed by the handle
            self.check(lib.bdml_set_warm(self.h, value.c))
        else:
            rows, d = value.shape
            self.check(lib.bdml_set_reference(self.h, rows, d, ffi.from_buffer("double[]", value)))

    def number(self, name: str) -> float:
        """The value of a setting."""
        return lib.bdml_get_number(self.h, name.encode())

    def _ask(self, phase: str, done: int, total: int) -> int:
        """Whether to leave. Signals are heard here, since Python code runs."""
        try:
            if getattr(_lost, "exception", None) is not None:
                return LEAVE
            if self._progress:
                self._progress.show(phase, done, total)
            if self._callback and self._callback(phase, done, total):
                self._stopped = True
        except BaseException as e:  # to be raised again when C has returned
            self._exception = e
        return LEAVE if self._stopped or self._exception is not None else 0

    def run(self, function: Callable[..., int], *arguments: Any) -> int:
        """Call a function of the library on this handle."""
        _lost.exception = None
        status = function(self.h, *arguments)
        return self.check(status)

    def check(self, status: int) -> int:
        lost, _lost.exception = getattr(_lost, "exception", None), None
        exception = self._exception or lost
        if exception is not None:
            self._exception = None
            raise exception
        if status == lib.BDML_OK:
            return status
        message = _text(lib.bdml_last_error(self.h)) or _text(lib.bdml_status_text(status))
        if status == lib.BDML_ERR_CANCELLED:
            raise Stopped("stopped by the callback" if self._stopped else message)
        if status == lib.BDML_ERR_MEMORY:
            raise MemoryError(message)
        if status == lib.BDML_ERR_IO:
            raise OSError(message)
        if status == lib.BDML_ERR_LAPACK:
            raise np.linalg.LinAlgError(message)
        raise ValueError(message)

    # ---- data ----

    def dataset(
        self, x: np.ndarray, codes: np.ndarray | None = None, classes: Any = None, features: Any = None
    ) -> Any:
        """A data set of rows and, where they are given, classes 0, 1, ... and names."""
        start, ld, keep = rows(x)
        out = ffi.new("bdml_dataset **")
        y = ffi.NULL
        if codes is not None:
            codes = np.ascontiguousarray(codes, dtype=np.int64)
            y = pointer("const int64_t *", codes)
        make = lib.bdml_dataset_from_floats if keep.dtype == np.float32 else lib.bdml_dataset_from_arrays
        self.run(make, keep.shape[0], keep.shape[1], start, ld, y, out)
        data = ffi.gc(out[0], lib.bdml_free_dataset)
        names = [_names(classes), _names(features)]
        if any(names):
            self.run(lib.bdml_dataset_set_names, data, *(n[0] if n else ffi.NULL for n in names))
        return data

    def constraints(self, n: int, targets: np.ndarray, impostors: np.ndarray, triplets: np.ndarray) -> Any:
        lists = [np.ascontiguousarray(a, dtype=np.int32) for a in (targets, impostors, triplets)]
        out = ffi.new("bdml_constraints **")
        arguments: list[Any] = []
        for a in lists:
            arguments += [len(a), pointer("const int32_t *", a)]
        self.run(lib.bdml_constraints_from_arrays, n, *arguments, out)
        return ffi.gc(out[0], lib.bdml_free_constraints)

    def quadruplets(self, n: int, rows: np.ndarray, weights: np.ndarray | None) -> Any:
        """Each stands once for the library: the weights of equal ones are added."""
        pairs = np.concatenate([np.sort(rows[:, :2]), np.sort(rows[:, 2:])], axis=1)
        _, first, which = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rows = np.ascontiguousarray(rows[first[order]], dtype=np.int32)
        weights = np.ascontiguousarray(np.bincount(which.ravel(), weights=weights)[order], dtype=np.float64)
        out = ffi.new("bdml_constraints **")
        self.run(lib.bdml_constraints_from_quadruplets, n, len(rows), pointer("const int32_t *", rows), out)
        given = ffi.gc(out[0], lib.bdml_free_constraints)
        self.run(lib.bdml_constraints_set_weights, given, pointer("const double *", weights))
        return given

    # ---- training and models ----

    def train(self, data: Any, constraints: Any = None) -> Model:
        """Raises Infeasible with the proof when that is what the training ends with."""
        out = ffi.new("bdml_model **")
        _lost.exception = None
        status = lib.bdml_train(self.h, data, ffi.NULL if constraints is None else constraints, out)
        model = Model(out[0]) if out[0] else None
        if status == lib.BDML_ERR_INFEASIBLE and model is not None and self._exception is None:
            raise Infeasible(_text(lib.bdml_last_error(self.h)), model)
        self.check(status)
        assert model is not None
        return model

    def transform(self, model: Model, x: np.ndarray) -> np.ndarray:
        start, ld, keep = rows(x)
        z = np.empty((len(keep), model.output_dimension), dtype=keep.dtype)
        if z.dtype == np.float32:
            self.run(lib.bdml_transform_floats, model.c, len(keep), start, ld, pointer("float *", z))
        else:
            self.run(lib.bdml_transform, model.c, len(keep), start, ld, pointer("double *", z))
        return z

    def eigenvalues(self, model: Model) -> np.ndarray:
        values = np.empty(model.metric_dimension)
        self.run(lib.bdml_model_eigenvalues, model.c, pointer("double *", values))
        return values

    def predict(self, model: Model, x: np.ndarray) -> np.ndarray:
        start, ld, keep = rows(np.asarray(x, dtype=np.float64))
        label = np.empty(len(keep), dtype=np.int32)
        self.run(lib.bdml_predict, model.c, ffi.NULL, len(keep), start, ld, pointer("int32_t *", label))
        return label

    def vote(self, model: Model, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Classes, and the share of the votes that each class has."""
        start, ld, keep = rows(np.asarray(x, dtype=np.float64))
        out = ffi.new("bdml_voters **")
        self.run(lib.bdml_make_voters, model.c, ffi.NULL, out)
        voters = ffi.gc(out[0], lib.bdml_free_voters)
        label = np.empty(len(keep), dtype=np.int32)
        share = np.empty((len(keep), lib.bdml_voters_classes(voters)))
        self.run(lib.bdml_vote, voters, len(keep), start, ld, pointer("int32_t *", label), pointer("double *", share))
        return label, share

    def neighbors(self, model: Model, x: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the nearest training points, and squared distances."""
        start, ld, keep = rows(np.asarray(x, dtype=np.float64))
        index, distance = np.empty((len(keep), k), dtype=np.int32), np.empty((len(keep), k))
        self.run(
            lib.bdml_model_neighbors, model.c, len(keep), start, ld, k, pointer("int32_t *", index),
            pointer("double *", distance),
        )  # fmt: skip
        return index, distance

    def _of_pairs(self, function: Any, model: Model, x: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        start, ld, keep = rows(x)
        pairs = np.ascontiguousarray(pairs, dtype=np.int64)
        out = np.empty(len(pairs))
        self.run(
            function, model.c, len(keep), start, ld, len(pairs), pointer("const int64_t *", pairs),
            pointer("double *", out),
        )  # fmt: skip
        return out

    def distances(self, model: Model, x: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        """Squared distances of rows."""
        return self._of_pairs(lib.bdml_distances, model, x, pairs)

    def pair_scores(self, model: Model, x: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        return self._of_pairs(lib.bdml_model_pair_scores, model, x, pairs)

    def threshold(self, score: np.ndarray, same: np.ndarray, goal: int, chosen_by: float) -> float:
        """The score from which on a pair is best called the same."""
        score, same = np.ascontiguousarray(score, float), np.ascontiguousarray(same, np.int32)
        out = ffi.new("double *")
        self.run(
            lib.bdml_calibrate_threshold, len(score), pointer("const double *", score), pointer("const int32_t *", same),
            goal, float(chosen_by), out,
        )  # fmt: skip
        return float(out[0])

    def map_of(self, model: Model) -> np.ndarray:
        l = np.empty((model.output_dimension, model.metric_dimension))
        self.run(lib.bdml_model_get_map, model.c, pointer("double *", l))
        return l

    def metric_of(self, model: Model) -> np.ndarray:
        d = model.metric_dimension
        m = np.empty((d, d))
        self.run(lib.bdml_model_get_metric, model.c, pointer("double *", m))
        return m

    def json(self, function: Any, *arguments: Any) -> dict[str, Any]:
        """What a function hands out as JSON text through its last argument."""
        out = ffi.new("char **")
        self.run(function, *arguments, out)
        try:
            return json.loads(_text(out[0]))
        finally:
            lib.bdml_free_bytes(out[0])
