/// Which services with a warm pool (Readiness::warm_pool) have slices while they have no load, and why. The rule is
/// that of serving/warm: load where a cold start, times its probability, costs more than an idle minute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "domain/values/running.h"
#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"
#include "domain/values/warm_state.h"
#include "serving/warm/gap_memory.h"
#include "serving/warm/predictor.h"

namespace berth {

class ArchiveReader;
class ArchiveWriter;

/// A service that was not asked for so long has no load.
inline constexpr std::int64_t kQuietSeconds = 5;
/// The idle minutes that a cold start is worth where nothing is said of its cost, as in `berth warm`.
inline constexpr double kColdMinutes = 30;

/// Keeps what was learned of each such service, by minutes, and decides when a minute begins, also the one in which a
/// slice would be ready that is ordered now.
///
/// A service has load while a request came or waited in the last kQuietSeconds, and as long as its owner expects load
/// that was not seen yet (`expects`). Then it has at least one slice. Without load it keeps the slices of `min`, or one
/// if that is worthwhile in one of both minutes and the idle slices of the last hour and of the next minute cost at
/// most `usd_per_hour`. An idle minute costs what the cheapest slice costs on which the service has an operating point;
/// without `cold_usd` a cold start is worth kColdMinutes of them.
class WarmPools {
 public:
  /// `given` must outlive it, and changes by events. `is_on`: else no pool is obeyed.
  WarmPools(const Scenario& given, bool is_on);
  WarmPools(const WarmPools&) = delete;
  WarmPools& operator=(const WarmPools&) = delete;
  ~WarmPools() = default;

  /// Whether some service has a pool.
  [[nodiscard]] bool is_used() const { return !services_.empty(); }
  [[nodiscard]] bool has(ServiceId service) const { return services_.contains(service); }
  [[nodiscard]] std::vector<ServiceId> services() const;
  /// A service was set or removed: `given` is as it is now.
  void note_changed(ServiceId service);

  /// How many slices it may have now. Requires: has(service).
  [[nodiscard]] ReplicaLimits limits(ServiceId service) const;
  /// Decides at the first look at each second. From then on `limits` follows the decisions. O(services), and
  /// O(services) for each minute that is over. Requires: the snapshot's time does not decrease.
  [[nodiscard]] std::vector<WarmDecision> decide(const Snapshot& snapshot);
  /// nullptr: the service has no pool.
  [[nodiscard]] const WarmStatus* status_of(ServiceId service) const;

  /// Forgets everything.
  void begin_anew();
  /// What it remembers. A load requires that `given` is as it was then; if the archive fails, it is useless.
  void save(ArchiveWriter& archive) const;
  void load(ArchiveReader& archive);

 private:
  struct Pooled {
    std::size_t key = 0;
    std::uint64_t number = 0;  ///< ServiceState::number; a new service starts empty
    std::int64_t seen_until = INT64_MIN;
    std::optional<std::int64_t> load_last;  ///< the last second with load
    std::int64_t seen_seconds = 0;
    warm::GapMemory quiet;  ///< the gaps of more than a minute, for words
    std::optional<std::int64_t> invoked_last;
    std::map<std::int64_t, std::int64_t> idle_by_minute;  ///< of the last hour, as idle_sum
    std::int64_t idle_sum = 0;                            ///< micro-dollars per hour x seconds
    bool is_preloaded = false;                            ///< has slices only because a request was expected
    WarmStatus status;
  };
  /// What to keep without load, and why.
  struct Wish {
    std::int64_t slices = 0;
    std::string reason;
  };

  template <class Archive, class Self>
  static void archive_services(Archive& archive, Self& self);
  [[nodiscard]] const ServiceSpec& spec(ServiceId service) const;
  [[nodiscard]] WarmPool pool_of(ServiceId service) const;
  [[nodiscard]] std::int64_t kept_always(ServiceId service) const;
  void forget(ServiceId service);
  void read_seconds(const Snapshot& snapshot);
  void finish_minutes(std::int64_t second);
  void add_idle_cost(const Snapshot& snapshot, std::int64_t second);
  [[nodiscard]] bool has_load(ServiceId service, const Pooled& pooled, std::int64_t second) const;
  [[nodiscard]] std::int64_t lead_seconds(ServiceId service) const;
  [[nodiscard]] double price_per_minute(ServiceId service, const Snapshot& snapshot) const;
  [[nodiscard]] Wish wish_of(ServiceId service, const Pooled& pooled, const Snapshot& snapshot) const;
  [[nodiscard]] std::string words_for(ServiceId service, const Pooled& pooled, std::int64_t second, double price) const;
  [[nodiscard]] std::optional<Instant> next_request(const Pooled& pooled) const;
  std::optional<WarmDecision> decide_for(ServiceId service, Pooled& pooled, const Snapshot& snapshot);

  const Scenario& given_;
  bool is_on_;
  warm::Predictor predictor_;
  std::vector<std::size_t> free_keys_;
  std::map<ServiceId, Pooled> services_;
  /// [minute][key]: requests in minutes that are not over.
  std::map<std::int64_t, std::map<std::size_t, std::int64_t>> arrived_;
  std::optional<std::int64_t> looked_at_;  ///< the second
};

}  // namespace berth
