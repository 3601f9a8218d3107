"""The learned metric in its different forms agrees with itself, and with the command."""

import pickle
import subprocess

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier

import bdml
from bdml._border import Call


@pytest.mark.parametrize("prepare", [{}, {"scale": "zscore"}, {"scale": "minmax", "pca": 3}], ids=str)
def test_forms_of_one_metric(prepare, wine):
    X, y = wine
    metric = bdml.LDA(**prepare).fit(X, y)
    L, M = metric.components_, metric.get_mahalanobis_matrix()
    assert L.shape == (2, X.shape[1])
    np.testing.assert_allclose(M, L.T @ L, atol=1e-12 * abs(M).max())
    if not prepare:
        np.testing.assert_allclose(metric.eigenvalues_, np.linalg.eigvalsh(M), atol=1e-10 * abs(M).max())
    Z = metric.transform(X)
    np.testing.assert_allclose(Z - Z[0], (X - X[0]) @ L.T, atol=1e-9)
    pairs = np.stack([X[:20], X[20:40]], axis=1)
    d = metric.pair_distance(pairs)
    np.testing.assert_allclose(d, np.linalg.norm(Z[:20] - Z[20:40], axis=1), rtol=1e-9)
    assert np.array_equal(metric.pair_score(pairs), -d)
    with pytest.warns(FutureWarning):
        assert np.array_equal(metric.score_pairs(pairs), d)
    f = metric.get_metric()
    assert f(X[0], X[20]) == pytest.approx(d[0], rel=1e-12)
    assert f(X[0], X[20], squared=True) == pytest.approx(d[0] ** 2, rel=1e-12)
    with pytest.raises(ValueError, match="13 values"):
        f(X[0, :3], X[1, :3])


def test_a_scaling_that_is_not_linear_has_no_matrix(wine):
    metric = bdml.LDA(scale="unit").fit(*wine)
    assert metric.transform(wine[0]).shape == (178, 2)
    with pytest.raises(ValueError, match="not linear"):
        metric.components_


def test_predict_is_nearest_neighbours_under_the_metric(wine):
    X, y = wine
    metric = bdml.LMNN(scale="zscore", neighbors=5).fit(X, y)
    Z = metric.transform(X)
    assert np.mean(metric.predict(X) == KNeighborsClassifier(5).fit(Z, y).predict(Z)) > 0.98


def test_as_a_metric_of_scikit_learn(iris):
    X, y = iris
    metric = bdml.LDA().fit(X, y)
    knn = KNeighborsClassifier(3, metric=metric.get_metric(), algorithm="brute").fit(X, y)
    assert knn.score(X[:20], y[:20]) > 0.9


CASES = {
    "lmnn": bdml.LMNN(), "nca": bdml.NCA(), "itml": bdml.ITML_Supervised(), "lda": bdml.LDA(), "kissme": bdml.KISSME(),
    "mmc": bdml.MMC_Supervised(), "ldml": bdml.LDML(), "boost": bdml.BoostMetric(),
    "bdml": bdml.BDML(distortion=20, reference="zscore"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", CASES)
def test_same_bits_as_the_command_and_c(method, command, program, wine, tmp_path):
    X, y = wine
    data, labels, model, out = (tmp_path / name for name in ("wine.npy", "y.npy", "wine.bdml", "l.npy"))
    np.save(data, X)
    np.save(labels, y)

    def run(*arguments):
        subprocess.run([command, *map(str, arguments)], check=True, capture_output=True)

    metric = CASES[method]
    options = [word for name, value in metric._texts().items() for word in (f"--{name}", value)]
    run("train", data, "--labels-file", labels, "-o", model, "--method", method, "--scale", "zscore", "--seed", 5, *options)
    run("export", model, "-o", out, "--what", "L")
    metric.set_params(scale="zscore", random_state=5).fit(X, y)
    with Call() as call:
        assert np.array_equal(call.map_of(metric._model), np.load(out))
    settings = ["labels-file", labels, "method", method, "scale", "zscore", "seed", 5]
    settings += [word for name, value in metric._texts().items() for word in (name, value)]
    subprocess.run([program, data, tmp_path / "l.raw", *map(str, settings)], check=True)
    assert np.array_equal(np.fromfile(tmp_path / "l.raw"), np.load(out).ravel())
    run("predict", model, data, "--labels-file", labels, "-o", tmp_path / "p.csv")
    said = np.loadtxt(tmp_path / "p.csv", dtype=str, skiprows=1, delimiter=",", ndmin=2)
    assert np.array_equal(said[:, -1].astype(int), metric.predict(X))


def test_a_start_from_what_was_learned(wine, tmp_path):
    X, y = wine
    metric = bdml.BDML(scale="zscore").fit(X[::2], y[::2])
    chosen = metric.description_["selection"]
    (tmp_path / "first.bdml").write_bytes(metric._model.to_bytes())
    again = bdml.BDML(scale="zscore").fit(X, y, warm=metric)
    assert again.description_["selection"]["by"] == "warm"
    assert again.description_["selection"]["reference"] == chosen["reference"]
    by_name = bdml.BDML(warm=str(tmp_path / "first.bdml")).fit(X, y)
    by_model = bdml.BDML(warm=metric).fit(X, y)
    for other in (by_name, by_model):
        assert np.array_equal(other.components_, again.components_)
    assert again.certificate_.verify(X, y)
    before = metric.components_
    metric.fit(X, y, warm=metric)  # from itself
    assert np.array_equal(metric.components_, again.components_) and not np.array_equal(metric.components_, before)
    with pytest.raises(ValueError, match="of method lda"):
        bdml.BDML().fit(X, y, warm=bdml.LDA().fit(X, y))
    with pytest.raises(ValueError, match="13 features, the data have 5"):
        bdml.BDML().fit(X[:, :5], y, warm=metric)
    with pytest.raises(ValueError, match="fitted estimator or the name"):
        bdml.BDML().fit(X, y, warm=3)


def test_a_reference_of_ones_own(wine):
    X, y = wine
    R = np.diag(1 / X.std(axis=0))
    given = bdml.BDML(reference=R, distortion=10.0, softness=5.0).fit(X, y)
    named = bdml.BDML(reference="zscore", distortion=10.0, softness=5.0).fit(X, y)
    np.testing.assert_allclose(given.get_mahalanobis_matrix(), named.get_mahalanobis_matrix(), rtol=1e-3, atol=1e-6)
    with pytest.raises(ValueError, match="3 dimensions, the prepared points have 13"):
        bdml.BDML(reference=np.eye(3), distortion=10.0, softness=5.0).fit(X, y)
    with pytest.raises(ValueError, match="NaN|finite"):
        bdml.BDML(reference=R * np.nan, distortion=10.0, softness=5.0).fit(X, y)


def test_certificate(wine):
    X, y = wine
    names = np.array(["a", "b", "c"])[y]
    metric = bdml.BDML(distortion=20, reference="zscore").fit(X, names)
    c = metric.certificate_
    assert c.status == "optimal" and c.lower <= c.upper and c.gap < 1e-3 and c.kappa <= 20 * (1 + 1e-6)
    verdict = c.verify(X, names)
    assert verdict and "confirmed at level problem" in str(verdict)
    assert {"field": "evidence.far", "level": "problem"} in verdict.checked
    assert "times.fit" in [o["field"] for o in verdict.not_checked] and "kappa(M) <= 20" in verdict.statement
    assert c.verify(X, names, level="numbers").level == "numbers"
    assert c.verify(X, names, level="repeat").level == "repeat"
    other = X.copy()
    other[0, 0] += 1
    assert not c.verify(other, names)
    with pytest.raises(ValueError, match=r"not the training data \(178 rows wanted, 45 given\)"):
        c.verify(X[:45], names[:45])
    with pytest.raises(AttributeError, match="proves nothing"):
        bdml.LDA().fit(X, y).certificate_


def test_certificate_of_a_frame(wine):
    X, y = wine
    frame = pd.DataFrame(X, columns=[f"feature {j}" for j in range(X.shape[1])])
    settings = dict(distortion=20, reference="zscore", softness=5.0)
    named, plain = (bdml.BDML(**settings).fit(data, y).certificate_ for data in (frame, X))
    verdict = named.verify(frame, y)
    assert verdict and "feature_names" in [o["field"] for o in verdict.checked]
    verdict = named.verify(X, y)  # names that the data do not have are not checked
    assert verdict and "feature_names" in [o["field"] for o in verdict.not_checked]
    assert plain.verify(frame, y) and plain.verify(X, y)
    assert not named.verify(frame.rename(columns={"feature 0": "another"}), y)


def test_infeasible(wine):
    X, y = wine
    metric = bdml.BDML(hard=True, distortion=1.0001, scale="zscore")
    with pytest.raises(bdml.InfeasibleError, match="contradict") as e:
        metric.fit(X, y)
    assert e.value.rows and all(0 <= r < len(X) for rows in e.value.rows for r in rows)
    assert e.value.verify(X, y)
    assert not hasattr(metric, "n_features_in_")
    again = pickle.loads(pickle.dumps(e.value))
    assert again.rows == e.value.rows and again.verify(X, y)


def test_a_solve_cut_short_warns(wine):
    from sklearn.exceptions import ConvergenceWarning

    with pytest.warns(ConvergenceWarning, match="stopped before"):
        bdml.LMNN(max_iter=2, gap=1e-9).fit(*wine)


def test_studies(iris):
    X, y = iris
    path = bdml.distortion_path(X, y, grid=[1, 10, 100], splits=2)
    assert len(path["path"]) == 3
    result = bdml.evaluate(X, y, ["euclidean", "lda"], splits=2)
    assert [row["method"] for row in result["methods"]] == ["euclidean", "lda"] and "lda" in str(result)
    again = bdml.evaluate(X, y, [bdml.Euclidean, bdml.LDA], splits=2, random_state=0)
    assert [row["errors"] for row in again["methods"]] == [row["errors"] for row in result["methods"]]
    with pytest.raises(ValueError, match="no setting|unknown|setting"):
        bdml.evaluate(X, y, ["lda"], no_such_thing=1)


def test_plots(wine, iris, pairs):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from bdml import plots

    X, y = wine
    metric = bdml.LDA().fit(X, y)
    assert len(plots.plot_before_after(metric, X, y)) == 2
    assert plots.plot_spectrum(metric).lines
    index, same = pairs
    assert plots.plot_roc(bdml.ITML(preprocessor=iris[0]).fit(index, same), index, same).get_legend()
    assert bdml.distortion_path(*iris, grid=[1, 10], splits=2).plot().get_xscale() == "log"


def test_task_retrieve_chooses_by_classes_left_out():
    rng = np.random.default_rng(3)
    means = rng.normal(size=(8, 5)) * 2
    y = np.repeat(np.arange(8), 12)
    X = means[y] + rng.normal(size=(96, 5)) * [12, 1, 1, 1, 1]
    metric = bdml.BDML(task="retrieve").fit(X, y)
    choice = metric.description_["selection"]
    assert choice["task"] == "retrieve"
    assert not choice["best_versus_untouched"]["kept"]
    assert metric.get_mahalanobis_matrix()[0, 0] < 0.1 * metric.get_mahalanobis_matrix()[1, 1]
    with pytest.raises(ValueError, match="at least 4 classes"):
        bdml.BDML(task="retrieve").fit(X[y < 3], y[y < 3])
