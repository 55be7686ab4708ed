/// Sets of events that clients wait for. Each set stores which events of which GPUs it wants, and its read position.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "gpu/nvml_sim/state.h"

namespace berth::edges {

/// Thread-safe. A set is known by its number, from 1.
class EventSets {
 public:
  /// Creates an empty set. Nothing: there are kSetsMax already.
  [[nodiscard]] std::optional<std::uint64_t> create();
  /// False: no such set.
  [[nodiscard]] bool free(std::uint64_t set);
  /// Adds events of a GPU, from the next one on. False: no such set.
  [[nodiscard]] bool add(std::uint64_t set, std::uint32_t gpu, std::uint64_t types,
                         const nvml_sim::MachineRecord& machine);

  enum class Found { kEvent, kNothing, kNoSet };
  struct Next {
    Found found = Found::kNothing;
    nvml_sim::EventRecord event;
  };
  /// The GPUs of which the set wants events: bit N is GPU N. None: no such set.
  [[nodiscard]] std::uint64_t gpus_of(std::uint64_t set);
  /// Takes the next posted event that the set wants.
  [[nodiscard]] Next take(std::uint64_t set, const nvml_sim::MachineRecord& machine);

  void clear();
  std::mutex& mutex() { return mutex_; }

 private:
  static constexpr std::size_t kSetsMax = 4096;
  struct Set {
    std::array<std::uint64_t, nvml_sim::kGpusMax> types{};
    std::array<std::uint64_t, nvml_sim::kGpusMax> from{};  ///< position of the first event that counts for the GPU
    std::uint64_t position = 0;
  };
  std::mutex mutex_;
  std::uint64_t made_ = 0;
  std::map<std::uint64_t, Set> sets_;
};

}  // namespace berth::edges
