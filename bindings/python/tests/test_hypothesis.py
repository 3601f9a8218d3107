"""Whatever comes: a right result or a clear exception."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import bdml

pytestmark = pytest.mark.filterwarnings("ignore")

LABELLED = st.sampled_from([k for k in bdml.LABELLED if k is not bdml.BDML])
WEAK = st.sampled_from(bdml.PAIRS)
CLEAR = (ValueError, TypeError, MemoryError, np.linalg.LinAlgError)


@st.composite
def points(draw, most_rows=25, most_columns=4):
    """Points of many kinds: types, orders, sizes of numbers, duplicates, constant columns, NaN and infinity."""
    n, d = draw(st.integers(1, most_rows)), draw(st.integers(1, most_columns))
    size = draw(st.sampled_from([1.0, 1.0, 1e-300, 1e-30, 1e30, 1e150, 1e300]))
    rng = np.random.RandomState(draw(st.integers(0, 10)))
    X = rng.randn(n, d) * size
    if draw(st.booleans()):
        X[:, 0] = X[0, 0]
    if draw(st.booleans()):
        X[rng.randint(n, size=n // 2)] = X[0]
    spoiled = draw(st.sampled_from([None, None, None, np.nan, np.inf]))
    if spoiled is not None:
        X[rng.randint(n), rng.randint(d)] = spoiled
    kind = draw(st.sampled_from([np.float64, np.float64, np.float32, np.int64, object]))
    with np.errstate(all="ignore"):
        if kind is np.int64:
            X = np.nan_to_num(np.clip(X, -1e9, 1e9) * 10)
        X = X.astype(kind)
    if draw(st.booleans()):
        X = np.asfortranarray(X)
    return X


@st.composite
def labelled(draw):
    X = draw(points())
    classes = draw(st.integers(1, 4))
    y = np.random.RandomState(draw(st.integers(0, 3))).randint(classes, size=len(X))
    if draw(st.booleans()):
        y = y.astype(str)
    return X, y


@given(LABELLED, labelled(), st.sampled_from(["none", "zscore", "minmax", "unit"]))
def test_labelled(kind, data, scale):
    X, y = data
    metric = kind(scale=scale)
    try:
        metric.fit(X, y)
    except CLEAR as e:
        assert len(str(e)) > 10
        assert not hasattr(metric, "classes_")
        return
    said, z = metric.predict(X), metric.transform(X)
    assert said.shape == y.shape and set(said) <= set(y)
    assert z.shape[0] == len(X) and z.dtype == (np.float32 if X.dtype == np.float32 else np.float64)
    if np.abs(np.asarray(X, dtype=float)).max() < 1e100:
        assert np.isfinite(z).all() and np.isfinite(metric._model.description.get("kappa") or 0)


@given(WEAK, points(most_rows=12), st.integers(0, 5), st.integers(1, 30), st.booleans())
def test_pairs(kind, X, seed, count, by_value):
    rng = np.random.RandomState(seed)
    index, same = rng.randint(len(X), size=(count, 2)), rng.choice([-1, 1], size=count)
    metric = kind(preprocessor=None if by_value else X)
    tuples = X[index] if by_value else index
    try:
        metric.fit(tuples, same)
    except CLEAR as e:
        assert len(str(e)) > 10
        return
    assert set(metric.predict(tuples)) <= {-1, 1}
    assert metric.pair_distance(tuples).shape == (count,)
    assert not np.isnan(metric.threshold_)


@given(st.sampled_from(bdml.TRIPLETS + bdml.QUADRUPLETS), points(most_rows=12), st.integers(0, 5), st.integers(1, 20), st.booleans())
def test_comparisons(kind, X, seed, count, by_value):
    size = 3 if kind in bdml.TRIPLETS else 4
    index = np.random.RandomState(seed).randint(len(X), size=(count, size))
    metric = kind(preprocessor=None if by_value else X)
    tuples = X[index] if by_value else index
    try:
        metric.fit(tuples)
    except CLEAR as e:
        assert len(str(e)) > 10
        assert not hasattr(metric, "n_features_in_")
        return
    assert set(metric.predict(tuples)) <= {-1, 1} and 0 <= metric.score(tuples) <= 1


@given(st.sampled_from(bdml.REGRESSION), points(), st.integers(0, 5), st.sampled_from([1.0, 1e-200, 1e200, 0.0, np.nan]))
def test_numbers(kind, X, seed, size):
    y = np.random.RandomState(seed).randn(len(X)) * size
    metric = kind(max_iter=5)
    try:
        metric.fit(X, y)
    except CLEAR as e:
        assert len(str(e)) > 10
        assert not hasattr(metric, "n_features_in_")
        return
    z = metric.transform(X)
    assert len(z) == len(X) and not np.isnan(z).any()


@given(labelled(), st.sampled_from([1.0, 3.0, 1e6]), st.booleans())
def test_what_is_claimed_holds(data, distortion, hard):
    X, y = data
    softness = {} if hard else {"softness": 2.0}
    metric = bdml.BDML(distortion=distortion, reference="zscore", hard=hard, passes=1, **softness)
    try:
        metric.fit(X, y)
    except bdml.InfeasibleError as e:
        assert e.verify(X, y)
        return
    except CLEAR as e:
        assert len(str(e)) > 10
        assert not hasattr(metric, "classes_")
        return
    c = metric.certificate_
    assert c.kappa <= distortion * (1 + 1e-6) and (c.upper is None or c.lower <= c.upper)
    assert c.verify(X, y), str(c.verify(X, y))


@given(st.sampled_from(bdml.PAIRS + bdml.TRIPLETS + bdml.QUADRUPLETS), npst.array_shapes(min_dims=0, max_dims=4, max_side=4))
def test_wrong_shapes_of_tuples(kind, shape):
    size = 2 if kind in bdml.PAIRS else 3 if kind in bdml.TRIPLETS else 4
    metric = kind()
    answers = [1] * (shape[0] if shape else 1)
    arguments = (np.zeros(shape), answers) if kind in bdml.PAIRS else (np.zeros(shape),)
    with pytest.raises(CLEAR) as e:  # also of the right shape: all points are the same
        metric.fit(*arguments)
    if len(shape) != 3 or shape[1] != size:
        assert "shape" in str(e.value)


@given(
    st.sampled_from(sorted(bdml.LMNN._settings)),
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.lists(st.integers(), max_size=2)),
)
def test_any_value_of_any_setting(argument, value):
    X = np.random.RandomState(0).randn(20, 3)
    metric = bdml.LMNN(max_iter=20, time_limit=2.0).set_params(**{argument: value})
    if argument == "memory" and isinstance(value, int) and value > 4096:
        return  # asks for what it says
    try:
        metric.fit(X, np.arange(20) % 2)
    except CLEAR as e:
        assert len(str(e)) > 10
    else:
        assert metric.transform(X).shape[0] == 20


@given(npst.arrays(np.float64, npst.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.floats(-1e3, 1e3)))
def test_transform_of_any_shape(X):
    rng = np.random.RandomState(0)
    metric = bdml.LDA().fit(rng.randn(20, 3), np.arange(20) % 2)
    if X.shape[1] == 3:
        assert np.isfinite(metric.transform(X)).all()
    else:
        with pytest.raises(ValueError, match="features"):
            metric.transform(X)
