#include "edges/onnx_engine/detail/model_memory.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>
#include <utility>

#include "base/core/ensure.h"

namespace berth::edges::detail {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHeaderBytes = kAlignment;  ///< before a block: its size
constexpr std::size_t kSmallestBytes = 256;
/// What idle runs may keep: the rest of a large run goes back to the system, which costs a few percent of its time.
constexpr std::size_t kKeptBytesMax = std::size_t{32} << 20U;

/// The library calls back without saying for which model: it does so in the thread that loads or runs it.
thread_local ThreadUse* thread_use = nullptr;

/// Sizes that blocks have, so that they can be used again: eight to each doubling.
std::size_t rounded(std::size_t bytes) {
  if (bytes <= kSmallestBytes) return kSmallestBytes;
  const std::size_t step = std::bit_floor(bytes) / 8;
  return (bytes + step - 1) / step * step;
}

void* block_of(void* memory, std::size_t bytes) {
  *static_cast<std::size_t*>(memory) = bytes;
  return static_cast<char*>(memory) + kHeaderBytes;
}

void* memory_of(void* block) { return static_cast<char*>(block) - kHeaderBytes; }

std::size_t bytes_of_block(void* block) { return *static_cast<std::size_t*>(memory_of(block)); }

}  // namespace

ThreadUse::ThreadUse(Kind kind) : kind_(kind) {
  ENSURE(thread_use == nullptr);
  thread_use = this;
}

ThreadUse::~ThreadUse() { thread_use = nullptr; }

bool ThreadUse::is_run() { return thread_use != nullptr && thread_use->kind_ == Kind::kRun; }

void ThreadUse::add(std::int64_t bytes) {
  if (thread_use == nullptr) return;
  thread_use->bytes_ += bytes;
  thread_use->peak_ = std::max(thread_use->peak_, thread_use->bytes_);
}

void* ModelMemory::take(std::size_t bytes) {
  const bool is_run = ThreadUse::is_run();
  const std::size_t size = is_run ? rounded(bytes) : bytes;  // weights stay, and take what they need
  void* block = is_run ? find_kept(size) : nullptr;
  if (block == nullptr) {
    if (is_run) check_limit(size);
    void* memory = nullptr;
    if (::posix_memalign(&memory, kAlignment, size + kHeaderBytes) != 0) throw std::bad_alloc();
    block = block_of(memory, size);
  }
  taken_ += static_cast<std::int64_t>(size);
  ThreadUse::add(static_cast<std::int64_t>(size));
  return block;
}

void* ModelMemory::find_kept(std::size_t bytes) {
  const std::scoped_lock hold(lock_);
  const auto found = kept_.find(bytes);
  if (found == kept_.end() || found->second.empty()) return nullptr;
  void* block = found->second.back();
  found->second.pop_back();
  kept_bytes_ -= bytes;
  return block;
}

void ModelMemory::check_limit(std::size_t bytes) {
  if (bytes_max_ == 0) return;
  const auto wanted = static_cast<std::int64_t>(bytes);
  std::int64_t kept = 0;
  {
    const std::scoped_lock hold(lock_);
    kept = static_cast<std::int64_t>(kept_bytes_);
  }
  if (taken_ + kept + wanted <= bytes_max_) return;
  trim();
  if (taken_ + wanted <= bytes_max_) return;
  thread_use->refused_ = wanted;
  throw std::bad_alloc();
}

void ModelMemory::give(void* block) noexcept {
  if (block == nullptr) return;
  const std::size_t bytes = bytes_of_block(block);
  taken_ -= static_cast<std::int64_t>(bytes);
  ThreadUse::add(-static_cast<std::int64_t>(bytes));
  if (ThreadUse::is_run() && bytes == rounded(bytes)) {
    const std::scoped_lock hold(lock_);
    if (kept_bytes_ + bytes <= kKeptBytesMax) {
      kept_[bytes].push_back(block);
      kept_bytes_ += bytes;
      return;
    }
  }
  std::free(memory_of(block));
}

void ModelMemory::trim() noexcept {
  std::map<std::size_t, std::vector<void*>> kept;
  {
    const std::scoped_lock hold(lock_);
    kept = std::exchange(kept_, {});
    kept_bytes_ = 0;
  }
  for (const auto& [bytes, blocks] : kept) {
    for (void* block : blocks) std::free(memory_of(block));
  }
}

}  // namespace berth::edges::detail
