"""Retrieval on embeddings: the nearest images of a query under the plain and under a learned distance."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors

import bdml

X, y = load_digits(return_X_y=True)
known = np.arange(len(X)) < 900  # to learn from; queries and gallery are images not seen before
metric = bdml.LMNN(pca=0.95).fit(X[known], y[known])
images, labels = X[~known], y[~known]

nearest, right = {}, {}
for name, points in (("pixels", images), ("learned", metric.transform(images))):
    nearest[name] = NearestNeighbors(n_neighbors=10).fit(points).kneighbors(return_distance=False)
    right[name] = labels[nearest[name]] == labels[:, None]
    print(f"{name:8s} of the same digit among the 10 nearest: {right[name].mean():.3f}")

query = int(np.argmax(right["learned"].mean(axis=1) - right["pixels"].mean(axis=1)))
figure, axes = plt.subplots(2, 8, figsize=(8, 2.4), constrained_layout=True)
for row, name in zip(axes, nearest):
    for ax, i in zip(row, [query, *nearest[name][query]]):
        ax.imshow(images[i].reshape(8, 8), cmap="gray_r")
        ax.set(xticks=[], yticks=[])
        title = f"query: {labels[i]}" if i == query else labels[i]
        ax.set_title(title, color="black" if i == query else "green" if labels[i] == labels[query] else "red", fontsize=9)
    row[0].set_ylabel(name)
figure.savefig(Path(__file__).with_suffix(".png"), dpi=120)
