#!/bin/sh
# The Python package: build its wheel around the library of this build, install it into a fresh environment, and run
# its tests there, away from the sources. Skipped with a word where Python's packages are missing.
set -u
python=${BDML_PYTHON:-/usr/bin/python3}
skip() {
    echo "skipped: $1"
    echo "cases: 0 passed, 0 failed"
    exit 0
}
[ -x "$python" ] || skip "there is no $python"
for module in numpy sklearn cffi pytest hypothesis pandas setuptools wheel pip venv ensurepip; do
    "$python" -c "import $module" 2>/dev/null ||
        skip "Python's package $module is missing; './bootstrap python' installs all that is needed"
done
grep -q 'BDML_SANITIZE:BOOL=ON' "$BDML_BUILD/CMakeCache.txt" &&
    skip "a library with sanitizers cannot be loaded by Python"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
step() { # step "what" command...
    what=$1
    shift
    "$@" >"$work/log" 2>&1 && return
    echo "FAILED: $what"
    cat "$work/log"
    echo "cases: 0 passed, 1 failed"
    exit 1
}
unset PYTHONPATH
export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore
# A copy, so that nothing is built in the sources; the folders lie as there.
mkdir -p "$work/tree/bindings"
cp -r "$BDML_SOURCE/bindings/python" "$work/tree/bindings/python"
cp -r "$BDML_SOURCE/include" "$work/tree/"
rm -rf "$work/tree/bindings/python/build"
cd "$work/tree/bindings/python" || exit 1
step "build the wheel" env BDML_BUILD="$BDML_BUILD" "$python" -m pip wheel --quiet --no-build-isolation --no-deps \
    --wheel-dir "$work/wheel" .
step "make an environment" "$python" -m venv --system-site-packages "$work/venv"
step "install the wheel" "$work/venv/bin/pip" install --quiet --no-index --no-deps "$work"/wheel/bdml-*.whl
cp -r "$BDML_SOURCE/bindings/python/tests" "$work/tests"
cd "$work/tests" || exit 1
"$work/venv/bin/python" -m pytest -q -p no:cacheprovider . >"$work/pytest" 2>&1
status=$?
[ $status = 0 ] || cat "$work/pytest"
passed=$(sed -n 's/.*[^0-9]\([0-9][0-9]*\) passed.*/\1/p;s/^\([0-9][0-9]*\) passed.*/\1/p' "$work/pytest" | tail -1)
failed=$(sed -n 's/^\([0-9][0-9]*\) failed.*/\1/p' "$work/pytest" | tail -1)
echo "cases: ${passed:-0} passed, ${failed:-0} failed"
exit $status
