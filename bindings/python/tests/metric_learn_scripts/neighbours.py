"""A metric in front of nearest neighbours, in a pipeline, and searched over."""
from metric_learn import LMNN, NCA

from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

X, y = load_iris(return_X_y=True)
knn = make_pipeline(NCA(), KNeighborsClassifier())
print(cross_val_score(knn, X, y).mean())
assert cross_val_score(knn, X, y).mean() > 0.9
search = GridSearchCV(make_pipeline(LMNN(max_iter=50), KNeighborsClassifier()), {"lmnn__n_neighbors": [1, 3]}, cv=2)
assert search.fit(X, y).best_score_ > 0.9
