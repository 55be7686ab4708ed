# The simulated NVML library. It is loaded into programs of other people, so it needs nothing but libc and libstdc++ at run
# time and shows nothing but NVML's names: the sources that it is made of are compiled once more for it.
#
# Not with sanitizers: the programs that load it would need their run time.
function(berth_nvml_sim_library)
  if(BERTH_SANITIZE OR BERTH_COVERAGE)
    return()
  endif()
  set(src ${PROJECT_SOURCE_DIR}/src)
  file(GLOB sources CONFIGURE_DEPENDS ${src}/mig/*.cc ${src}/mig/detail/*.cc ${src}/nvml_abi/*.cc ${src}/nvml_sim/*.cc
    ${src}/edges/nvml_sim_state/*.cc ${src}/edges/nvml_sim_library/*.cc)
  list(FILTER sources EXCLUDE REGEX "_(test|property|fuzz|bench)\\.cc$")
  list(APPEND sources ${src}/base/ensure.cc ${src}/base/text.cc ${src}/domain/gpu.cc)

  add_library(berth_nvml_sim_shared SHARED ${sources})
  target_include_directories(berth_nvml_sim_shared PRIVATE ${src})
  target_link_libraries(berth_nvml_sim_shared PRIVATE fmt::fmt-header-only tl::expected)
  set_target_properties(berth_nvml_sim_shared PROPERTIES
    OUTPUT_NAME berth-nvml-sim
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}
    NO_SONAME ON # the name that clients load is not that of the file
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    LINK_DEPENDS ${src}/edges/nvml_sim_library/exports.map)
  target_link_options(berth_nvml_sim_shared PRIVATE
    -Wl,-soname,libnvidia-ml.so.1 -Wl,--version-script=${src}/edges/nvml_sim_library/exports.map -Wl,-z,defs -Wl,-z,now)
endfunction()
