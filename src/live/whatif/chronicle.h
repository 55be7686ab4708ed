/// What the entries of a session say about the past of its world: which services there were when, what they were
/// asked, and what happened to the devices.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "domain/values/scenario.h"
#include "engine/loop/proposal.h"
#include "live/session/catalog.h"
#include "live/session/entry.h"
#include "sim/world/recorded.h"

namespace berth::whatif {

/// What a session was made with, and what it was given: from the beginning on, or after it was saved.
struct Past {
  Scenario scenario;
  std::uint64_t seed = 1;
  std::string policy = "berth";
  Approval approval = Approval::kNever;
  bool first_layout_takes_time = false;  ///< live::SessionOptions
  bool has_end = false;
  std::optional<std::string> session;  ///< as it was saved (live::Session::save)
  std::vector<live::Entry> entries;
};

/// A service got a spec.
struct SpecPast {
  Instant at;
  std::shared_ptr<const ServiceSpec> spec;  ///< never null
  Instant retrains_since;                   ///< from when the due times of its retraining count

  /// How long after `from` its retraining is first due, then or later. Requires: it has one.
  [[nodiscard]] Micros due_after(Instant from) const;
};

/// [from, until).
struct Span {
  Instant from;
  Instant until = Instant::never();
  friend bool operator==(const Span&, const Span&) = default;
};

/// All services of one tenant and name, one after the other.
struct ServicePast {
  live::ServiceName name;
  std::vector<SpecPast> specs;                    ///< in order of time, not empty
  std::vector<Span> lives;                        ///< in order of time, not empty; the last one may go on
  std::map<std::int64_t, std::int64_t> arrivals;  ///< by second of the world, those that are recorded

  [[nodiscard]] bool is_there_at(Instant at) const;
  /// Whether it was there at some time in the span.
  [[nodiscard]] bool is_there_in(const Span& span) const;
  /// The latest one that it got before `until`, or else the first one.
  [[nodiscard]] const SpecPast& spec_before(Instant until) const;
};

/// Something that a replay of the arrivals leaves out.
enum class IncidentKind : std::uint8_t {
  kFault,      ///< of the simulated world, but for lost GPUs
  kGpuLost,    ///< a GPU is lost
  kScheduled,  ///< a GPU is cordoned or drains
  kPaused,     ///< planning is paused
  kNoChanges,  ///< windows without changes are in force
  kApproval,   ///< a plan waits for approval: when it began to
  kResumed,    ///< another process went on
};

struct Incident {
  IncidentKind kind = IncidentKind::kFault;
  Span span;  ///< empty, if it is about an instant
};

/// Whether the specs ask for the same, whatever comes in.
[[nodiscard]] bool is_same_but_arrivals(const ServiceSpec& a, const ServiceSpec& b);

struct Chronicle {
  Scenario scenario;       ///< fleet and rules; its services are those of the beginning
  std::uint64_t seed = 1;  ///< of the world
  std::string policy;      ///< that decided
  Instant begin;           ///< nothing is known of what was before
  std::int64_t until = 0;  ///< all arrivals of the seconds before this one are known
  sim::RecordedRun run;    ///< from `begin` on: an instant of it counts from there. Services by index in `services`
  std::vector<ServicePast> services;  ///< in the order in which they came
  std::vector<Incident> incidents;    ///< in no order
};

/// Repeats the session, without solving anything. Error: the saved session cannot be read. O(what the session did).
[[nodiscard]] Result<Chronicle> read_chronicle(Past past);

}  // namespace berth::whatif
