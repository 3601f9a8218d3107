# Find what the library stands on; every missing piece is named with the Debian package that has it.
# docs/dependencies.md says what each is for.

set(_missing "")
macro(bdml_need ok what package)
  if(NOT ${ok})
    list(APPEND _missing "  ${what}: apt-get install ${package}\n")
  endif()
endmacro()

find_path(BDML_CBLAS_INCLUDE cblas.h PATH_SUFFIXES openblas openblas-pthread)
find_library(BDML_OPENBLAS_LIBRARY openblas)
find_path(BDML_LAPACKE_INCLUDE lapacke.h)
find_library(BDML_LAPACKE_LIBRARY lapacke)
find_path(BDML_JANSSON_INCLUDE jansson.h)
find_library(BDML_JANSSON_LIBRARY jansson)
find_path(BDML_MATIO_INCLUDE matio.h)
find_library(BDML_MATIO_LIBRARY matio)
find_path(BDML_ZIP_INCLUDE zip.h)
find_library(BDML_ZIP_LIBRARY zip)
find_package(ZLIB QUIET)
find_package(OpenMP QUIET COMPONENTS C)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

set(_have_openblas FALSE)
if(BDML_CBLAS_INCLUDE AND BDML_OPENBLAS_LIBRARY)
  set(_have_openblas TRUE)
endif()
set(_have_lapacke FALSE)
if(BDML_LAPACKE_INCLUDE AND BDML_LAPACKE_LIBRARY)
  set(_have_lapacke TRUE)
endif()
bdml_need(_have_openblas "OpenBLAS (matrix products)" libopenblas-dev)
bdml_need(_have_lapacke "LAPACKE (eigenvalues)" liblapacke-dev)
bdml_need(BDML_JANSSON_LIBRARY "jansson (JSON)" libjansson-dev)
bdml_need(BDML_MATIO_LIBRARY "matio (MAT files)" libmatio-dev)
bdml_need(BDML_ZIP_LIBRARY "libzip (NPZ files)" libzip-dev)
bdml_need(ZLIB_FOUND "zlib (gzip files)" zlib1g-dev)
bdml_need(OpenMP_C_FOUND "OpenMP for this compiler (threads)" "gcc, or libomp-dev for clang")
if(_missing)
  string(REPLACE ";" "" _missing "${_missing}")
  message(FATAL_ERROR "bdml cannot be built without:\n${_missing}"
    "./bootstrap installs all of them on Debian.")
endif()

add_library(bdml_deps INTERFACE)
target_include_directories(bdml_deps SYSTEM INTERFACE ${BDML_CBLAS_INCLUDE} ${BDML_LAPACKE_INCLUDE}
  ${BDML_JANSSON_INCLUDE} ${BDML_MATIO_INCLUDE} ${BDML_ZIP_INCLUDE})
target_link_libraries(bdml_deps INTERFACE ${BDML_LAPACKE_LIBRARY} ${BDML_OPENBLAS_LIBRARY}
  ${BDML_MATIO_LIBRARY} ${BDML_JANSSON_LIBRARY} ${BDML_ZIP_LIBRARY} ZLIB::ZLIB OpenMP::OpenMP_C
  Threads::Threads m)
