/// What the entries of a session say about the past of its world: which services existed when, their arrivals, and what
/// happened to the devices.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/instant.h"
#include "base/core/result.h"
#include "domain/values/scenario.h"
#include "domain/values/speed_factors.h"
#include "engine/loop/proposal.h"
#include "live/session/catalog.h"
#include "live/session/entry.h"
#include "sim/world/recorded.h"

namespace berth::whatif {

/// The options of a session, and its inputs: from the beginning on, or after it was saved.
struct Past {
  Scenario scenario;
  std::uint64_t seed = 1;
  std::string policy = "berth";
  Approval approval = Approval::kNever;
  bool first_layout_takes_time = false;  ///< live::SessionOptions
  bool has_end = false;
  std::optional<std::string> session;  ///< saved bytes (live::Session::save)
  std::vector<live::Entry> entries;
};

/// A service got a spec.
struct SpecPast {
  Instant at;
  std::shared_ptr<const ServiceSpec> spec;  ///< never null
  Instant retrains_since;                   ///< when the due times of its retraining begin to count

  /// How long after `from` its retraining is next due, at `from` or later. Requires: it has one.
  [[nodiscard]] Micros due_after(Instant from) const;
};

/// [from, until).
struct Span {
  Instant from;
  Instant until = Instant::never();
  friend bool operator==(const Span&, const Span&) = default;
};

/// All services that had one tenant and name, one after the other.
struct ServicePast {
  live::ServiceName name;
  std::vector<SpecPast> specs;                    ///< in order of time, not empty
  std::vector<Span> lives;                        ///< in order of time, not empty; the last one may not have ended
  std::map<std::int64_t, std::int64_t> arrivals;  ///< by second of the world, where recorded

  [[nodiscard]] bool is_there_at(Instant at) const;
  /// Whether it existed at some time in the span.
  [[nodiscard]] bool is_there_in(const Span& span) const;
  /// The latest spec set before `until`, or else the first one.
  [[nodiscard]] const SpecPast& spec_before(Instant until) const;
};

/// A speed factor was recorded, or what was recorded no longer held.
struct SpeedPast {
  Instant at;
  SpeedPlace place;  ///< `service` is an index in Chronicle::services
  std::optional<Decimal> factor;
};

/// Something that a replay of the arrivals omits.
enum class IncidentKind : std::uint8_t {
  kFault,       ///< of the simulated world, except lost GPUs
  kGpuLost,     ///< a GPU is lost
  kScheduled,   ///< a GPU is cordoned or drains
  kPaused,      ///< planning is paused
  kNoChanges,   ///< windows without changes are in force
  kApproval,    ///< a plan waits for approval: when the wait began
  kResumed,     ///< another process took over
  kUnobserved,  ///< the clock of real GPUs went on while no process ran
};

struct Incident {
  IncidentKind kind = IncidentKind::kFault;
  Span span;  ///< empty for an instant
};

/// Whether the specs are equal for a replay except for their arrivals.
[[nodiscard]] bool is_same_but_arrivals(const ServiceSpec& a, const ServiceSpec& b);

struct Chronicle {
  Scenario scenario;       ///< fleet and rules; its services are those of the beginning
  std::uint64_t seed = 1;  ///< of the world
  std::string policy;      ///< the deciding policy
  Instant begin;           ///< nothing is known of earlier times
  std::int64_t until = 0;  ///< all arrivals of the seconds before this one are known
  sim::RecordedRun run;    ///< from `begin` on: its instants count from there. Services by index in `services`
  std::vector<ServicePast> services;  ///< in the order in which they came
  std::vector<SpeedPast> speeds;      ///< in order of time
  std::vector<Incident> incidents;    ///< in no order
};

/// Repeats the session without solving anything. Error: the saved session cannot be read. O(steps and events of the
/// session).
[[nodiscard]] Result<Chronicle> read_chronicle(Past past);

}  // namespace berth::whatif
