#!/bin/sh
# Install into an empty folder; compile and run examples/ against it through pkg-config and through
# find_package, outside the tree; look at what the shared library exports.
set -u
passed=0
failed=0
check() { # check "what" command...
    what=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $what"
        cat "$work/log"
    fi
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root="$work/root"
# The sanitizer build wants its run-time in every program that loads the library.
flags=""
grep -q 'BDML_SANITIZE:BOOL=ON' "$BDML_BUILD/CMakeCache.txt" && flags="-fsanitize=address,undefined"
cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$BDML_BUILD/CMakeCache.txt")

check "install" cmake --install "$BDML_BUILD" --prefix "$root"
# Packages take the parts library, dev, command and mpi (empty without MPI): together they are all of it, and none has
# what another has.
for part in library dev command mpi; do
    mkdir -p "$work/$part"
    check "install $part" cmake --install "$BDML_BUILD" --prefix "$work/$part" --component $part
    (cd "$work/$part" && find . ! -type d)
done | sort >"$work/parts"
(cd "$root" && find . ! -type d) | sort >"$work/whole"
check "packages take everything, once" diff "$work/whole" "$work/parts"
check "the library alone is one package" sh -c "! find '$work/library' -name '*.h' -o -name '*.a' | grep ."
pc=$(dirname "$(find "$root" -name bdml.pc)")
export PKG_CONFIG_PATH="$pc"
libdir=$(pkg-config --variable=libdir bdml)
export LD_LIBRARY_PATH="$libdir"

cp "$BDML_SOURCE/examples/learn.c" "$work/"
cd "$work" || exit 1
# shellcheck disable=SC2046
check "compile with pkg-config" "$cc" $flags learn.c $(pkg-config --cflags --libs bdml) -o learn
check "run the example" sh -c './learn "$BDML_SOURCE/data/wine.csv" >learn.out'
check "example's result" grep -q '178 points in 13 dimensions, 3 classes' learn.out
# shellcheck disable=SC2046
check "the header compiles as C++" sh -c "command -v c++ >/dev/null || exit 0
  printf '#include <bdml/bdml.h>\nint main() { return bdml_version() ? 0 : 1; }\n' >a.cc
  c++ $flags a.cc $(pkg-config --cflags --libs bdml) -o a && ./a"

cp -r "$BDML_SOURCE/examples" "$work/examples"
for target in bdml::bdml bdml::bdml_static; do
    sed -i "s/PRIVATE bdml::[a-z_]*/PRIVATE $target/" examples/cmake/CMakeLists.txt
    rm -rf cmake-build
    check "find_package configures with $target" cmake -S examples/cmake -B cmake-build \
        -DCMAKE_PREFIX_PATH="$root" -DCMAKE_C_COMPILER="$cc" -DCMAKE_C_FLAGS="$flags"
    check "find_package builds with $target" cmake --build cmake-build
    check "find_package runs with $target" cmake-build/learn "$BDML_SOURCE/data/iris.csv"
done
check "the static target needs no libbdml.so" sh -c "! ldd cmake-build/learn | grep libbdml"
# shellcheck disable=SC2046
check "compile statically with pkg-config" "$cc" $flags learn.c $(pkg-config --cflags bdml) \
    "$libdir/libbdml.a" $(pkg-config --static --libs-only-l bdml | sed 's/-lbdml//') -o learn_static
version=$(pkg-config --modversion bdml)
major=${version%%.*} rest=${version#*.}
minor=${rest%%.*}
ask() { # ask VERSION: is this one good for a program that wants VERSION?
    printf 'cmake_minimum_required(VERSION 3.18)\nproject(v LANGUAGES C)\nfind_package(bdml %s REQUIRED)\n' \
        "$1" >version/CMakeLists.txt
    rm -rf version/build
    cmake -S version -B version/build -DCMAKE_PREFIX_PATH="$root" -DCMAKE_C_COMPILER="$cc"
}
mkdir version
check "find_package takes the same minor version" ask "$major.$minor.0"
refuse() { ! ask "$1"; }
check "find_package refuses another minor version" refuse "$major.$((minor + 1))"
check "find_package refuses an older minor version" refuse "$major.$((minor - 1))"

check "SONAME" sh -c "objdump -p '$libdir'/libbdml.so | grep -q 'SONAME *libbdml.so.$major.$minor\$'"
nm -D --defined-only "$libdir/libbdml.so" | awk '{print $3}' | grep -v '^bdml_' >"$work/foreign"
check "only bdml_ symbols exported" test ! -s "$work/foreign"
# Everything that the header declares is exported, and nothing else.
grep -hA2 BDML_API "$BDML_SOURCE"/include/bdml/bdml.h "$BDML_SOURCE"/include/bdml/comm.h | grep -o 'bdml_[a-z_]*(' | tr -d '(' | sort -u >declared
nm -D --defined-only "$libdir/libbdml.so" | awk '{print $3}' | sort -u >exported
check "exports are exactly the header's functions" diff declared exported
check "the installed command runs" "$root/bin/bdml" version
for file in share/man/man1/bdml.1 share/man/man1/bdml-check.1 share/bash-completion/completions/bdml \
    share/zsh/site-functions/_bdml share/fish/vendor_completions.d/bdml.fish; do
    check "$file is installed" test -s "$root/$file"
done
echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
