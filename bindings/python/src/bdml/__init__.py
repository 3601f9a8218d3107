"""Mahalanobis metrics with a hard cap on distortion, and proofs of them, for users of scikit-learn.

`BDML` and its like learn from labels, `BDML_Pairs` and its like from pairs, `BDML_Triplets` from triplets, `LSML` from
quadruplets, `MLKR` from points with a number each; there is a class for each method of the C library, made from its own tables (`LABELLED`, `REGRESSION`, `PAIRS`,
`TRIPLETS` and `QUADRUPLETS` list them).
"""

from ._border import Stopped, settings, version
from ._methods import *  # noqa: F401,F403
from ._methods import LABELLED, PAIRS, QUADRUPLETS, REGRESSION, TRIPLETS, __all__ as _classes
from ._report import Report, report
from ._results import Certificate, InfeasibleError, Verdict
from ._studies import DistortionPath, distortion_path, evaluate
from .constraints import Constraints

__version__ = version()
__all__ = _classes + [
    "Certificate",
    "Constraints",
    "DistortionPath",
    "InfeasibleError",
    "LABELLED",
    "PAIRS",
    "QUADRUPLETS",
    "REGRESSION",
    "Report",
    "Stopped",
    "TRIPLETS",
    "Verdict",
    "distortion_path",
    "evaluate",
    "report",
    "settings",
]
