/// How a model server is started: the checked options of `berth serve`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "serving/dispatch/terms.h"

namespace berth::serving {

struct LoopbackAddress {
  std::string host;
  std::uint16_t port = 0;  ///< 0: any free one
};

enum class DeviceKind {
  kCpu,
  kCuda,
  kSimulated,  ///< answers are computed on the processor, and take as long as a file states
};

struct ServeRequest {
  bool is_demo = false;                   ///< with models and load of its own, for a minute
  std::optional<std::string> repository;  ///< a folder; nothing: only backends
  LoopbackAddress http;
  LoopbackAddress grpc;
  std::optional<std::int64_t> memory;  ///< bytes for models; nothing: the device's
  DeviceKind device = DeviceKind::kCpu;
  int cuda_index = 0;                 ///< of kCuda
  std::string device_file = {};       ///< of kSimulated
  std::optional<int> threads;         ///< lanes of kCpu; nothing: the cores that the process may use
  std::optional<std::string> engine;  ///< the library of ONNX Runtime; nothing: where scripts/setup puts it
  std::optional<std::string> config;  ///< tenants and backends
  std::optional<std::string> series;  ///< a file for a line per model and second
  std::optional<std::string> usage;   ///< a file for lane time by tenant
  std::optional<std::string> cache;   ///< a folder for optimised models
  DispatchPolicy policy = {};
  EvictionRule eviction = EvictionRule::kValue;
};

}  // namespace berth::serving
