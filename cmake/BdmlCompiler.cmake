# Warnings, sanitizers and hidden visibility for every target of ours.
add_library(bdml_flags INTERFACE)
target_compile_options(bdml_flags INTERFACE -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes
  -Wmissing-prototypes -Wpointer-arith -Wvla -fno-math-errno)
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
  # A loop that was not vectorised is no mistake. Enumerations are unsigned to clang, so that each of them
  # would have to be cast to the int of a setting; gcc looks at the signs of all else.
  target_compile_options(bdml_flags INTERFACE -Wno-pass-failed -Wno-sign-conversion)
endif()
# POSIX 2008 and strtod_l on top of C11.
target_compile_definitions(bdml_flags INTERFACE _GNU_SOURCE)
if(BDML_WERROR)
  target_compile_options(bdml_flags INTERFACE -Werror)
endif()
if(BDML_SANITIZE)
  target_compile_options(bdml_flags INTERFACE -fsanitize=address,undefined -fno-omit-frame-pointer
    -fno-sanitize-recover=all -g)
  target_link_options(bdml_flags INTERFACE -fsanitize=address,undefined)
endif()
# Coverage for libFuzzer; buffers are small in such builds, so that inputs of some bytes cross their ends.
if(BDML_FUZZ)
  target_compile_options(bdml_flags INTERFACE -fsanitize=fuzzer-no-link
    -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
  target_link_options(bdml_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# Against exploits of a mistake in reading somebody's file: overwritten return addresses are noticed (stack protector),
# the stack cannot leap over its guard page, jumps land on marked places only (CET), the C library checks the sizes of buffers
# that the compiler knows (FORTIFY), tables of addresses are read-only, and programs lie at random places (PIE).
if(BDML_HARDEN AND NOT BDML_SANITIZE)
  include(CheckCCompilerFlag)
  include(CheckCSourceCompiles)
  include(CheckPIESupported)
  check_pie_supported(LANGUAGES C)
  foreach(_flag stack-protector-strong stack-clash-protection cf-protection)
    string(MAKE_C_IDENTIFIER BDML_HAVE_${_flag} _have)
    check_c_compiler_flag("-Werror -f${_flag}" ${_have})
    if(${_have})
      target_compile_options(bdml_flags INTERFACE -f${_flag})
    endif()
  endforeach()
  # The highest level that the C library has; it needs an optimising build.
  foreach(_level 3 2)
    set(CMAKE_REQUIRED_FLAGS "-Werror -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${_level}")
    check_c_source_compiles("#include <stdio.h>
      int main(void) { return puts(\"\") < 0; }" BDML_HAVE_FORTIFY_${_level})
    unset(CMAKE_REQUIRED_FLAGS)
    if(BDML_HAVE_FORTIFY_${_level})
      target_compile_options(bdml_flags INTERFACE
        $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=${_level}>)
      break()
    endif()
  endforeach()
  set(CMAKE_REQUIRED_LINK_OPTIONS -Wl,-z,relro,-z,now)
  check_c_source_compiles("int main(void) { return 0; }" BDML_HAVE_RELRO)
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
  if(BDML_HAVE_RELRO)
    target_link_options(bdml_flags INTERFACE -Wl,-z,relro,-z,now)
  endif()
endif()
