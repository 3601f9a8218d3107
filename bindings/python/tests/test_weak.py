"""Learners from pairs, triplets and quadruplets, as metric-learn has them."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score

import bdml

PAIRS = pytest.mark.parametrize("kind", bdml.PAIRS, ids=lambda k: k.__name__)


@PAIRS
def test_pairs(kind, iris, pairs):
    X, _ = iris
    index, same = pairs
    by_number = kind(preprocessor=X, random_state=1).fit(index, same)
    by_value = kind(random_state=1).fit(X[index], same)
    by_function = kind(preprocessor=lambda i: X[i], random_state=1).fit(index.tolist(), same.tolist())
    assert np.array_equal(by_number.components_, by_value.components_)
    assert np.array_equal(by_number.components_, by_function.components_)
    assert by_number.threshold_ == by_value.threshold_
    score = by_number.decision_function(index)
    assert np.array_equal(score, by_value.decision_function(X[index]))
    assert by_number.score(index, same) == pytest.approx(roc_auc_score(same, score))
    said = by_number.predict(index)
    assert set(said) <= {-1, 1} and np.mean(said == same) > 0.6
    assert np.array_equal(said == 1, -score <= by_number.threshold_)
    told = by_number.description_["verification"]["accuracy"]  # by the library, without points paired with themselves
    assert np.mean(said == same) == pytest.approx(told / 100, abs=1.5 / len(same))
    assert np.array_equal(by_number.transform(X), by_number.transform(np.arange(len(X))))
    assert by_number.pair_distance(index).shape == (len(index),)
    again = pickle.loads(pickle.dumps(by_value))
    assert np.array_equal(again.predict(X[index]), said)
    assert not hasattr(clone(by_value), "threshold_")


@PAIRS
def test_wrong_tuples(kind, iris, pairs):
    X, _ = iris
    index, same = pairs
    with pytest.raises(ValueError, match="shape"):
        kind().fit(X, same)
    with pytest.raises(ValueError, match="shape"):
        kind().fit(X[index][:, :1], same)
    with pytest.raises(ValueError, match="1 .the same. or -1"):
        kind().fit(X[index], np.where(same == 1, 1, 0))
    with pytest.raises(ValueError, match="labels of shape"):
        kind().fit(X[index], same[:-1])
    with pytest.raises(ValueError, match="NaN"):
        bad = X[index].copy()
        bad[3, 0, 1] = np.nan
        kind().fit(bad, same)
    with pytest.raises(AttributeError):
        kind().threshold_
    metric = kind(preprocessor=X).fit(index, same)
    with pytest.raises(ValueError, match="features"):
        metric.decision_function(np.zeros((3, 2, 7)))
    with pytest.raises(ValueError, match="numbers of points"):
        metric.decision_function(np.zeros((3, 3), dtype=int))


def test_thresholds(iris, pairs):
    X, _ = iris
    index, same = pairs
    metric = bdml.ITML(preprocessor=X).fit(index, same)
    score = metric.decision_function(index)

    def best(value):
        """By trying every threshold."""
        return max(value(np.where(score >= t, 1, -1)) for t in np.append(score, score.max() + 1))

    def accuracy(said):
        return np.mean(said == same)

    def rates(said):
        return np.mean(said[same == 1] == 1), np.mean(said[same == -1] == -1)

    def f(said, beta=2.0):
        hit = np.sum((said == 1) & (same == 1))
        return (1 + beta**2) * hit / ((1 + beta**2) * hit + beta**2 * np.sum((said == -1) & (same == 1)) + np.sum((said == 1) & (same == -1)))

    assert accuracy(metric.predict(index)) == pytest.approx(best(accuracy))
    metric.calibrate_threshold(index, same)
    assert accuracy(metric.predict(index)) == pytest.approx(best(accuracy))
    metric.calibrate_threshold(index, same, strategy="f_beta", beta=2.0)
    assert f(metric.predict(index)) == pytest.approx(best(f))
    for strategy, kept in (("max_tpr", 1), ("max_tnr", 0)):
        metric.calibrate_threshold(index, same, strategy=strategy, min_rate=0.9)
        got = rates(metric.predict(index))
        assert got[kept] >= 0.9
        assert got[1 - kept] == pytest.approx(best(lambda s: rates(s)[1 - kept] if rates(s)[kept] >= 0.9 else -1))
    metric.set_threshold(0.0)
    assert np.mean(metric.predict(index) == 1) < 0.2
    assert metric.set_threshold(np.inf).predict(index).min() == 1
    with pytest.raises(ValueError, match="number"):
        metric.set_threshold("far")
    with pytest.raises(ValueError, match="strategy"):
        metric.calibrate_threshold(index, same, strategy="luck")
    with pytest.raises(ValueError, match="min_rate"):
        metric.calibrate_threshold(index, same, strategy="max_tpr")
    with pytest.raises(ValueError, match="from 0 to 1"):
        metric.calibrate_threshold(index, same, strategy="max_tnr", min_rate=1.5)
    with pytest.raises(ValueError, match="pairs that are the same and pairs that are not"):
        metric.calibrate_threshold(index[same == 1], same[same == 1])
    fitted = bdml.ITML(preprocessor=X).fit(index, same, calibration_params={"strategy": "max_tnr", "min_rate": 0.9})
    assert rates(fitted.predict(index))[0] >= 0.9


def test_cross_validation_of_pairs(iris, pairs):
    X, _ = iris
    index, same = pairs
    assert cross_val_score(bdml.MMC(preprocessor=X), index, same, cv=3).mean() > 0.7


@pytest.mark.parametrize("kind", bdml.TRIPLETS, ids=lambda k: k.__name__)
def test_triplets(kind, iris, triplets):
    X, _ = iris
    metric = kind(preprocessor=X).fit(triplets)
    same = kind().fit(X[triplets])
    assert np.array_equal(metric.components_, same.components_)
    d = metric.decision_function(triplets)
    a, b, c = (metric.transform(X[triplets[:, k]]) for k in range(3))
    np.testing.assert_allclose(d, np.linalg.norm(a - c, axis=1) - np.linalg.norm(a - b, axis=1), atol=1e-9)
    assert np.array_equal(metric.predict(triplets), np.where(d > 0, 1, -1))
    assert metric.score(triplets) == np.mean(d > 0) > 0.85
    assert metric.score(triplets[:, [0, 2, 1]]) < 0.2
    with pytest.raises(ValueError, match="triplets"):
        kind().fit(X[triplets][:, :2])


@pytest.mark.parametrize("kind", bdml.QUADRUPLETS, ids=lambda k: k.__name__)
def test_quadruplets(kind, iris, triplets):
    X, y = iris
    rng = np.random.RandomState(0)
    quadruplets = np.column_stack([triplets[:, :2], rng.permutation(triplets[:, [0, 2]])])
    metric = kind(preprocessor=X, gap=1e-9).fit(quadruplets)
    same = kind(gap=1e-9).fit(X[quadruplets])
    assert np.array_equal(metric.components_, same.components_)
    d = metric.decision_function(quadruplets)
    points = [metric.transform(X[quadruplets[:, k]]) for k in range(4)]
    far, near = (np.linalg.norm(points[k] - points[k + 1], axis=1) for k in (2, 0))
    np.testing.assert_allclose(d, far - near, atol=1e-9)
    assert np.array_equal(metric.predict(quadruplets), np.where(d > 0, 1, -1))
    assert metric.score(quadruplets) == np.mean(d > 0) > 0.85
    # twice the same is a weight of 2, and a weight is relative to the others
    weight = np.ones(len(quadruplets))
    weight[:7] = 2
    weighted = kind(preprocessor=X, gap=1e-9).fit(quadruplets, weights=3 * weight)
    twice = kind(preprocessor=X, gap=1e-9).fit(np.concatenate([quadruplets, quadruplets[:7]]))
    np.testing.assert_allclose(weighted.get_mahalanobis_matrix(), twice.get_mahalanobis_matrix(), rtol=1e-3, atol=1e-4)
    with pytest.raises(ValueError, match="weight"):
        kind(preprocessor=X).fit(quadruplets, weights=-weight)
    with pytest.raises(ValueError, match="weights of shape"):
        kind(preprocessor=X).fit(quadruplets, weights=weight[1:])
    with pytest.raises(ValueError, match="quadruplets"):
        kind().fit(X[quadruplets][:, :3])
    with pytest.raises(ValueError, match="quadruplet 1 is impossible"):
        kind(preprocessor=X).fit(np.array([[0, 1, 0, 60], [0, 60, 60, 0]]))
    with pytest.raises(ValueError, match="quadruplet 0 is impossible"):
        kind(preprocessor=X).fit(np.array([[0, 1, 60, 60]]))


def test_arguments_of_metric_learn_are_taken():
    bdml.LMNN(n_neighbors=3, init="auto", min_iter=50, max_iter=1000, learn_rate=1e-7, regularization=0.5, convergence_tol=0.001)
    bdml.NCA(init="auto", n_components=2, max_iter=100, tol=None)
    bdml.ITML(gamma=1.0, max_iter=1000, tol=1e-3, prior="identity", verbose=False, preprocessor=None, random_state=None)
    bdml.ITML_Supervised(gamma=1.0, max_iter=1000, tol=1e-3, n_constraints=None, prior="identity")
    bdml.MMC(max_iter=100, max_proj=10000, tol=1e-3, init="identity", diagonal_c=1.0)
    bdml.MMC_Supervised(max_iter=100, max_proj=10000, tol=1e-6, n_constraints=None, init="identity")
    bdml.LSML(tol=1e-3, max_iter=1000, prior="identity", verbose=False, preprocessor=None, random_state=None)
    bdml.LSML_Supervised(tol=1e-3, max_iter=1000, prior="identity", n_constraints=None, random_state=None)
    bdml.SDML(balance_param=0.5, sparsity_param=0.01, prior="identity", verbose=False, preprocessor=None, random_state=None)
    bdml.SDML_Supervised(balance_param=0.5, sparsity_param=0.01, prior="identity", n_constraints=None, random_state=None)
    bdml.MLKR(n_components=2, init="auto", tol=None, max_iter=1000, verbose=False, preprocessor=None, random_state=None)
    bdml.SCML(beta=1e-5, basis="triplet_diffs", n_basis=None, gamma=5e-3, max_iter=10000, output_iter=500, batch_size=10)
    bdml.SCML_Supervised(k_genuine=3, k_impostor=10, beta=1e-5, basis="lda", n_basis=None, max_iter=10000, random_state=0)
    bdml.RCA(preprocessor=None)
    bdml.RCA_Supervised(n_chunks=100, chunk_size=2, random_state=None)


def test_flags_of_metric_learn(wine):
    X, y = wine
    diagonal = bdml.MMC_Supervised(diagonal=True, scale="zscore").fit(X, y)
    assert diagonal.description_["method"] == "mmc-diagonal"


def test_points_paired_with_themselves(iris):
    X, y = iris
    index = np.array([[0, 0], [0, 1], [50, 51], [0, 60], [3, 120], [55, 130]])
    same = np.array([1, 1, 1, -1, -1, -1])
    metric = bdml.ITML(preprocessor=X).fit(index, same)
    assert np.array_equal(metric.components_, bdml.ITML(preprocessor=X).fit(index[1:], same[1:]).components_)
    same[0] = -1
    with pytest.raises(ValueError, match="pair 0 is said to be different"):
        bdml.ITML(preprocessor=X).fit(index, same)
    with pytest.raises(ValueError, match="triplet 1 is impossible"):
        bdml.BoostMetric_Triplets(preprocessor=X).fit(np.array([[0, 1, 60], [5, 6, 5]]))
    with pytest.raises(ValueError, match="triplet 0 is impossible"):
        bdml.BoostMetric_Triplets(preprocessor=X).fit(np.array([[0, 1, 1]]))


def test_names_of_metric_learn_mean_the_settings(wine):
    X, y = wine
    ours = bdml.LMNN(targets=2, lmnn_push=0.7, gap=0.01, scale="zscore").fit(X, y)
    theirs = bdml.LMNN(n_neighbors=2, regularization=0.7, convergence_tol=0.01, scale="zscore").fit(X, y)
    assert np.array_equal(ours.components_, theirs.components_)
    ours = bdml.ITML_Supervised(itml_gamma=2.0, random_pairs=300, scale="zscore").fit(X, y)
    theirs = bdml.ITML_Supervised(gamma=2.0, n_constraints=300, scale="zscore").fit(X, y)
    assert np.array_equal(ours.components_, theirs.components_)
