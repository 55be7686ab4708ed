#include "live/session/testing/story.h"

#include <algorithm>
#include <iterator>

#include "base/core/overloaded.h"

namespace berth::live::testing {

void Story::read(const LoggedEvent& event) {
  // After a kill the engine repeats steps that the world has already carried out.
  const auto is_later = [&](const Item& item) {
    const auto* record = std::get_if<sim::JournalRecord>(&item.what);
    return record != nullptr && std::visit([](const auto& each) { return each.at; }, *record) > event.at;
  };
  auto place = items_.end();
  while (place != items_.begin() && is_later(*std::prev(place))) --place;
  items_.insert(place, {.what = event, .number = event.sequence});
  last_event_ = event.sequence;
}

void Story::read(const sim::JournalRecord& record) { items_.push_back({.what = record, .number = ++record_count_}); }

void Story::lose(std::uint64_t last_event, std::size_t record_count) {
  const auto is_lost = [&](const Item& item) {
    return item.number > (std::holds_alternative<sim::JournalRecord>(item.what) ? record_count : last_event);
  };
  std::erase_if(items_, is_lost);
  last_event_ = std::min(last_event_, last_event);
  record_count_ = std::min(record_count_, record_count);
}

std::vector<LoggedEvent> Story::events() const {
  std::vector<LoggedEvent> events;
  for (const Item& item : items_) {
    if (const auto* event = std::get_if<LoggedEvent>(&item.what)) events.push_back(*event);
  }
  return events;
}

Auditor Story::audited(const Scenario& scenario, const Auditor::Rules& rules, Instant now) const {
  Auditor auditor(scenario, rules);
  for (const Instant at : restarts_) auditor.expect_restart(at);
  for (const Item& item : items_) {
    std::visit(Overloaded{[&](const NoChanges& windows) { auditor.obey(windows); },
                          [&](const auto& each) { auditor.read(each); }},
               item.what);
  }
  auditor.reach(now);
  return auditor;
}

}  // namespace berth::live::testing
