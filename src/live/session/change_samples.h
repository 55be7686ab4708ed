/// How long changes took on the devices outside: samples by kind of change, and the times that plans may count on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "domain/values/change_times.h"

namespace berth::live {

struct DeviceEnded;

/// The median is taken over at most this many samples.
inline constexpr std::size_t kTimeSamplesMax = 9;

class ChangeSamples {
 public:
  /// Records that a device was ordered to make this change.
  void begin(std::uint64_t intent, ChangeKind change) { open_[intent] = std::move(change); }
  /// Records its outcome. Only a change that calls of the driver's library carried out gives a sample. Returns the kind
  /// of change that got one; nothing: none did.
  std::optional<ChangeKind> end(const DeviceEnded& ended);
  /// Adds a sample of a change that is not of a device: the start of a program. Requires: it took a time.
  void add(const ChangeKind& change, Micros took);
  /// Another process has taken over: no open change will end any more.
  void forget_open() { open_.clear(); }

  /// By kind, in time of the devices: the median of the last kTimeSamplesMax, and the count of all. O(samples).
  [[nodiscard]] MeasuredTimes times() const;
  /// The same of one kind. Requires: it was measured.
  [[nodiscard]] MeasuredTime time_of(const ChangeKind& change) const;

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.open_, self.samples_);
    for (const auto& [change, samples] : self.samples_) {
      archive.require(!samples.last.empty() && samples.last.size() <= kTimeSamplesMax);
    }
  }

 private:
  struct Samples {
    std::vector<Micros> last;  ///< oldest first, at most kTimeSamplesMax
    std::int64_t count = 0;
  };
  [[nodiscard]] static MeasuredTime median_of(const Samples& samples);

  std::map<std::uint64_t, ChangeKind> open_;  ///< by number of the intent
  std::map<ChangeKind, Samples> samples_;
};

/// Whether plans should use a measured time from now on, instead of `known`: it differs by at least 10 % and 50 ms, and
/// there are enough samples. Each such update makes planning start again.
[[nodiscard]] bool is_worth_learning(Micros known, const MeasuredTime& measured);
/// Whether to examine a kind of change after that many samples: 3, 5, 9 and every kTimeSamplesMax after that.
[[nodiscard]] bool is_looked_at(std::int64_t count);

}  // namespace berth::live
