/// The history of an installation as far as it is remembered: events and records of the world in their order, including
/// kills and what they took back. An auditor reads it as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/no_changes.h"
#include "domain/values/scenario.h"
#include "live/session/event_log.h"
#include "live/session/testing/auditor.h"
#include "sim/world/journal.h"

namespace berth::live::testing {

class Story {
 public:
  // In the order in which they happened; an event before the records that follow it.
  void read(const LoggedEvent& event);
  void read(const sim::JournalRecord& record);
  /// From the next event on these windows hold.
  void obey(const NoChanges& windows) { items_.push_back({.what = windows, .number = last_event_ + 1}); }

  /// A kill took back the events after `last_event`, and all but the first `record_count` of the world's records.
  void lose(std::uint64_t last_event, std::size_t record_count);
  /// Another process continues at that instant. It may report earlier instants again.
  void go_on(Instant at) { restarts_.push_back(at); }

  [[nodiscard]] std::uint64_t last_event() const { return last_event_; }
  [[nodiscard]] std::size_t record_count() const { return record_count_; }
  /// In order.
  [[nodiscard]] std::vector<LoggedEvent> events() const;
  /// An auditor that has read all of it.
  [[nodiscard]] Auditor audited(const Scenario& scenario, const Auditor::Rules& rules, Instant now) const;

 private:
  struct Item {
    std::variant<LoggedEvent, sim::JournalRecord, NoChanges> what;
    std::uint64_t number = 0;  ///< of the event, of the record, or of the event from which on windows hold
  };

  std::vector<Item> items_;
  std::vector<Instant> restarts_;
  std::uint64_t last_event_ = 0;
  std::size_t record_count_ = 0;
};

}  // namespace berth::live::testing
