# The simulated NVML library and its program, which stand alone: the library is loaded into programs of other people, and both
# are copied to machines that have nothing of ours. They need nothing but libc and libstdc++ at run time. They are made of the
# archives of modules that say PORTABLE (cmake/BerthModule.cmake), by path, so that no library that those modules name is linked.
#
# Not with sanitizers: the programs that load the library would need their run time.

# Links the archives of these modules, the highest first, and what their headers need.
function(berth_link_portable target)
  foreach(module IN LISTS ARGN)
    target_link_libraries(${target} PRIVATE $<TARGET_FILE:berth_${module}>)
    add_dependencies(${target} berth_${module})
  endforeach()
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE fmt::fmt-header-only tl::expected)
endfunction()

# libberth-nvml-sim.so, of the objects of the module edges_nvml_sim_library.
function(berth_nvml_sim_library)
  if(BERTH_SANITIZE OR BERTH_COVERAGE)
    return()
  endif()
  set(exports ${CMAKE_CURRENT_SOURCE_DIR}/exports.map)
  add_library(berth_nvml_sim_shared SHARED $<TARGET_OBJECTS:berth_edges_nvml_sim_library>)
  berth_link_portable(berth_nvml_sim_shared edges_nvml_sim_state nvml_sim nvml_abi mig domain base)
  set_target_properties(berth_nvml_sim_shared PROPERTIES
    LINKER_LANGUAGE CXX
    OUTPUT_NAME berth-nvml-sim
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}
    NO_SONAME ON # the name that clients load is not that of the file
    LINK_DEPENDS ${exports})
  target_link_options(berth_nvml_sim_shared PRIVATE
    -Wl,-soname,libnvidia-ml.so.1 -Wl,--version-script=${exports} -Wl,-z,defs -Wl,-z,now
    -Wl,-z,nodelete) # clients unload NVML at each shutdown, and load it again
  install(TARGETS berth_nvml_sim_shared LIBRARY DESTINATION lib COMPONENT nvml-sim)
endfunction()

# berth-nvml-sim, with libyaml and GMP in it.
function(berth_nvml_sim_program)
  if(BERTH_SANITIZE OR BERTH_COVERAGE)
    return()
  endif()
  find_library(BERTH_YAML_ARCHIVE libyaml.a)
  berth_need(FOUND BERTH_YAML_ARCHIVE LIBRARY "libyaml as an archive" PACKAGE libyaml-dev)
  find_library(BERTH_GMP_ARCHIVE libgmp.a)
  berth_need(FOUND BERTH_GMP_ARCHIVE LIBRARY "GMP as an archive" PACKAGE libgmp-dev)

  add_executable(berth-nvml-sim ${CMAKE_CURRENT_SOURCE_DIR}/main.cc)
  target_compile_definitions(berth-nvml-sim PRIVATE BERTH_VERSION="${PROJECT_VERSION}")
  berth_link_portable(berth-nvml-sim surface_nvml_sim edges_nvml_sim_state nvml_sim nvml_abi mig json yaml domain base)
  target_link_libraries(berth-nvml-sim PRIVATE CLI11::CLI11 ${BERTH_YAML_ARCHIVE} ${BERTH_GMP_ARCHIVE})
  set_target_properties(berth-nvml-sim PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})

  install(TARGETS berth-nvml-sim RUNTIME DESTINATION bin COMPONENT nvml-sim)
  install(FILES ${PROJECT_SOURCE_DIR}/docs/reference/nvml_sim.md RENAME README.md
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
    add_library(berth_nvml_${name} SHARED $<TARGET_OBJECTS:berth_edges_nvml_sim_library>)
    berth_link_portable(berth_nvml_${name} edges_nvml_sim_state nvml_sim nvml_abi mig domain base)
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
