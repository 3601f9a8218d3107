# shell_tools.sh - for tests that stop at the first failure: a scratch folder to work in, and two words.
bdml=$BDML_COMMAND
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAILED: $*" >&2; exit 1; }
has() { # FILE TEXT
    grep -q -- "$2" "$1" || { cat "$1" >&2; fail "$1 lacks: $2"; }
}
