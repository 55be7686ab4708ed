# The simulated NVML library and its program, which stand alone: the library is loaded into programs of other people, and both
# are copied to machines that have nothing of ours. They need nothing but libc and libstdc++ at run time, so the sources that
# they are made of are compiled once more for them.
#
# Not with sanitizers: the programs that load the library would need their run time.

# The devices, their rules and their state: what both are made of. No compile commands: clang-tidy sees these sources in
# their modules.
function(berth_nvml_sim_parts)
  if(TARGET berth_nvml_sim_parts)
    return()
  endif()
  set(src ${PROJECT_SOURCE_DIR}/src)
  berth_code_of(sources domain/mig domain/mig/detail gpu/nvml_abi gpu/nvml_sim gpu/nvml_sim_state)
  list(APPEND sources ${src}/base/core/ensure.cc ${src}/base/core/text.cc ${src}/domain/values/gpu.cc)
  berth_compiled(compiled berth_nvml_sim_parts "${sources}")
  add_library(berth_nvml_sim_parts OBJECT ${compiled})
  target_include_directories(berth_nvml_sim_parts PUBLIC ${src})
  target_link_libraries(berth_nvml_sim_parts PUBLIC fmt::fmt-header-only tl::expected)
  set_target_properties(berth_nvml_sim_parts PROPERTIES
    POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    EXPORT_COMPILE_COMMANDS OFF)
endfunction()

# The sources of folders of src/, without tests.
function(berth_code_of variable)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/src/ OUTPUT_VARIABLE globs)
  list(TRANSFORM globs APPEND /*.cc)
  file(GLOB sources CONFIGURE_DEPENDS ${globs})
  list(FILTER sources EXCLUDE REGEX "(_(test|property|fuzz|bench)|/main)\\.cc$")
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# libberth-nvml-sim.so
function(berth_nvml_sim_library)
  if(BERTH_SANITIZE OR BERTH_COVERAGE)
    return()
  endif()
  berth_nvml_sim_parts()
  set(src ${PROJECT_SOURCE_DIR}/src)
  berth_code_of(sources gpu/nvml_sim_library)
  berth_compiled(compiled berth_nvml_sim_shared "${sources}")
  add_library(berth_nvml_sim_shared SHARED ${compiled})
  target_link_libraries(berth_nvml_sim_shared PRIVATE berth_nvml_sim_parts)
  set_target_properties(berth_nvml_sim_shared PROPERTIES
    OUTPUT_NAME berth-nvml-sim
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}
    NO_SONAME ON # the name that clients load is not that of the file
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    EXPORT_COMPILE_COMMANDS OFF
    LINK_DEPENDS ${src}/gpu/nvml_sim_library/exports.map)
  target_link_options(berth_nvml_sim_shared PRIVATE
    -Wl,-soname,libnvidia-ml.so.1 -Wl,--version-script=${src}/gpu/nvml_sim_library/exports.map -Wl,-z,defs -Wl,-z,now
    -Wl,-z,nodelete) # clients unload NVML at each shutdown, and load it again
  install(TARGETS berth_nvml_sim_shared LIBRARY DESTINATION lib COMPONENT nvml-sim)
endfunction()

# berth-nvml-sim, with what only it needs of the other modules, and libyaml and GMP in it.
function(berth_nvml_sim_program)
  if(BERTH_SANITIZE OR BERTH_COVERAGE)
    return()
  endif()
  find_library(BERTH_YAML_ARCHIVE libyaml.a)
  berth_need(FOUND BERTH_YAML_ARCHIVE LIBRARY "libyaml as an archive" PACKAGE libyaml-dev)
  find_library(BERTH_GMP_ARCHIVE libgmp.a)
  berth_need(FOUND BERTH_GMP_ARCHIVE LIBRARY "GMP as an archive" PACKAGE libgmp-dev)

  berth_nvml_sim_parts()
  berth_code_of(sources base/yaml gpu/nvml_sim_program)
  list(APPEND sources ${PROJECT_SOURCE_DIR}/src/base/core/decimal.cc)
  berth_compiled(compiled berth_nvml_sim_program_parts "${sources}")
  add_library(berth_nvml_sim_program_parts OBJECT ${compiled})
  set_target_properties(berth_nvml_sim_program_parts PROPERTIES EXPORT_COMPILE_COMMANDS OFF)
  target_include_directories(berth_nvml_sim_program_parts PRIVATE ${LIBYAML_INCLUDE_DIRS} ${GMPXX_INCLUDE_DIRS})
  target_link_libraries(berth_nvml_sim_program_parts PUBLIC berth_nvml_sim_parts nlohmann_json::nlohmann_json)

  add_executable(berth-nvml-sim ${CMAKE_CURRENT_SOURCE_DIR}/main.cc)
  target_compile_definitions(berth-nvml-sim PRIVATE BERTH_VERSION="${PROJECT_VERSION}")
  target_link_libraries(berth-nvml-sim PRIVATE berth_nvml_sim_program_parts berth_nvml_sim_parts
    CLI11::CLI11 ${BERTH_YAML_ARCHIVE} ${BERTH_GMP_ARCHIVE})
  set_target_properties(berth-nvml-sim PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})

  install(TARGETS berth-nvml-sim RUNTIME DESTINATION bin COMPONENT nvml-sim)
  install(FILES ${PROJECT_SOURCE_DIR}/docs/nvml_sim.md RENAME README.md
    DESTINATION share/doc/berth-nvml-sim COMPONENT nvml-sim)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE
    DESTINATION share/doc/berth-nvml-sim COMPONENT nvml-sim)
endfunction()

# What a test program opens when it runs: the simulated library, and for each version script testing/NAME.map of the
# calling folder one with fewer functions, tests/libberth-nvml-NAME.so.
function(berth_nvml_sim_for_tests test)
  if(BERTH_SANITIZE OR BERTH_COVERAGE OR NOT BERTH_TESTS)
    return()
  endif()
  add_dependencies(${test} berth_nvml_sim_shared)
  file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/testing/*.map)
  foreach(script IN LISTS scripts)
    get_filename_component(name ${script} NAME_WE)
    string(REPLACE "_" "-" file_name ${name})
    add_library(berth_nvml_${name} SHARED $<TARGET_OBJECTS:berth_nvml_sim_shared>)
    target_link_libraries(berth_nvml_${name} PRIVATE berth_nvml_sim_parts)
    set_target_properties(berth_nvml_${name} PROPERTIES
      LINKER_LANGUAGE CXX
      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests
      OUTPUT_NAME berth-nvml-${file_name}
      NO_SONAME ON
      LINK_DEPENDS ${script})
    target_link_options(berth_nvml_${name} PRIVATE -Wl,--version-script=${script} -Wl,-z,defs -Wl,-z,now)
    add_dependencies(${test} berth_nvml_${name})
  endforeach()
endfunction()
