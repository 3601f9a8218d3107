"""scikit-learn's manners: its own checks for every labelled estimator, and the tools that people combine."""

import os
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import bdml


# Enough for the checks, which fit a hundred times; BDML_FULL=1 takes every default.
QUICK = {
    "BDML": {"reference": "zscore", "softness": 1.5, "passes": 1},
    "LMNN": {"gap": 0.1},
    "NCA": {"nca_steps": 5},
}


def quick(kind):
    return kind() if "BDML_FULL" in os.environ else kind(**QUICK.get(kind.__name__, {}))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", bdml.LABELLED, ids=lambda k: k.__name__)
def test_check_estimator(kind):
    check_estimator(quick(kind))


@pytest.mark.parametrize("kind", bdml.LABELLED, ids=lambda k: k.__name__)
def test_pickle_and_clone(kind, iris):
    X, y = iris
    metric = quick(kind).fit(X, y)
    again = pickle.loads(pickle.dumps(metric))
    assert np.array_equal(again.transform(X), metric.transform(X))
    assert np.array_equal(again.predict(X), metric.predict(X))
    assert np.array_equal(again.components_, metric.components_)
    assert not hasattr(clone(metric), "classes_")
    assert repr(clone(metric)) == repr(metric)


@pytest.mark.parametrize("labels", [["a", "b", "c"], [True, False, False], [7, -3, 10**12], [0.5, 1.5, 2.5]])
def test_labels_come_back_as_they_went_in(labels, iris):
    X, y = iris
    named = np.array(labels)[y]
    if named.dtype.kind == "f":  # scikit-learn calls such labels a regression
        with pytest.raises(ValueError, match="continuous"):
            bdml.LDA().fit(X, named)
        return
    metric = bdml.LDA().fit(X, named)
    assert metric.predict(X).dtype == named.dtype
    assert np.mean(metric.predict(X) == named) > 0.9
    assert np.array_equal(metric.classes_, np.unique(named))


def test_object_labels(iris):
    X, y = iris
    named = np.array(["setosa", "versicolor", "virginica"], dtype=object)[y]
    assert set(bdml.LDA().fit(X, named).predict(X)) == set(named)


def test_pipeline_and_search(wine):
    X, y = wine
    pipeline = make_pipeline(StandardScaler(), bdml.LMNN(), KNeighborsClassifier(3))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.9
    search = GridSearchCV(bdml.NCA(scale="zscore"), {"n_components": [2, 4], "nca_steps": [5]}, cv=2, n_jobs=2)
    search.fit(X, y)
    assert search.best_score_ > 0.85


def test_pandas_in_and_out(iris):
    X, y = iris
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    metric = bdml.LDA(n_components=2).fit(frame, pd.Series(y))
    assert list(metric.feature_names_in_) == ["a", "b", "c", "d"]
    assert list(metric.get_feature_names_out()) == ["lda0", "lda1"]
    out = metric.set_output(transform="pandas").transform(frame)
    assert list(out.columns) == ["lda0", "lda1"] and list(out.index) == list(frame.index)
    with pytest.warns(UserWarning, match="feature names"):
        metric.transform(X)


def test_order_and_layout_of_arrays(iris):
    X, y = iris
    metric = bdml.LDA().fit(X, y)
    wide = np.zeros((len(X), 9))
    wide[:, 2:6] = X
    frozen = X.copy()
    frozen.flags.writeable = False
    for same in (np.asfortranarray(X), wide[:, 2:6], X[::-1][::-1], frozen, X.tolist(), np.repeat(X, 2, axis=0)[::2]):
        again = bdml.LDA().fit(same, y)
        assert np.array_equal(again.components_, metric.components_)
        assert np.array_equal(again.transform(same), metric.transform(X))
    one = metric.transform(X[:1])
    assert np.array_equal(one, metric.transform(X)[:1])


def test_float32(iris):
    X, y = iris
    single = X.astype(np.float32)
    metric = bdml.LDA().fit(single, y)
    double = bdml.LDA().fit(single.astype(np.float64), y)
    assert np.array_equal(metric.components_, double.components_)
    z = metric.transform(single)
    assert z.dtype == np.float32
    np.testing.assert_allclose(z, double.transform(X), rtol=1e-5, atol=1e-5)
    assert np.array_equal(metric.predict(single), double.predict(single))


def test_missing_values(iris):
    X, y = iris[0].copy(), iris[1]
    X[3, 1] = X[70, 2] = np.nan
    with pytest.raises(ValueError, match=r'(?s)NaN.*LDA: missing="mean" fills in'):
        bdml.LDA().fit(X, y)
    filled = bdml.LDA(missing="mean").fit(X, y)
    by_hand = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    # a direction of LDA is one up to its sign, which the last digit of a mean may turn
    expected = bdml.LDA().fit(by_hand, y).transform(by_hand)
    np.testing.assert_allclose(abs(filled.transform(X)), abs(expected), rtol=1e-9)
    assert filled.score(X, y) > 0.9
    dropped = bdml.LDA(missing="drop").fit(X, y)
    whole = ~np.isnan(X).any(axis=1)
    assert np.array_equal(dropped.components_, bdml.LDA().fit(X[whole], y[whole]).components_)
    with pytest.raises(ValueError):
        bdml.LDA(missing="mean").fit(np.where(np.isnan(X), np.inf, X), y)


def test_names_reach_the_library(iris):
    X, y = iris
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    metric = bdml.LDA().fit(frame, np.array(["x", "y", "z"])[y])
    assert metric.description_["classes"] == ["x", "y", "z"]
    assert metric.description_["feature_names"] == ["a", "b", "c", "d"]
    same_in_writing = np.array([1, "1", 2], dtype=object)[y]  # not to be told apart by name: numbers will do
    with pytest.raises((ValueError, TypeError)):
        bdml.LDA().fit(X, same_in_writing)


def test_sparse_is_refused_with_a_sentence(iris):
    from scipy.sparse import csr_matrix

    X, y = iris
    with pytest.raises(TypeError, match="sparse"):
        bdml.LDA().fit(csr_matrix(X), y)


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        ({"gap": 2.0}, "gap"),
        ({"gap": float("nan")}, "gap"),
        ({"scale": "zscroe"}, "zscore"),
        ({"max_iter": "many"}, "max-iter"),
        ({"random_state": -1}, "seed"),
        ({"lmnn_push": 1.5}, "lmnn-push"),
        ({"lmnn_push": 0.3, "regularization": 0.4}, "two names"),
    ],
)
def test_values_out_of_range_fail_in_fit_with_the_librarys_sentence(arguments, sentence, iris):
    metric = bdml.LMNN(**arguments)
    with pytest.raises(ValueError, match=sentence):
        metric.fit(*iris)
    assert not hasattr(metric, "n_features_in_")


def test_unknown_arguments_are_refused():
    with pytest.raises(TypeError):
        bdml.LMNN(no_such_setting=1)


def test_arguments_are_those_of_the_table():
    table = bdml.settings()
    for kind in bdml.LABELLED + bdml.REGRESSION + bdml.PAIRS + bdml.TRIPLETS + bdml.QUADRUPLETS:
        assert set(kind().get_params()) >= {"scale", "pca", "neighbors", "random_state", "verbose", "preprocessor"}
        for argument, (name, default) in kind._settings.items():
            assert name in table and not hasattr(kind, argument)
            assert f"{argument} : " in kind.__doc__
            assert kind().get_params()[argument] == default


def test_covariance_alone_needs_no_labels(iris):
    X, _ = iris
    metric = bdml.Whitening().fit(X)
    assert metric.transform(X).shape == X.shape
    with pytest.raises(ValueError, match="no labelled points"):
        metric.predict(X)


def test_votes_and_neighbors_are_those_of_the_transformed_points(wine):
    X, y = wine
    metric = bdml.LMNN(scale="zscore", neighbors=5).fit(X[::2], y[::2])
    Z, known = metric.transform(X[1::2]), metric.transform(X[::2])
    plain = KNeighborsClassifier(5).fit(known, y[::2])
    distance, index = metric.kneighbors(X[1::2])
    want_distance, want_index = plain.kneighbors(Z)
    np.testing.assert_allclose(distance, want_distance, rtol=1e-9)
    assert np.array_equal(index, want_index)
    np.testing.assert_allclose(metric.predict_proba(X[1::2]), plain.predict_proba(Z), atol=1e-12)
    assert np.array_equal(metric.kneighbors(X[1::2], 1, return_distance=False), want_index[:, :1])
    with pytest.raises(ValueError):
        metric.kneighbors(X[1::2], 0)
    with pytest.raises(ValueError, match="whole number"):
        metric.kneighbors(X[1::2], 1.5)


@pytest.mark.parametrize("kind", bdml.REGRESSION, ids=lambda k: k.__name__)
def test_numbers(kind):
    check_estimator(kind(max_iter=10))
    rng = np.random.RandomState(0)
    X = rng.randn(150, 4) * [1, 5, 5, 5]
    y = np.sin(2 * X[:, 0])
    metric = kind(max_iter=200).fit(X[:100], y[:100])
    plain = KNeighborsRegressor(3).fit(X[:100], y[:100]).score(X[100:], y[100:])
    learned = make_pipeline(metric, KNeighborsRegressor(3)).fit(X[:100], y[:100]).score(X[100:], y[100:])
    assert learned > 0.8 > plain
    again = pickle.loads(pickle.dumps(metric))
    assert np.array_equal(again.transform(X), metric.transform(X))
    assert kind(n_components=2, max_iter=5).fit_transform(X, y).shape == (150, 2)
    with pytest.raises(ValueError, match="same for all"):
        kind().fit(X, np.ones(150))
