/// A service: a model with a latency target, its load, its retraining and its owner's constraints.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/instant.h"
#include "domain/values/arrivals.h"
#include "domain/values/performance.h"
#include "domain/values/readiness.h"
#include "domain/values/running.h"
#include "domain/values/slice.h"
#include "domain/values/tier_rule.h"

namespace berth {

class ArchiveReader;
class ArchiveWriter;

/// What happens to requests that can no longer be answered in time.
enum class DropRule { kEarly, kNever };

/// The weakest separation from other services that a service accepts, strongest first.
enum class Isolation { kGpu, kMig, kMps, kTimeslice };

/// Accuracies of a model, in millionths: the worth of an answer in time.
struct Accuracy {
  std::int64_t before_micro = 1'000'000;  ///< stale: from a retraining's due time until its end
  std::int64_t after_micro = 1'000'000;
  friend bool operator==(const Accuracy&, const Accuracy&) = default;
};

/// Rules for choosing the operating point.
struct Batching {
  Decimal slo_factor = Decimal(45, 100);  ///< a point's latency must be below factor x target
  int processes_max = 3;
  friend bool operator==(const Batching&, const Batching&) = default;
};

/// Periodic retraining (continual learning).
struct Retraining {
  Micros every;
  Micros offset;
  Micros swap;
  bool keeps_unfinished = false;  ///< `unfinished: continue`
  /// Time on a slice of that many compute slices; key 0 is the whole GPU ("full"). A size not listed cannot retrain.
  std::map<int, Micros> time_on;
  friend bool operator==(const Retraining&, const Retraining&) = default;
};

/// Another form of the same model (precision, pruning).
struct Variant {
  std::string name;
  PerformanceTable table;
  Accuracy accuracy;
  friend bool operator==(const Variant&, const Variant&) = default;
};

/// A slice that its owner must keep.
struct Pin {
  Slice slice;
  friend bool operator==(const Pin&, const Pin&) = default;
};

/// What was agreed on with those who use a service, so that people see whether it is kept. No plan and no replay uses
/// it.
struct Agreement {
  std::optional<Decimal> attainment;  ///< the share of requests that are answered in time, above 0, below 1

  /// Nothing: whoever writes specs as bytes saves it apart, as earlier versions have none.
  template <class Archive, class Self>
  static void archive_fields(Archive& /*archive*/, Self& /*self*/) {}
  friend bool operator==(const Agreement&, const Agreement&) = default;
};

/// Everything that a scenario states about one service.
struct ServiceSpec {
  bool is_absent = false;  ///< the place of a removed service, until another one takes it
  std::string name;
  std::string tenant;
  Micros target;      ///< latency target, > 0, in whole microseconds
  Decimal target_ms;  ///< the same, exactly as written
  Batching batching;
  DropRule drop = DropRule::kEarly;
  Arrivals arrivals;
  Micros start = Micros::seconds(5);  ///< from an empty slice to the first answer
  PerformanceTable table;             ///< variant 0, the model itself
  Accuracy accuracy;
  std::optional<Retraining> retraining;
  std::vector<Variant> variants;  ///< variants 1, 2, ..
  Decimal weight = Decimal(1);    ///< > 0
  std::optional<Decimal> floor_attainment;
  std::optional<Decimal> expects;  ///< requests per second to plan for until the load is known, > 0
  std::vector<Pin> pins;
  std::optional<std::int64_t> changes_per_hour;
  Isolation isolation = Isolation::kMig;
  std::optional<std::string> trust_domain;
  Agreement agreed;
  TierRule tier;
  Readiness ready;
  Running running;

  static void archive_fields(ArchiveWriter& archive, const ServiceSpec& spec);
  static void archive_fields(ArchiveReader& archive, ServiceSpec& spec);
  friend bool operator==(const ServiceSpec&, const ServiceSpec&);
};

/// Whether isolation and trust domains allow slices of two services on one GPU.
[[nodiscard]] bool may_share_gpu(const ServiceSpec& a, const ServiceSpec& b);

/// The placeholder for a service that was removed: its name, but no model, no load, no constraints.
[[nodiscard]] ServiceSpec absent_service(const ServiceSpec& removed);

}  // namespace berth
