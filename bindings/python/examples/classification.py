"""k-NN classification of wines: the plain distance, four learned ones, and a proof of the last."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

import bdml
from bdml.plots import plot_before_after

X, y = load_wine(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
for metric in (bdml.Euclidean(), bdml.NCA(scale="zscore"), bdml.LMNN(scale="zscore"), bdml.LDA(), bdml.BDML()):
    metric.fit(X_train, y_train)
    print(f"{type(metric).__name__:10s} accuracy {metric.score(X_test, y_test):.3f}")
c = metric.certificate_
print(f"{c.status}: the optimum lies in [{c.lower:.6g}, {c.upper:.6g}], distortion {c.kappa:.3g} of at most {c.distortion:g}")
print(c.verify(X_train, y_train))
axes = plot_before_after(metric, X_test, y_test)
axes[0].figure.savefig(Path(__file__).with_suffix(".png"), dpi=120)
