"""Pairs, triplets and chunks from labels, as metric-learn's `Constraints` makes them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils import check_array, check_random_state

__all__ = ["Constraints", "wrap_pairs"]


class Constraints:
    """Draw constraints from labels.

    Parameters
    ----------
    partial_labels : array of whole numbers of shape (n_samples,)
        Labels; below 0 for points whose label is not known, which are in no constraint.

    Examples
    --------
    >>> from bdml import Constraints
    >>> a, b, c, d = Constraints([0, 0, 1, 1, -1]).positive_negative_pairs(2, random_state=0)
    >>> sorted(zip(a.tolist(), b.tolist()))
    [(0, 1), (2, 3)]
    """

    def __init__(self, partial_labels: Any):
        labels = np.asarray(partial_labels)
        if labels.ndim != 1 or labels.dtype.kind not in "iu":
            raise ValueError(f"labels are a list of whole numbers, below 0 where unknown; got {labels.dtype} of shape {labels.shape}")
        self.partial_labels = labels
        self._known = np.flatnonzero(labels >= 0)

    def positive_negative_pairs(
        self, n_constraints: int, same_length: bool = False, random_state: Any = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Draw pairs of points with the same label, and pairs with different ones, without repetition.

        Parameters
        ----------
        n_constraints : int
            Pairs of either kind; where there are not so many, all are given, with a warning.
        same_length : bool
            As many of either kind: the fewer.
        random_state : int, RandomState instance or None

        Returns
        -------
        a, b, c, d : arrays of numbers of points
            a[i] and b[i] have the same label, c[i] and d[i] different ones.
        """
        rng = check_random_state(random_state)
        same, different = (self._pairs(n_constraints, equal, rng) for equal in (True, False))
        if same_length:
            count = min(len(same), len(different))
            same, different = same[:count], different[:count]
        return same[:, 0], same[:, 1], different[:, 0], different[:, 1]

    def _pairs(self, count: int, equal: bool, rng: np.random.RandomState) -> np.ndarray:
        """A partner for points drawn at random, again until there are enough, or all pairs in a random order."""
        labels, n = self.partial_labels[self._known], len(self._known)
        sizes = np.unique(labels, return_counts=True)[1].astype(np.int64)
        inside = int(np.sum(sizes * (sizes - 1) // 2))
        there_are = inside if equal else n * (n - 1) // 2 - inside
        if there_are < count:
            warnings.warn(f"there are {there_are} {'positive' if equal else 'negative'} pairs, {count} were asked for", stacklevel=3)
        count = min(count, there_are)
        found = np.empty(0, dtype=np.int64)  # pairs i < j as n i + j, each once
        while len(found) < count:
            i, j = np.sort(rng.randint(n, size=(2, max(2 * count, 64))), axis=0)
            if len(found) > 0.5 * there_are and n <= 5000:  # drawing finds the last ones late
                i, j = np.triu_indices(n, 1)
                order = rng.permutation(len(i))
                i, j = i[order], j[order]
            fits = (i != j) & ((labels[i] == labels[j]) == equal)
            found = np.concatenate([found, n * i[fits] + j[fits]])
            found = found[np.sort(np.unique(found, return_index=True)[1])]
        return np.column_stack([self._known[found[:count] // n], self._known[found[:count] % n]])

    def generate_knntriplets(self, X: Any, k_genuine: int, k_impostor: int) -> np.ndarray:
        """Each point with each of its nearest points of the same label and each of its nearest ones of others.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        k_genuine, k_impostor : int
            How many of the same label, and of others; as many as there are where there are fewer, with a warning.

        Returns
        -------
        triplets : array of numbers of points of shape (n, 3)
        """
        X = check_array(X, dtype=np.float64)
        labels = self.partial_labels
        if len(X) != len(labels):
            raise ValueError(f"there are {len(labels)} labels, but {len(X)} points")
        out = [np.empty((0, 3), dtype=np.intp)]
        for label in np.unique(labels[self._known]):
            inside, others = np.flatnonzero(labels == label), self._known[labels[self._known] != label]
            genuine, impostors = min(k_genuine, len(inside) - 1), min(k_impostor, len(others))
            for got, wanted, of in ((genuine, k_genuine, "the same label"), (impostors, k_impostor, "other labels")):
                if got < wanted:
                    warnings.warn(f"points of label {label} have {got} of {of}, {wanted} were asked for", stacklevel=2)
            if genuine < 1 or impostors < 1:
                continue
            near = _nearest(X, inside, inside, genuine + 1)
            itself = near == inside[:, None]
            itself[~itself.any(axis=1), -1] = True  # copies of a point may stand before it
            near = near[~itself].reshape(len(inside), genuine)
            far = _nearest(X, others, inside, impostors)
            a = np.repeat(inside, genuine * impostors)
            b = np.repeat(near, impostors, axis=1).ravel()
            c = np.tile(far, (1, genuine)).ravel()
            out.append(np.column_stack([a, b, c]))
        return np.concatenate(out)

    def chunks(self, n_chunks: int = 100, chunk_size: int = 2, random_state: Any = None) -> np.ndarray:
        """Draw disjoint groups of points of one label.

        Parameters
        ----------
        n_chunks, chunk_size : int
        random_state : int, RandomState instance or None

        Returns
        -------
        chunks : array of shape (n_samples,)
            The number of the chunk of each point, -1 where it is in none.
        """
        rng = check_random_state(random_state)
        groups = []
        for label in np.unique(self.partial_labels[self._known]):
            inside = rng.permutation(np.flatnonzero(self.partial_labels == label))
            groups += [inside[k : k + chunk_size] for k in range(0, len(inside) - chunk_size + 1, chunk_size)]
        if len(groups) < n_chunks:
            raise ValueError(f"{n_chunks} chunks of {chunk_size} were asked for, but the labels make {len(groups)} at most")
        out = np.full(len(self.partial_labels), -1)
        for number, group in enumerate(rng.permutation(len(groups))[:n_chunks]):
            out[groups[group]] = number
        return out


def _nearest(X: np.ndarray, among: np.ndarray, of: np.ndarray, k: int) -> np.ndarray:
    """Numbers of the k points of `among` nearest to each of `of`, by the library."""
    from ._methods import Euclidean

    if len(among) == 1:
        return np.repeat(among[None], len(of), axis=0)
    metric = Euclidean(keep_points=True).fit(X[among], np.zeros(len(among), dtype=int))
    return among[metric.kneighbors(X[of], k, return_distance=False)]


def wrap_pairs(X: Any, constraints: Any) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of points and their answers, for `fit`, of what `positive_negative_pairs` gives."""
    a, b, c, d = (np.asarray(part) for part in constraints)
    rows = np.concatenate([np.column_stack([a, b]), np.column_stack([c, d])])
    return np.asarray(X)[rows], np.concatenate([np.ones(len(a), dtype=int), -np.ones(len(c), dtype=int)])
