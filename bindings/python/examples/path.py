"""Error along the distortion cap: too little distortion cannot tell the classes apart, too much fits the noise."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from sklearn.datasets import load_wine

import bdml

X, y = load_wine(return_X_y=True)
path = bdml.distortion_path(X, y, grid=[1, 2, 5, 10, 30, 100, 1000, 10000], splits=10)
print(path["shape"]["text"])
print(f"cross-validation picks K = {path['chosen']['distortion']:g}")
path.plot().figure.savefig(Path(__file__).with_suffix(".png"), dpi=120)
