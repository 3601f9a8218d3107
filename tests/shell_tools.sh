# shell_tools.sh - a scratch folder to work in, and words: fail and has stop at the first failure, ok counts.
bdml=$BDML_COMMAND
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAILED: $*" >&2; exit 1; }
has() { # FILE TEXT
    grep -q -- "$2" "$1" || { cat "$1" >&2; fail "$1 lacks: $2"; }
}

passed=0 failed=0
ok() { # ok WHAT CONDITION...; what went wrong stands in the file err
    what=$1
    shift
    if "$@"; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAILED: $what: $(tail -n 2 err)"
    fi
}
