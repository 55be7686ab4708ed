/// The interface to the database of `berth profile`. Nothing in it is overwritten.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/values/profile_run.h"

namespace berth {

/// All observed batches of one (url, model, version, sha256, device, batch), added up over all reports.
struct ObservedSum {
  std::string url;
  ObservedTimes times;
  std::int64_t last_us = 0;  ///< of the epoch: when the last report was added
  friend bool operator==(const ObservedSum&, const ObservedSum&) = default;
};

class ProfileStore {
 public:
  virtual ~ProfileStore() = default;

  /// Adds a run, all of it or nothing, and returns its id. Safe beside other writers. Errors: kUnavailable (busy for
  /// too long, full, not writable), kInvalidInput (damaged).
  [[nodiscard]] virtual Result<std::int64_t> add(const ProfileRun& run) = 0;
  /// All runs, by id.
  [[nodiscard]] virtual Result<std::vector<ProfileRun>> runs() = 0;
  /// Adds what a report has beyond the last one of the same url and start; returns the number of new batches. A report
  /// with a newer start counts from zero.
  [[nodiscard]] virtual Result<std::int64_t> observe(const TimesReport& report, std::int64_t now_us) = 0;
  [[nodiscard]] virtual Result<std::vector<ObservedSum>> observed() = 0;
};

}  // namespace berth
