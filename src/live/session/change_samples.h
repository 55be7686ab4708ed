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

/// Of how many samples the median is taken.
inline constexpr std::size_t kTimeSamplesMax = 9;

class ChangeSamples {
 public:
  /// A device was told to make this change.
  void begin(std::uint64_t intent, ChangeKind change) { open_[intent] = std::move(change); }
  /// What became of it. Only what was done by calls of the driver's library says how long it takes. Returns the kind
  /// of change of which there is one sample more; nothing: of none.
  std::optional<ChangeKind> end(const DeviceEnded& ended);
  /// Another process went on: nothing that was under way ends any more.
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
    std::vector<Micros> last;  ///< the oldest first, at most kTimeSamplesMax
    std::int64_t count = 0;
  };
  [[nodiscard]] static MeasuredTime median_of(const Samples& samples);

  std::map<std::uint64_t, ChangeKind> open_;  ///< by number of the intent
  std::map<ChangeKind, Samples> samples_;
};

/// Whether plans should count on a measured time from now on, instead of `known`: it differs by 10 % and 50 ms at
/// least, and there are enough samples. Each such time makes plans begin anew.
[[nodiscard]] bool is_worth_learning(Micros known, const MeasuredTime& measured);
/// Whether a kind of change is looked at after that many samples: 3, 5, 9 and each kTimeSamplesMax more.
[[nodiscard]] bool is_looked_at(std::int64_t count);

}  // namespace berth::live
