# How the modules of src/ are declared.
#
#   berth_wing(ports mig profile)
#
# in src/WING/CMakeLists.txt: the modules of a wing, lowest first; each is a folder with a CMakeLists.txt of its own:
#
#   berth_module(NAME mig [FOLDERS folder ...] DEPS base domain [LIBS fmt::fmt ...]
#     [TESTING_DEPS solver window_testing ...] [TEST_SECONDS 70] [SYSTEM] [STANDALONE] [LIGHT] [PORTABLE source ...])
#
# A dependency must be declared before: in an earlier wing, or earlier in the same wing. Otherwise the configuration stops.
#
# SYSTEM: the module may do I/O, read clocks and use headers of the operating system; every other module is pure, which
# tools/tidy checks.
#
# STANDALONE: main.cc does not become the program berth; whoever makes a program of it calls a function of its own
# (cmake/BerthNvmlSim.cmake).
#
# LIGHT: it only reads options and writes answers: it is compiled with less optimisation.
#
# PORTABLE: these sources (ALL: every one) are also part of the simulated NVML, which needs nothing but libc and libstdc++ at run
# time. They are compiled apart from the others, for a shared library too, with fmt in them (cmake/BerthNvmlSim.cmake).
#
# From the files of the calling folder, its detail/ and its FOLDERS:
#   *.cc            static library berth_<name> (an INTERFACE library while there is none; main.cc becomes the program berth)
#   *_test.cc       one GoogleTest program of the module      ctest unit.<name>           label unit
#   *_property.cc   one RapidCheck program of the module      ctest property.<name>       label property
#   *_fuzz.cc       one libFuzzer program each (BERTH_FUZZ)   ctest fuzz.<name>.<concept> label fuzz
#   *_bench.cc      one Google Benchmark program (BERTH_BENCH)
#   *_test.py       one test each, exit status 77 skips       ctest script.<name>.<concept> label script
# TEST_SECONDS: about what the unit tests take with sanitizers, where that is long: ctest begins with the longest.
#
# A fuzzer of <concept>_fuzz.cc starts from the files in corpus/<concept>/ and uses corpus/<concept>.dict where they exist.
#
# From the folder testing/, where there is one: the library berth_<name>_testing, which the module's tests and benchmarks
# link and nothing else of the module does. TESTING_DEPS are what it, the tests and the benchmarks use beyond DEPS: modules
# declared before, or the testing libraries of such modules.

function(berth_wing)
  foreach(module IN LISTS ARGN)
    add_subdirectory(${module})
  endforeach()
endfunction()

function(berth_module)
  cmake_parse_arguments(ARG "SYSTEM;STANDALONE;LIGHT" "NAME;TEST_SECONDS" "FOLDERS;DEPS;LIBS;TESTING_DEPS;PORTABLE" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_NAME)
    message(FATAL_ERROR "berth_module: wanted NAME name [FOLDERS ...] [DEPS ...] [LIBS ...] [TESTING_DEPS ...] [TEST_SECONDS ...] [SYSTEM] [STANDALONE] [LIGHT] [PORTABLE ...], found: ${ARGN}")
  endif()
  set(all_deps ${ARG_DEPS} ${ARG_TESTING_DEPS})
  berth_check_order(${ARG_NAME} "${all_deps}")
  set_property(GLOBAL APPEND PROPERTY BERTH_MODULES ${ARG_NAME} ${ARG_NAME}_testing)

  list(TRANSFORM ARG_FOLDERS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE folders)
  list(APPEND folders ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/detail)
  list(TRANSFORM folders APPEND /*.cc OUTPUT_VARIABLE source_globs)
  list(TRANSFORM folders APPEND /*_test.py OUTPUT_VARIABLE script_globs)
  file(GLOB sources CONFIGURE_DEPENDS ${source_globs})
  file(GLOB scripts CONFIGURE_DEPENDS ${script_globs})
  foreach(kind IN ITEMS test property fuzz bench)
    set(${kind}_sources ${sources})
    list(FILTER ${kind}_sources INCLUDE REGEX "_${kind}\\.cc$")
    list(FILTER sources EXCLUDE REGEX "_${kind}\\.cc$")
  endforeach()
  set(main_source ${sources})
  list(FILTER main_source INCLUDE REGEX "/main\\.cc$")
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")

  list(TRANSFORM ARG_DEPS PREPEND berth_ OUTPUT_VARIABLE dep_targets)
  berth_library(berth_${ARG_NAME} "${sources}" "${ARG_PORTABLE}" ${dep_targets} ${ARG_LIBS})
  if(ARG_LIGHT)
    berth_optimise_little(berth_${ARG_NAME})
  endif()
  if(main_source AND NOT ARG_STANDALONE)
    add_executable(berth ${main_source})
    target_link_libraries(berth PRIVATE berth_${ARG_NAME})
    set_target_properties(berth PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  endif()

  list(TRANSFORM ARG_TESTING_DEPS PREPEND berth_ OUTPUT_VARIABLE testing_targets)
  if((BERTH_TESTS OR BERTH_BENCH) AND IS_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/testing)
    file(GLOB testing_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/testing/*.cc)
    berth_library(berth_${ARG_NAME}_testing "${testing_sources}" "" berth_${ARG_NAME} ${testing_targets})
    set(testing_targets berth_${ARG_NAME}_testing)
  endif()

  if(BERTH_TESTS)
    if(NOT BERTH_UNIT_TESTS OR ARG_NAME MATCHES "${BERTH_UNIT_TESTS}")
      berth_test_program(${ARG_NAME} test unit "${test_sources}" ${testing_targets} GTest::gmock)
      if(ARG_TEST_SECONDS)
        set_tests_properties(unit.${ARG_NAME} PROPERTIES COST ${ARG_TEST_SECONDS})
      endif()
    endif()
    if(NOT BERTH_PROPERTY_TESTS OR ARG_NAME MATCHES "${BERTH_PROPERTY_TESTS}")
      berth_test_program(${ARG_NAME} property property "${property_sources}" ${testing_targets} rapidcheck)
    endif()
    berth_script_tests(${ARG_NAME} "${scripts}")
  endif()
  if(BERTH_FUZZ AND fuzz_sources)
    # What no fuzzer is about is not instrumented for them: that would double the time of its tests.
    if(sources)
      berth_instrument(berth_${ARG_NAME})
    endif()
    foreach(source IN LISTS fuzz_sources)
      berth_fuzzer(${ARG_NAME} ${source})
    endforeach()
  endif()
  if(BERTH_BENCH AND bench_sources)
    add_executable(berth_${ARG_NAME}_bench ${bench_sources})
    target_link_libraries(berth_${ARG_NAME}_bench PRIVATE berth_${ARG_NAME} ${testing_targets} benchmark::benchmark_main)
    set_target_properties(berth_${ARG_NAME}_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
  endif()
endfunction()

# Refuses a dependency that is not declared yet.
function(berth_check_order name deps)
  get_property(declared GLOBAL PROPERTY BERTH_MODULES)
  foreach(dep IN LISTS deps)
    if(NOT dep IN_LIST declared)
      message(FATAL_ERROR "Module ${name} depends on ${dep}, which is not declared before it: the name is unknown, or it stands in a "
        "later wing (CMakeLists.txt) or later in the same wing (berth_wing)")
    endif()
  endforeach()
endfunction()

# What is compiled for `sources`, which are in src/: with BERTH_UNITY bundles, files that include many of them each.
#
# Sources of a kind (`_verb`, `_json`, `_table`; the last word of a name) stand together, so that a header that is long to read
# is read by few bundles. A bundle has about `berth_bundle_bytes`, so that no one of them is what others wait for. It names
# its sources relative to src/, as headers are named: it is the same in each clone, and so is its key in the compiler cache
# (those that CMake makes for UNITY_BUILD have absolute paths).
set(berth_bundle_bytes 150000)

function(berth_compiled variable target sources)
  if(NOT BERTH_UNITY)
    set(${variable} ${sources} PARENT_SCOPE)
    return()
  endif()
  set(by_kind)
  set(bytes 0)
  foreach(source IN LISTS sources)
    file(SIZE ${source} size)
    math(EXPR bytes "${bytes} + ${size}")
    string(REGEX REPLACE "^${PROJECT_SOURCE_DIR}/src/(.*)$" "\\1" name ${source})
    string(REGEX REPLACE "^.*[/_]([^/_]*)\\.cc$" "\\1" kind ${name})
    list(APPEND by_kind "${kind}|${name}|${size}")
  endforeach()
  list(SORT by_kind)
  math(EXPR count "(${bytes} + ${berth_bundle_bytes} - 1) / ${berth_bundle_bytes}")

  # Bundle i ends where (i + 1) / count of all bytes are reached.
  set(bundles)
  set(text)
  set(done 0)
  set(index 0)
  foreach(entry IN LISTS by_kind)
    string(REGEX MATCH "\\|(.*)\\|([0-9]+)$" entry ${entry})
    string(APPEND text "#include \"${CMAKE_MATCH_1}\"\n")
    math(EXPR done "${done} + ${CMAKE_MATCH_2}")
    math(EXPR filled "${done} * ${count} / ${bytes}")
    if(filled GREATER index)
      set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}.bundles/${index}.cc)
      file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
      list(APPEND bundles ${file})
      set(text)
      set(index ${filled})
    endif()
  endforeach()
  set(${variable} ${bundles} PARENT_SCOPE)
endfunction()

function(berth_library target sources portable)
  berth_portable_compiled(compiled_apart sources ${target} "${portable}")
  if(sources)
    berth_compiled(compiled ${target} "${sources}")
  endif()
  if(compiled OR compiled_apart)
    add_library(${target} STATIC ${compiled} ${compiled_apart})
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} ${scope} ${ARGN})
endfunction()

# What is compiled for the PORTABLE sources, which are taken out of `sources`: in bundles if they are ALL, else each by itself,
# because of an archive a program gets whole objects.
function(berth_portable_compiled variable sources_variable target portable)
  set(${variable} PARENT_SCOPE)
  if(NOT portable OR BERTH_SANITIZE OR BERTH_COVERAGE) # the simulated NVML is not built then
    return()
  endif()
  set(sources ${${sources_variable}})
  if(portable STREQUAL "ALL")
    berth_compiled(compiled ${target} "${sources}")
    set(sources)
  else()
    list(TRANSFORM portable PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE compiled)
    list(REMOVE_ITEM sources ${compiled})
  endif()
  set_source_files_properties(${compiled} PROPERTIES
    COMPILE_OPTIONS "-fPIC;-fvisibility=hidden;-fvisibility-inlines-hidden" COMPILE_DEFINITIONS FMT_HEADER_ONLY)
  set(${variable} ${compiled} PARENT_SCOPE)
  set(${sources_variable} ${sources} PARENT_SCOPE)
endfunction()

# One program for all tests of a kind in a module, and one entry in ctest.
function(berth_test_program name suffix label sources)
  if(NOT sources)
    return()
  endif()
  set(target berth_${name}_${suffix})
  berth_compiled(compiled ${target} "${sources}")
  add_executable(${target} ${compiled})
  target_link_libraries(${target} PRIVATE berth_${name} ${ARGN} GTest::gtest_main)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  if(label STREQUAL "unit")
    berth_optimise_little(${target})
  endif()
  add_test(NAME ${label}.${name} COMMAND ${target} --gtest_brief=1)
  berth_test_properties(${label}.${name} ${label})
endfunction()

# For sources that are much to compile and little to run. Sanitizers stay.
function(berth_optimise_little target)
  if(BERTH_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${target} PRIVATE -O1)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # With -O1 g++ takes the value of an optional for one that may not be set (GCC bug 80635).
      target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
    endif()
  endif()
endfunction()

function(berth_script_tests name scripts)
  foreach(script IN LISTS scripts)
    get_filename_component(concept ${script} NAME_WE)
    string(REGEX REPLACE "_test$" "" concept ${concept})
    add_test(NAME script.${name}.${concept} COMMAND ${BERTH_PYTHON} ${script})
    berth_test_properties(script.${name}.${concept} script)
  endforeach()
endfunction()

# Counts which edges are taken and what is compared, for a fuzzer.
function(berth_instrument target)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link>)
endfunction()

function(berth_fuzzer name source)
  get_filename_component(concept ${source} NAME_WE)
  string(REGEX REPLACE "_fuzz$" "" concept ${concept})
  set(target berth_${name}_${concept}_fuzz)
  add_executable(${target} ${source})
  target_link_libraries(${target} PRIVATE berth_${name})
  berth_instrument(${target})
  target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)

  # What the fuzzer finds stays in the build folder; the corpus next to the source is only read.
  set(found ${CMAKE_BINARY_DIR}/fuzz/found/${name}.${concept})
  set(corpus ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${concept})
  file(MAKE_DIRECTORY ${found})
  # What a fuzzer ends with when it finds something must not be the status of a skipped test, which is its default.
  set(arguments -error_exitcode=1 -timeout=10 -rss_limit_mb=2048 -artifact_prefix=${CMAKE_BINARY_DIR}/fuzz/${name}.${concept}.)
  if(EXISTS ${corpus}.dict)
    list(APPEND arguments -dict=${corpus}.dict)
  endif()
  list(APPEND arguments ${found})
  if(IS_DIRECTORY ${corpus})
    list(APPEND arguments ${corpus})
  endif()
  add_test(NAME fuzz.${name}.${concept}
    COMMAND ${target} -max_total_time=${BERTH_FUZZ_SECONDS} -verbosity=0 -print_final_stats=1 ${arguments})
  berth_test_properties(fuzz.${name}.${concept} fuzz)

  # scripts/soak reads the command of each fuzzer from here.
  list(JOIN arguments " " command)
  file(WRITE ${CMAKE_BINARY_DIR}/fuzz/${name}.${concept}.command "${CMAKE_BINARY_DIR}/fuzz/${target} ${command}\n")
endfunction()

# A test ends after `seconds_max`, for one that hangs: several times what the longest take on a slow machine with other work.
#
# BERTH_DATA, the folder with the public traces, comes through from the caller's environment. Properties start from one
# seed, so that a run can be repeated; scripts/soak property takes other seeds. Sanitizers make each case ten times as
# expensive: RapidCheck tries 40 cases there instead of 100, and src/base/core/test_cases.h does the same for other tests.
function(berth_test_properties test label)
  if(BERTH_SANITIZE)
    set(seconds_max 1800)
    set(property_params "seed=1 max_success=30")
  else()
    set(seconds_max 900)
    set(property_params "seed=1")
  endif()
  set_tests_properties(${test} PROPERTIES
    LABELS ${label}
    TIMEOUT ${seconds_max}
    SKIP_RETURN_CODE 77
    ENVIRONMENT "BERTH_PROGRAM=${CMAKE_BINARY_DIR}/berth;BERTH_SOURCE_DIR=${PROJECT_SOURCE_DIR};ASAN_OPTIONS=halt_on_error=1:abort_on_error=1:detect_stack_use_after_return=1:malloc_context_size=10;UBSAN_OPTIONS=halt_on_error=1:abort_on_error=1:print_stacktrace=1;TSAN_OPTIONS=halt_on_error=1;RC_PARAMS=${property_params}")
endfunction()
