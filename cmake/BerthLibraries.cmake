# Finds the third-party libraries and gives each one target name. For a missing one the message names its Debian package.

# berth_need(FOUND variable LIBRARY what PACKAGE debian-package)
function(berth_need)
  cmake_parse_arguments(ARG "" "FOUND;LIBRARY;PACKAGE" "" ${ARGN})
  if(NOT ${ARG_FOUND})
    message(FATAL_ERROR
      "${ARG_LIBRARY} is not installed. On Debian: apt-get install ${ARG_PACKAGE} (scripts/setup installs all that is missing)")
  endif()
endfunction()

find_package(PkgConfig QUIET)
berth_need(FOUND PKG_CONFIG_FOUND LIBRARY pkg-config PACKAGE pkg-config)

find_package(fmt CONFIG QUIET)
berth_need(FOUND fmt_FOUND LIBRARY fmt PACKAGE libfmt-dev)

find_package(tl-expected CONFIG QUIET)
berth_need(FOUND tl-expected_FOUND LIBRARY tl-expected PACKAGE libexpected-dev)

find_package(nlohmann_json CONFIG QUIET)
berth_need(FOUND nlohmann_json_FOUND LIBRARY nlohmann-json PACKAGE nlohmann-json3-dev)

find_package(CLI11 CONFIG QUIET)
berth_need(FOUND CLI11_FOUND LIBRARY CLI11 PACKAGE libcli11-dev)

find_package(simdjson CONFIG QUIET)
berth_need(FOUND simdjson_FOUND LIBRARY simdjson PACKAGE libsimdjson-dev)

find_package(ZLIB QUIET)
berth_need(FOUND ZLIB_FOUND LIBRARY zlib PACKAGE zlib1g-dev)

pkg_check_modules(LIBYAML QUIET IMPORTED_TARGET GLOBAL yaml-0.1)
berth_need(FOUND LIBYAML_FOUND LIBRARY libyaml PACKAGE libyaml-dev)
add_library(libyaml::libyaml ALIAS PkgConfig::LIBYAML)

pkg_check_modules(GMPXX QUIET IMPORTED_TARGET GLOBAL gmpxx gmp)
berth_need(FOUND GMPXX_FOUND LIBRARY "GMP for C++" PACKAGE libgmp-dev)
add_library(gmp::gmpxx ALIAS PkgConfig::GMPXX)

pkg_check_modules(CBC QUIET IMPORTED_TARGET GLOBAL cbc clp)
berth_need(FOUND CBC_FOUND LIBRARY "Cbc and Clp" PACKAGE coinor-libcbc-dev)
add_library(coin::cbc ALIAS PkgConfig::CBC)

pkg_check_modules(MICROHTTPD QUIET IMPORTED_TARGET GLOBAL libmicrohttpd)
berth_need(FOUND MICROHTTPD_FOUND LIBRARY libmicrohttpd PACKAGE libmicrohttpd-dev)
add_library(microhttpd::microhttpd ALIAS PkgConfig::MICROHTTPD)

pkg_check_modules(CURL QUIET IMPORTED_TARGET GLOBAL libcurl)
berth_need(FOUND CURL_FOUND LIBRARY libcurl PACKAGE libcurl4-openssl-dev)
add_library(curl::curl ALIAS PkgConfig::CURL)

pkg_check_modules(SQLITE QUIET IMPORTED_TARGET GLOBAL sqlite3>=3.37)
berth_need(FOUND SQLITE_FOUND LIBRARY "SQLite 3.37" PACKAGE libsqlite3-dev)
add_library(sqlite::sqlite ALIAS PkgConfig::SQLITE)

pkg_check_modules(SODIUM QUIET IMPORTED_TARGET GLOBAL libsodium)
berth_need(FOUND SODIUM_FOUND LIBRARY libsodium PACKAGE libsodium-dev)
add_library(sodium::sodium ALIAS PkgConfig::SODIUM)

find_package(Protobuf QUIET)
berth_need(FOUND Protobuf_FOUND LIBRARY "Protocol Buffers" PACKAGE libprotobuf-dev)
find_program(BERTH_PROTOC protoc)
berth_need(FOUND BERTH_PROTOC LIBRARY "The compiler of Protocol Buffers" PACKAGE protobuf-compiler)

# It comes without a file for CMake or pkg-config.
find_path(BERTH_ONNX_HEADERS onnx/onnx_pb.h)
find_library(BERTH_ONNX_LIBRARY onnx)
find_library(BERTH_ONNX_PROTO_LIBRARY onnx_proto)
berth_need(FOUND BERTH_ONNX_PROTO_LIBRARY LIBRARY libonnx PACKAGE libonnx-dev)
add_library(onnx_libraries INTERFACE)
target_include_directories(onnx_libraries SYSTEM INTERFACE ${BERTH_ONNX_HEADERS})
target_compile_definitions(onnx_libraries INTERFACE ONNX_NAMESPACE=onnx ONNX_ML=1)
target_link_libraries(onnx_libraries INTERFACE ${BERTH_ONNX_LIBRARY} ${BERTH_ONNX_PROTO_LIBRARY} protobuf::libprotobuf)
add_library(onnx::onnx ALIAS onnx_libraries)

pkg_check_modules(PROMETHEUS QUIET IMPORTED_TARGET GLOBAL prometheus-cpp-core)
berth_need(FOUND PROMETHEUS_FOUND LIBRARY prometheus-cpp PACKAGE prometheus-cpp-dev)
add_library(prometheus::core ALIAS PkgConfig::PROMETHEUS)

# It comes without a file for CMake or pkg-config.
find_path(BERTH_XGBOOST_HEADERS xgboost/c_api.h)
find_library(BERTH_XGBOOST_LIBRARY xgboost)
berth_need(FOUND BERTH_XGBOOST_LIBRARY LIBRARY XGBoost PACKAGE libxgboost-dev)
add_library(xgboost_library INTERFACE)
target_include_directories(xgboost_library SYSTEM INTERFACE ${BERTH_XGBOOST_HEADERS})
target_link_libraries(xgboost_library INTERFACE ${BERTH_XGBOOST_LIBRARY})
add_library(xgboost::xgboost ALIAS xgboost_library)

pkg_check_modules(LIBZIP QUIET IMPORTED_TARGET GLOBAL libzip)
berth_need(FOUND LIBZIP_FOUND LIBRARY libzip PACKAGE libzip-dev)
add_library(libzip::libzip ALIAS PkgConfig::LIBZIP)

# Not in Debian 12: scripts/setup gets it. Without its headers there is no engine for models.
if(DEFINED ENV{XDG_CACHE_HOME})
  set(BERTH_CACHE_FOLDER $ENV{XDG_CACHE_HOME}/berth)
else()
  set(BERTH_CACHE_FOLDER $ENV{HOME}/.cache/berth)
endif()
find_path(BERTH_ONNXRUNTIME_HEADERS onnxruntime_cxx_api.h
  PATHS ${BERTH_CACHE_FOLDER}/onnxruntime-1.32.0/include PATH_SUFFIXES onnxruntime)
if(BERTH_ONNXRUNTIME_HEADERS)
  add_library(onnxruntime_headers INTERFACE)
  target_include_directories(onnxruntime_headers SYSTEM INTERFACE ${BERTH_ONNXRUNTIME_HEADERS})
  target_link_libraries(onnxruntime_headers INTERFACE ${CMAKE_DL_LIBS})
  add_library(onnxruntime::headers ALIAS onnxruntime_headers)
else()
  message(STATUS "The engine for models is left out: the headers of ONNX Runtime are missing (scripts/setup gets them)")
endif()

# Without them `berth serve` speaks HTTP only. Without TLS, which the server does not offer: a program that is linked with
# it takes 5 ms longer to start.
pkg_check_modules(GRPC QUIET IMPORTED_TARGET GLOBAL grpc++_unsecure protobuf-lite)
find_program(BERTH_PROTOC protoc)
if(GRPC_FOUND AND BERTH_PROTOC)
  add_library(grpc::grpc ALIAS PkgConfig::GRPC)
else()
  message(STATUS "gRPC is left out: on Debian: apt-get install libgrpc++-dev libprotobuf-dev protobuf-compiler (scripts/setup)")
endif()

# The report page carries d3 with it, so that it opens without a network.
find_file(BERTH_D3_FILE d3.min.js PATHS /usr/share/javascript/d3 NO_DEFAULT_PATH)
berth_need(FOUND BERTH_D3_FILE LIBRARY d3 PACKAGE libjs-d3)

if(BERTH_TESTS)
  find_package(GTest CONFIG QUIET)
  find_package(rapidcheck CONFIG QUIET)
  # python3-yaml belongs to the system's Python, which need not be the first one on the path.
  find_program(BERTH_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
  find_program(BERTH_PYTHON python3)
  if(BERTH_TESTS STREQUAL "AUTO" AND NOT (GTest_FOUND AND rapidcheck_FOUND AND BERTH_PYTHON))
    message(STATUS "Tests are left out: GoogleTest, RapidCheck or Python 3 is not installed (scripts/setup test)")
    set(BERTH_TESTS OFF)
  else()
    berth_need(FOUND GTest_FOUND LIBRARY GoogleTest PACKAGE "libgtest-dev libgmock-dev")
    berth_need(FOUND rapidcheck_FOUND LIBRARY RapidCheck PACKAGE librapidcheck-dev)
    berth_need(FOUND BERTH_PYTHON LIBRARY "Python 3" PACKAGE python3)
  endif()
endif()

if(BERTH_BENCH)
  find_package(benchmark CONFIG QUIET)
  berth_need(FOUND benchmark_FOUND LIBRARY "Google Benchmark" PACKAGE libbenchmark-dev)
endif()
