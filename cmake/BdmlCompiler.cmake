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
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
