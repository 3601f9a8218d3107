"""Write the parts of the package that follow from the C library.

    _cdef.py      the declarations of include/bdml/bdml.h, in the form that cffi loads without a compiler
    _methods.py   a class for each method of the library's table, with the settings of that method as
                  constructor arguments: names, defaults, ranges and help are those of the table of settings

Both are made while the package is built, from the header and the library that the wheel carries: they
cannot drift from it, and a new method or setting needs no Python.
"""

from __future__ import annotations

import importlib.util
import re
import textwrap
from pathlib import Path

import cffi

# ---- the header ----------------------------------------------------------------------------------


def version(root: Path) -> str:
    """The version of the project, from where it is written."""
    header = (root / "include" / "bdml" / "bdml.h").read_text()
    return ".".join(re.findall(r"#define BDML_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))


def declarations(header: str) -> str:
    """What cffi can read: the header without comments, preprocessor and export marks."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    text = re.sub(r"^#ifdef __cplusplus.*?#endif$", "", text, flags=re.S | re.M)
    text = re.sub(r"\\\n", "", text)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    return re.sub(r"\bBDML_API\b", "", text)


def write_cdef(header: Path, package: Path) -> None:
    ffi = cffi.FFI()
    ffi.set_source("_cdef", None)
    ffi.cdef(declarations(header.read_text()))
    ffi.emit_python_code(str(package / "_cdef.py"))


def load(package: Path):
    """The library through what was just written: (ffi, lib)."""
    spec = importlib.util.spec_from_file_location("_cdef", package / "_cdef.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ffi, module.ffi.dlopen(str(package / "libbdml.so"))


# ---- names -----------------------------------------------------------------------------------------

# Methods that are known by another name than the rule of class_name gives.
KNOWN = {
    "bdml": "BDML",
    "whiten": "Whitening",
    "boost": "BoostMetric",
    "kissme": "KISSME",
    "dml-eig": "DMLEig",
    "sub-ml": "SubML",
    "sub-sml": "SubSML",
    "sub-itml": "SubITML",
    "mmc-diagonal": "MMC_Diagonal",
}

# Where metric-learn gives the plain name to a learner from tuples, the one from labels is _Supervised; RCA learns
# from labels by either name: RCA as metric-learn has it, from chunks, where -1 is the number of none.
LABELLED_NAMES = {
    "itml": ["ITML_Supervised"],
    "mmc": ["MMC_Supervised"],
    "mmc-diagonal": ["MMC_Diagonal_Supervised"],
    "rca": ["RCA", "RCA_Supervised"],
    "lsml": ["LSML_Supervised"],
    "sdml": ["SDML_Supervised"],
    "scml": ["SCML_Supervised"],
}

# metric-learn's names of arguments: the setting they stand for; None where the method here has no use for it;
# "=method" for a flag that stands for another method; "!word" where that word alone is what the method does.
FOREIGN: dict[str, dict[str, str | None]] = {
    "lmnn": {
        "n_neighbors": "targets",
        "k": "targets",
        "regularization": "lmnn-push",
        "convergence_tol": "gap",
        "init": None,
        "min_iter": None,
        "learn_rate": None,
    },
    "nca": {"init": "nca-start", "tol": "gap"},
    "itml": {
        "gamma": "itml-gamma",
        "tol": "gap",
        "convergence_threshold": "gap",
        "n_constraints": "random-pairs",
        "num_constraints": "random-pairs",
    },
    "mmc": {
        "tol": "gap",
        "convergence_threshold": "gap",
        "n_constraints": "random-pairs",
        "num_constraints": "random-pairs",
        "init": None,
        "max_proj": None,
        "diagonal": "=mmc-diagonal",
        "diagonal_c": None,
    },
    "lfda": {"k": "lfda-neighbors", "embedding_type": "!weighted"},
    "sdml": {
        "balance_param": "sdml-balance",
        "sparsity_param": "sdml-sparsity",
        "n_constraints": "random-pairs",
        "num_constraints": "random-pairs",
    },
    "scml": {
        "k_genuine": "targets",
        "k_impostor": "impostors",
        "n_basis": "scml-directions",
        "beta": None,
        "basis": None,
        "gamma": None,
        "batch_size": None,
        "output_iter": None,
    },
    "mlkr": {"tol": "gap", "init": None},
    "lsml": {"tol": "gap", "n_constraints": "random-pairs", "num_constraints": "random-pairs", "weights": None},
    "rca": {"n_chunks": None, "num_chunks": None, "chunk_size": None},
}

# Bounds on the steps of a method that the general one implies where they are not given themselves.
IMPLIED = {"nca": {"nca_steps": "max_iter"}}

# Settings whose names users know otherwise, or Python has taken.
PARAMETER = {
    "seed": "random_state",
    "components": "n_components",
    "lambda": "lambda_",
    "pair-score": "pair_score_by",
}


def class_name(method: str) -> str:
    """lmnn -> LMNN, euclidean -> Euclidean: short words are initials."""
    if method in KNOWN:
        return KNOWN[method]
    return "".join(w.upper() if len(w) <= 4 else w.capitalize() for w in method.split("-"))


def parameter_name(setting: str) -> str:
    return PARAMETER.get(setting, setting.replace("-", "_"))


# ---- settings ----------------------------------------------------------------------------------------


class Setting:
    """A row of the table of settings, as a constructor argument."""

    def __init__(self, ffi, lib, row):
        def text(pointer):
            return ffi.string(pointer).decode() if pointer else ""

        self.name = text(row.name)
        self.group = text(row.group)
        self.parameter = parameter_name(self.name)
        self.type = ("flag", "int", "real", "choice", "text")[row.type]
        self.default_text = text(row.default_value)
        self.low, self.high = row.min, row.max
        self.choices = text(row.choices).split("|") if row.choices else []
        self.help = text(row.help)
        self.automatic = bool(row.automatic)
        self.is_file = text(row.metavar) == "FILE"

    @property
    def default(self):
        """The default as Python says it."""
        if self.parameter in ("random_state", "n_components", "neighbors"):
            return None  # neighbors: 'auto' that is said is more than the default (its help)
        if self.type == "flag":
            return self.default_text == "yes"
        if self.type == "int" and self.default_text != "auto":
            return int(self.default_text)
        if self.type == "real" and self.default_text != "auto":
            return float(self.default_text)
        return self.default_text

    @property
    def hint(self) -> str:
        """The type hint."""
        if self.parameter == "random_state":
            return "int | np.random.RandomState | None"
        if self.parameter == "n_components":
            return "int | None"
        plain = {"flag": "bool", "int": "int", "real": "float", "choice": "str", "text": "str"}[self.type]
        if self.choices == ["auto", "yes", "no"]:
            plain = "bool | str"
        if self.parameter == "neighbors":
            return "int | str | None"
        return plain + " | str" if self.automatic else plain

    @property
    def kind(self) -> str:
        """The type in words, as numpydoc has it."""
        if self.choices:
            return "{" + ", ".join(repr(c) for c in self.choices) + "}"
        if self.parameter == "random_state":
            return "int, RandomState instance or None"
        words = {"flag": "bool", "int": "int", "real": "float", "text": "str"}[self.type]
        if self.type in ("int", "real"):
            low = "" if self.low == float("-inf") else f" from {self.low:g}"
            high = "" if self.high >= 2**31 - 1 else f" to {self.high:g}"
            words += low + high
        if self.parameter == "neighbors":
            return words + ", 'auto' or None"
        return words + (" or 'auto'" if self.automatic else "")


def settings_of(ffi, lib, method: int) -> list[Setting]:
    """The settings that a method reads, its own ones first; files of constraints come as arrays here."""
    rows = [Setting(ffi, lib, lib.bdml_option_at(i)) for i in range(lib.bdml_option_count())]
    taken = [
        s
        for i, s in enumerate(rows)
        if lib.bdml_method_takes(method, i) and not (s.group == "constraints" and s.type == "text")
    ]
    own = ["train", "constraints", "methods"] if method == 0 else ["methods", "train", "constraints"]
    order = own + ["prepare", "input", "neighbors", "general"]
    taken.sort(key=lambda s: (s.parameter == "random_state", order.index(s.group)))
    return taken


# ---- classes -------------------------------------------------------------------------------------------

LAST = [
    ("verbose", "bool | int", "bool or int", False, "show the progress: a bar of tqdm where it is installed, else a line"),
    (
        "callback",
        "Callable[[str, int, int], Any] | None",
        "callable or None",
        None,
        "called about ten times a second with (phase, done, total); what is true stops the fit",
    ),
    (
        "preprocessor",
        "Any",
        "array of shape (n_points, n_features), callable or None",
        None,
        "where given, points may be given by number: rows of the array, or what the callable makes of an array of numbers",
    ),
]

HEAD = '''"""Written by generate.py from the tables of the C library."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ._labelled import BoundedLabelled, Chunks, Labelled, WarmLabelled
from ._regression import Regression
from ._weak import BoundedPairs, Pairs, Quadruplets, Triplets

'''

EXAMPLE = {
    "Labelled": """
>>> from sklearn.datasets import load_iris
>>> from bdml import {name}
>>> X, y = load_iris(return_X_y=True)
>>> metric = {name}({arguments}).fit(X, y)
>>> metric.transform(X).shape[0]
150
>>> bool(metric.score(X, y) > 0.9)
True
""",
    "Regression": """
>>> from sklearn.datasets import load_diabetes
>>> from bdml import {name}
>>> X, y = load_diabetes(return_X_y=True)
>>> metric = {name}(n_components=2, max_iter=20, scale="zscore").fit(X[:200], y[:200])
>>> metric.transform(X).shape
(442, 2)
""",
    "Pairs": """
>>> import numpy as np
>>> from sklearn.datasets import load_iris
>>> from bdml import {name}
>>> X, y = load_iris(return_X_y=True)
>>> i, j = np.random.RandomState(0).randint(150, size=(2, 200))
>>> same = np.where(y[i] == y[j], 1, -1)
>>> metric = {name}({arguments}preprocessor=X).fit(np.column_stack([i, j]), same)
>>> bool(metric.score(np.column_stack([i, j]), same) > 0.6)
True
""",
    "Triplets": """
>>> import numpy as np
>>> from sklearn.datasets import load_iris
>>> from bdml import {name}
>>> X, y = load_iris(return_X_y=True)
>>> rng = np.random.RandomState(0)
>>> kind = rng.randint(3, size=100)
>>> near = [rng.choice(np.flatnonzero(y == k), 2, replace=False) for k in kind]
>>> far = [rng.choice(np.flatnonzero(y != k)) for k in kind]
>>> triplets = np.column_stack([near, far])
>>> metric = {name}({arguments}preprocessor=X).fit(triplets)
>>> bool(metric.score(triplets) > 0.8)
True
""",
    "Quadruplets": """
>>> import numpy as np
>>> from sklearn.datasets import load_iris
>>> from bdml import {name}
>>> X, y = load_iris(return_X_y=True)
>>> rng = np.random.RandomState(0)
>>> kind = rng.randint(3, size=100)
>>> near = [rng.choice(np.flatnonzero(y == k), 2, replace=False) for k in kind]
>>> far = [(rng.choice(np.flatnonzero(y == k)), rng.choice(np.flatnonzero(y != k))) for k in kind]
>>> quadruplets = np.column_stack([near, far])
>>> metric = {name}({arguments}preprocessor=X).fit(quadruplets)
>>> bool(metric.score(quadruplets) > 0.8)
True
""",
}


def wrapped(text: str, indent: str) -> str:
    return textwrap.fill(text, 100, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def sentence(text: str) -> str:
    text = text[0].upper() + text[1:]
    return text if text.endswith(".") else text + "."


def docstring(name, base, method, help_, settings, foreign) -> str:
    lines = [wrapped(sentence(help_.split(": ", 1)[-1] if help_.startswith(name + ":") else help_), "    ")]
    lines[0] = '    """' + lines[0].lstrip()
    lines += ["", wrapped({
        "Labelled": "Learns from labelled points; classifies by the vote of nearest neighbours under the metric.",
        "Regression": "Learns from points with a number each, so that near points have near numbers.",
        "Pairs": "Learns from pairs of points that are the same (1) or different (-1), and tells which new pairs are.",
        "Triplets": "Learns from triplets (a, b, c) that say: a is nearer to b than to c.",
        "Quadruplets": "Learns from quadruplets (a, b, c, d) that say: a is nearer to b than c to d.",
    }[base] + f" Method '{method}' of the library.", "    ")]
    lines += ["", "    Parameters", "    ----------"]
    for s in settings:
        lines.append(f"    {s.parameter} : {s.kind}, default={s.default!r}")
        lines.append(wrapped(sentence(s.help), "        "))
    for alias, setting in foreign.items():
        lines.append(f"    {alias} : default=None")
        if setting is None:
            said = "Accepted so that scripts for metric-learn run; the method here has no use for it."
        elif setting.startswith("!"):
            said = f"Accepted so that scripts for metric-learn run; only '{setting[1:]}' is to be had."
        elif setting.startswith("="):
            said = f"metric-learn's way to ask for method '{setting[1:]}'."
        else:
            said = f"metric-learn's name of `{parameter_name(setting)}`."
        lines.append(wrapped(said, "        "))
    for parameter, _, kind, default, help_ in LAST:
        lines.append(f"    {parameter} : {kind}, default={default!r}")
        lines.append(wrapped(sentence(help_), "        "))
    lines += ["", "    Examples", "    --------"]
    quick = "distortion=10.0, reference='zscore'" if method == "bdml" and base == "Labelled" else ""
    lines += ["    " + line for line in EXAMPLE[base].format(name=name, arguments=quick).strip().split("\n")]
    return "\n".join(line.rstrip() for line in lines) + '\n    """\n'


def class_text(name, base, method, help_, settings, uses) -> str:
    foreign = FOREIGN.get(method, {})
    foreign = {a: s for a, s in foreign.items() if base == "Labelled" or s != "random-pairs"}
    if base != "Labelled":
        settings = [s for s in settings if s.name != "random-pairs"]
    names = {s.parameter for s in settings}
    foreign = {a: s for a, s in foreign.items() if a not in names}
    bounded = base in ("Labelled", "Pairs") and any(s.name == "itml-near" for s in settings)
    warm = base == "Labelled" and any(s.name == "warm" for s in settings)
    parent = "Chunks" if name == "RCA" else "Bounded" + base if bounded else "Warm" + base if warm else base
    out = [f"\n\nclass {name}({parent}):\n", docstring(name, base, method, help_, settings, foreign), "\n"]
    out.append(f"    _method = {method!r}\n")
    if base == "Labelled" and uses & 1:
        out.append("    _needs_labels = False\n")
    out.append("    _settings = {\n")
    out += [f"        {s.parameter!r}: ({s.name!r}, {s.default!r}),\n" for s in settings]
    out.append("    }\n")
    names_of = {a: parameter_name(s) for a, s in foreign.items() if s and s[0] not in "=!"}
    if names_of:
        out.append(f"    _foreign = {names_of!r}\n")
    switch = {a: s[1:] for a, s in foreign.items() if s and s[0] == "="}
    if switch:
        out.append(f"    _switch = {switch!r}\n")
    only = {a: s[1:] for a, s in foreign.items() if s and s[0] == "!"}
    if only:
        out.append(f"    _only = {only!r}\n")
    if method in IMPLIED:
        out.append(f"    _implied = {IMPLIED[method]!r}\n")
    out.append("\n    def __init__(\n        self,\n        *,\n")
    out += [f"        {s.parameter}: {s.hint} = {s.default!r},\n" for s in settings]
    out += [f"        {a}: Any = None,\n" for a in foreign]
    out += [f"        {p}: {hint} = {default!r},\n" for p, hint, _, default, _ in LAST]
    out.append("    ):\n")
    for p in [s.parameter for s in settings] + list(foreign) + [row[0] for row in LAST]:
        out.append(f"        self.{p} = {p}\n")
    return "".join(out)


def write_methods(package: Path) -> None:
    ffi, lib = load(package)
    out, names = [HEAD], {"Labelled": [], "Regression": [], "Pairs": [], "Triplets": [], "Quadruplets": []}
    for i in range(lib.bdml_method_count()):
        method = ffi.string(lib.bdml_method_name(i)).decode()
        help_ = ffi.string(lib.bdml_method_help(i)).decode()
        uses = lib.bdml_method_uses(i)
        if uses & lib.BDML_USES_DOMAINS:
            continue
        name, settings = class_name(method), settings_of(ffi, lib, i)
        forms = []
        if uses & lib.BDML_USES_LABELS:
            forms += [(form, "Labelled") for form in LABELLED_NAMES.get(method, [name])]
        if uses & lib.BDML_USES_NUMBERS:
            forms.append((name, "Regression"))
        # the plain name goes to the most general of the tuples, where labels have not taken it
        for flag, base in (
            (lib.BDML_USES_QUADRUPLETS, "Quadruplets"),
            (lib.BDML_USES_PAIRS, "Pairs"),
            (lib.BDML_USES_TRIPLETS, "Triplets"),
        ):
            if uses & flag:
                plain = name not in [form for form, _ in forms]
                forms.append((name if plain else f"{name}_{base}", base))
        for form, base in forms:
            out.append(class_text(form, base, method, help_, settings, uses))
            names[base].append(form)
    out.append("\n\n")
    for base, all_ in names.items():
        out.append(f"{base.upper()}: tuple[type, ...] = ({', '.join(all_)},)\n")
    out.append("\n__all__ = [\n" + "".join(f"    {n!r},\n" for form in names.values() for n in form) + "]\n")
    (package / "_methods.py").write_text("".join(out))


def write(header: Path, package: Path) -> None:
    write_cdef(header, package)
    write_methods(package)
