/// The points that count: of each model, place, batch and number of processes the newest, or what servers observed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "domain/ports/profile_store.h"
#include "domain/values/profile_run.h"

namespace berth::profile_book {

/// From so many batches on, what was observed replaces what was measured.
inline constexpr std::int64_t kReplacingBatches = 200;
/// An observed mean that is off by this share or more is drift.
inline constexpr double kDriftShare = 0.1;

/// Observed batches of one size.
struct ObservedMean {
  std::int64_t count = 0;  ///< >= 1
  double mean_us = 0;
  /// Half of the 95 % interval of the mean (normal); absent with fewer than 10 batches.
  std::optional<double> half_us = {};
  friend bool operator==(const ObservedMean&, const ObservedMean&) = default;
};

struct PointInForce {
  ProfilePoint measured;  ///< of its times 0, where the point was only observed
  std::int64_t run = 0;   ///< in which it was measured; 0: it was only observed
  std::optional<ObservedMean> observed = {};

  /// Whether the observed mean counts in place of the measured one.
  [[nodiscard]] bool is_replaced() const { return observed && observed->count >= kReplacingBatches; }
  /// Whether the observed mean is off by 10 % or more. With fewer than 200 batches only if all of its interval is.
  [[nodiscard]] bool is_drift() const;
  friend bool operator==(const PointInForce&, const PointInForce&) = default;
};

/// A kind of slice that was named with --as, or a machine.
struct PlaceInForce {
  std::string label = {};         ///< "A100-80GB:1g.10gb"; empty: the machine is the place
  ProfilingMachine machine = {};  ///< of the newest run; of a place that was only observed just the device
  std::int64_t run = 0;           ///< the newest; 0: only observed
  std::optional<std::int64_t> memory_at_load_bytes = {};
  std::vector<PointInForce> points = {};  ///< sorted by (processes, batch), no two with the same
  friend bool operator==(const PlaceInForce&, const PlaceInForce&) = default;
};

/// A name, and its newest content.
struct ModelInForce {
  std::string name;
  /// Of the newest run; figures that it does not know are those of the newest run that does.
  ProfiledModel model = {};
  std::vector<PlaceInForce> places = {};  ///< by label and machine
  /// Observed batches of the name whose content is another one than the model's: they count nowhere.
  std::int64_t batches_of_other_content = 0;
  friend bool operator==(const ModelInForce&, const ModelInForce&) = default;
};

/// The name in what a server says of its device: "NVIDIA A30" of "cuda:0: NVIDIA A30", "A" of "simulated: A".
[[nodiscard]] std::string_view device_name(std::string_view device);

/// By name. The model of a name is the content (sha256) of its newest run that knows one; runs with another content do
/// not count, runs without one do. Without runs it is the content that was observed last.
///
/// Observed sums belong to the model by their content, or by their name where one of both contents is unknown, and to
/// the place whose device or label is the name of theirs, or with a run of their url: of several the one with the
/// newest run; if there is none, they are a place of their own. They replace points of the fewest processes that were
/// measured. A size that was not measured counts only in a place without any run, from 200 batches on. O(n log n).
[[nodiscard]] std::vector<ModelInForce> points_in_force(std::span<const ProfileRun> runs,
                                                        std::span<const ObservedSum> sums);

}  // namespace berth::profile_book
