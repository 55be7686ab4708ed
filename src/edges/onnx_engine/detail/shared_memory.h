/// A ModelMemory as the allocator of all sessions of an environment of ONNX Runtime.
#pragma once

#include "edges/onnx_engine/detail/model_memory.h"
#include "edges/onnx_runtime/onnx_headers.h"

namespace berth::edges::detail {

/// Sessions use it that have the option "session.use_env_allocators". The sessions must end first.
class SharedMemory {
 public:
  /// Throws Ort::Exception if the environment has such an allocator: a process has one environment.
  SharedMemory(Ort::Env& env, std::int64_t bytes_max);
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  [[nodiscard]] ModelMemory& memory() { return allocator_.memory; }

 private:
  struct Allocator : OrtAllocator {
    explicit Allocator(std::int64_t bytes_max);

    ModelMemory memory;
    Ort::MemoryInfo memory_info = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
  };

  Ort::Env& env_;
  Allocator allocator_;
};

}  // namespace berth::edges::detail
