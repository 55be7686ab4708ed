/// The interface to the database of `berth profile`. Nothing in it is overwritten.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/values/profile_run.h"

namespace berth {

/// All observed batches of one (url, model, version, sha256, device, batch), added up over all starts of the server.
struct ObservedSum {
  std::string url = {};
  ObservedTimes times = {};
  std::int64_t last_us = 0;  ///< of the epoch: when a report of it was added last
  friend bool operator==(const ObservedSum&, const ObservedSum&) = default;
};

/// The last that was reported of a model's memory.
struct ObservedMemorySum {
  std::string url = {};
  ObservedMemory memory = {};
  std::int64_t last_us = 0;
  friend bool operator==(const ObservedMemorySum&, const ObservedMemorySum&) = default;
};

/// Not to be used by two threads at a time. Errors of all calls: kUnavailable (locked for too long, full, not
/// readable or not writable), kInvalidInput (damaged).
class ProfileStore {
 public:
  virtual ~ProfileStore() = default;

  /// Adds runs, all of them or none, and returns the id of the first; the others follow in their order. Safe beside
  /// other writers. The ids of `runs` are ignored. kInvalidInput also for a figure that is not finite, and for points
  /// that are not sorted or not unique. Requires: at least one run.
  [[nodiscard]] virtual Result<std::int64_t> add_all(std::span<const ProfileRun> runs) = 0;
  /// The same for one run.
  [[nodiscard]] Result<std::int64_t> add(const ProfileRun& run) { return add_all({&run, 1}); }
  /// All runs, by id.
  [[nodiscard]] virtual Result<std::vector<ProfileRun>> runs() = 0;
  /// Adds a report, and returns the number of batches that no earlier report had: what an earlier one of the same url
  /// and start counted is not counted again; another start counts from zero.
  [[nodiscard]] virtual Result<std::int64_t> observe(const TimesReport& report, std::int64_t now_us) = 0;
  /// By url, model, version, sha256, device and batch.
  [[nodiscard]] virtual Result<std::vector<ObservedSum>> observed() = 0;
  /// By url, model and version.
  [[nodiscard]] virtual Result<std::vector<ObservedMemorySum>> observed_memory() = 0;
};

}  // namespace berth
