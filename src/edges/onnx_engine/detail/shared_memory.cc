#include "edges/onnx_engine/detail/shared_memory.h"

namespace berth::edges::detail {

SharedMemory::Allocator::Allocator(std::int64_t bytes_max) : OrtAllocator(), memory(bytes_max) {
  version = ORT_API_VERSION;
  // An exception passes through the library, which makes a failed run of it.
  Alloc = [](OrtAllocator* self, std::size_t bytes) { return static_cast<Allocator*>(self)->memory.take(bytes); };
  Reserve = Alloc;
  Free = [](OrtAllocator* self, void* block) { static_cast<Allocator*>(self)->memory.give(block); };
  Info = [](const OrtAllocator* self) -> const OrtMemoryInfo* {
    return static_cast<const Allocator*>(self)->memory_info;
  };
}

SharedMemory::SharedMemory(Ort::Env& env, std::int64_t bytes_max) : env_(env), allocator_(bytes_max) {
  Ort::ThrowOnError(Ort::GetApi().RegisterAllocator(env_, &allocator_));
}

SharedMemory::~SharedMemory() {
  Ort::Status(Ort::GetApi().UnregisterAllocator(env_, allocator_.memory_info));  // it is registered
}

}  // namespace berth::edges::detail
