#!/bin/sh
# Install the package, around the library of a build folder, into an environment beside it; learn and classify.
set -eu
build=$(cd "${1:-build}" && pwd)
python=${BDML_PYTHON:-/usr/bin/python3}
cd "$(dirname "$0")"
export BDML_BUILD="$build" PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONWARNINGS=ignore
[ -d "$build/python-env" ] || "$python" -m venv --system-site-packages "$build/python-env"
"$build/python-env/bin/pip" install --quiet --no-build-isolation --no-deps --force-reinstall .
cd "$build"
"$build/python-env/bin/python" - <<'END'
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

import bdml

X, y = load_wine(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
print(f"bdml {bdml.__version__} in Python: 3-NN accuracy on 54 wines, 124 to learn from")
for metric in (bdml.Euclidean(), bdml.LMNN(scale="zscore"), bdml.NCA(scale="zscore"), bdml.BDML()):
    metric.fit(X_train, y_train)
    print(f"  {type(metric).__name__:10s} {metric.score(X_test, y_test):.3f}")
c = metric.certificate_
print(f"  BDML is {c.status}, gap {c.gap:.1g}, distortion {c.kappa:.3g} of at most {c.distortion:g}; ", end="")
print("independently confirmed" if c.verify(X_train, y_train) else "NOT confirmed")
END
echo "next: . $build/python-env/bin/activate; python3, import bdml; the guide is docs/python.md"
