# How everything is compiled: the language, the warnings, the sanitizers and the compiler cache.

set(BERTH_TESTS AUTO CACHE STRING "Build the tests: ON, OFF, or AUTO (when GoogleTest and RapidCheck are there)")
set_property(CACHE BERTH_TESTS PROPERTY STRINGS AUTO ON OFF)
set(BERTH_UNIT_TESTS "" CACHE STRING "A regular expression: modules whose unit tests are built; empty: all")
set(BERTH_PROPERTY_TESTS "" CACHE STRING "The same for the tests of properties")
option(BERTH_BENCH "Build the benchmarks" OFF)
option(BERTH_FUZZ "Build the fuzzers (clang only)" OFF)
option(BERTH_UNITY "Compile the sources of a module in bundles, not one by one" OFF)
option(BERTH_COVERAGE "Instrument for coverage" OFF)
option(BERTH_WARNINGS_AS_ERRORS "Let a warning stop the build" ON)
set(BERTH_SANITIZE "" CACHE STRING "Sanitizers, such as address,undefined or thread")
set(BERTH_FUZZ_SECONDS 5 CACHE STRING "How long the test of one fuzzer runs")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug or Release" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "Berth needs g++ 12 or newer, found ${CMAKE_CXX_COMPILER_VERSION} (Ubuntu 22.04: install g++-12)")
endif()

# A flag for C++ sources only: the embedded files are assembled.
function(berth_compile_options)
  foreach(flag IN LISTS ARGN)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:${flag}>)
  endforeach()
endfunction()

berth_compile_options(-Wall -Wextra -Wconversion -Wshadow)
if(BERTH_WARNINGS_AS_ERRORS)
  berth_compile_options(-Werror)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # clang counts it as a part of -Wconversion, g++ does not.
  berth_compile_options(-Wno-sign-conversion)
else()
  # False alarms of g++ 12 on string concatenation (GCC bug 105651).
  berth_compile_options(-Wno-restrict)
endif()

# Debug and release, g++ and clang must give the same bytes: no fused multiply-add behind our back.
berth_compile_options(-ffp-contract=off)

if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  berth_compile_options(-D_GLIBCXX_ASSERTIONS)
endif()

if(BERTH_SANITIZE)
  berth_compile_options(-fsanitize=${BERTH_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  if(BERTH_SANITIZE MATCHES "address")
    # The address sanitizer finds these itself; to check them twice is a fifth of the time to compile.
    berth_compile_options(-fno-sanitize=null,object-size)
  endif()
  add_link_options(-fsanitize=${BERTH_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    add_link_options(-Wno-unused-command-line-argument) # the preset's limit for inlining means nothing to the linker
  endif()
endif()

if(BERTH_COVERAGE)
  berth_compile_options(--coverage)
  add_link_options(--coverage)
endif()

if(BERTH_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "BERTH_FUZZ needs clang (Debian package clang-19), found ${CMAKE_CXX_COMPILER_ID}")
  endif()
endif()

if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  find_program(BERTH_LLD NAMES ld.lld-19 ld.lld)
  if(BERTH_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()

if(BERTH_UNITY)
  # Several sources in one make g++ take a class with a member from an unnamed namespace for one of a header.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    berth_compile_options(-Wno-subobject-linkage)
  endif()
endif()

# The same object serves every build folder and every clone: no paths in the key. Headers are taken from what the compiler
# says: to preprocess each source first costs a build without a warm cache 8 % more.
find_program(BERTH_CCACHE ccache)
if(BERTH_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
    env CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_DEPEND=1 CCACHE_SLOPPINESS=time_macros ${BERTH_CCACHE})
endif()
