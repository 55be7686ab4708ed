/// The memory of models and their runs, which ONNX Runtime asks for.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace berth::edges::detail {

/// Blocks of memory for all models. What a run gives back is kept for the next run, of whichever model: the library's
/// own arenas keep, for each model, the most that one of its runs ever took.
class ModelMemory {
 public:
  /// `bytes_max`: of all blocks together; a run that wants more fails. 0: any number.
  explicit ModelMemory(std::int64_t bytes_max) : bytes_max_(bytes_max) {}
  ModelMemory(const ModelMemory&) = delete;
  ModelMemory& operator=(const ModelMemory&) = delete;
  ~ModelMemory() { trim(); }

  /// Aligned to 64 bytes. Throws std::bad_alloc: the system has none; or the thread is in a `ThreadUse` of a run, and
  /// the limit would be passed.
  [[nodiscard]] void* take(std::size_t bytes);
  void give(void* block) noexcept;
  /// Gives the system what is kept for later runs.
  void trim() noexcept;

  [[nodiscard]] std::int64_t bytes_taken() const { return taken_; }
  [[nodiscard]] std::int64_t bytes_max() const { return bytes_max_; }

 private:
  [[nodiscard]] void* find_kept(std::size_t bytes);
  void check_limit(std::size_t bytes);

  const std::int64_t bytes_max_;
  std::atomic<std::int64_t> taken_ = 0;
  std::mutex lock_;                                 ///< of the following
  std::map<std::size_t, std::vector<void*>> kept_;  ///< by size
  std::size_t kept_bytes_ = 0;
};

/// What a thread takes from a ModelMemory, from here to the end of the scope. A thread has one at a time.
class ThreadUse {
 public:
  enum class Kind { kLoad, kRun };
  explicit ThreadUse(Kind kind);
  ThreadUse(const ThreadUse&) = delete;
  ThreadUse& operator=(const ThreadUse&) = delete;
  ~ThreadUse();

  /// Taken and not given back since.
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  [[nodiscard]] std::int64_t bytes_peak() const { return peak_; }
  /// What was refused because of the limit; 0: nothing.
  [[nodiscard]] std::int64_t bytes_refused() const { return refused_; }

 private:
  friend class ModelMemory;
  static void add(std::int64_t bytes);
  [[nodiscard]] static bool is_run();

  Kind kind_;
  std::int64_t bytes_ = 0;
  std::int64_t peak_ = 0;
  std::int64_t refused_ = 0;
};

}  // namespace berth::edges::detail
