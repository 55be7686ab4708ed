# The headers that all unit tests include, compiled once (BERTH_PRECOMPILE): reading GoogleTest is a third of what many of them
# cost. They include what they use nevertheless, so they compile without it.

if(BERTH_TESTS AND BERTH_PRECOMPILE)
  set(headers <gmock/gmock.h> <gtest/gtest.h> <fmt/format.h> <tl/expected.hpp>)
  set(source ${CMAKE_BINARY_DIR}/test_headers.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "// Compiles nothing but its precompiled headers.\n")
  add_library(berth_test_headers OBJECT ${source})
  target_precompile_headers(berth_test_headers PRIVATE ${headers})
  target_link_libraries(berth_test_headers PRIVATE fmt::fmt tl::expected GTest::gmock)
  berth_optimise_little(berth_test_headers)
  # What is precompiled names paths of this clone, so it does not go into the compiler cache. To the cache it is what is
  # written beside it: else no clone could use what another one has compiled.
  set_target_properties(berth_test_headers PROPERTIES CXX_COMPILER_LAUNCHER "")
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/berth_test_headers.dir)
  foreach(suffix IN ITEMS gch pch)
    file(CONFIGURE OUTPUT ${folder}/cmake_pch.hxx.${suffix}.sum CONTENT
      "${headers} GoogleTest ${GTest_VERSION} fmt ${fmt_VERSION} ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}\n")
  endforeach()
endif()
