#include "live/programs/program_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "domain/values/serve_template.h"

namespace berth::live {
namespace {

/// A gateway that does not acknowledge a table for so long is not waited for.
constexpr Micros kAcknowledgementPatience = Micros::seconds(10);
/// For so long a slice that is to go serves on while others are starting.
constexpr Micros kHoldMax = Micros::seconds(120);
/// `stop` is ordered again if nothing is reported.
constexpr Micros kStopAgain = Micros::seconds(60);
/// An order that the hands refused, such as one with a template that they do not have, is given again.
constexpr Micros kStartAgain = Micros::seconds(10);

bool is_gone(const ProcessReport& report) {
  return report.phase == ProcessPhase::kStopped ||
         (report.phase == ProcessPhase::kFailed && report.order.slice.empty());
}

/// The hands never had it: they refused the order.
bool is_refused(const ProcessReport& report) { return report.phase == ProcessPhase::kFailed && report.starts == 0; }

bool answers(const ProcessReport& report) { return report.phase == ProcessPhase::kReady && report.port > 0; }

}  // namespace

void ProgramBook::note(const std::vector<ProcessReport>& reports, bool are_all) {
  std::set<Key> reported;
  for (const ProcessReport& report : reports) {
    const Key key{report.order.slice, report.order.generation};
    reported.insert(key);
    if (is_gone(report)) {
      known_.erase(key);
      continue;
    }
    const auto [known, is_first] = known_.try_emplace(key);
    known->second.report = report;
    if (!is_first) continue;
    // Started by an earlier process, which noted what happened.
    known->second.noted_starts = report.starts;
    known->second.noted_failures = report.failures;
    known->second.is_loop_noted = report.is_looping;
  }
  knows_all_ = knows_all_ || are_all;
  if (are_all) std::erase_if(known_, [&](const auto& each) { return !reported.contains(each.first); });
}

ProgramOrders ProgramBook::step(const ProgramSight& sight) {
  ProgramOrders orders;
  owners_.clear();
  for (const WantedProgram& wanted : sight.wanted) {
    if (!wanted.on.exists) continue;
    owners_[{wanted.order.slice, wanted.order.generation}] = {wanted.order.tenant, wanted.service};
    follow_wanted(wanted, sight, orders);
  }
  for (auto& [key, known] : known_) {
    if (!owners_.contains(key)) end(key, known, sight, orders);
  }
  std::erase_if(known_, [&](const auto& each) { return is_refused(each.second.report) && each.second.stopped_at; });
  std::erase_if(held_since_, [&](const auto& each) { return !owners_.contains(each.first); });
  make_table(sight, orders);
  return orders;
}

void ProgramBook::follow_wanted(const WantedProgram& wanted, const ProgramSight& sight, ProgramOrders& orders) {
  const Key key{wanted.order.slice, wanted.order.generation};
  const auto found = known_.find(key);
  if (found == known_.end()) {
    if (!knows_all_) return;  // it may run
    if (wanted.on.is_leaving) return orders.gone.push_back(wanted.on);
    if (!wanted.is_startable) return;
    orders.starts.push_back(wanted.order);
    known_[key].report.order = wanted.order;
    known_[key].started_at = sight.now;
    return;
  }
  Known& known = found->second;
  note_news(wanted, known, orders);
  const bool stays = !wanted.is_startable || known.report.order == wanted.order;
  if (wanted.on.is_leaving ? is_held(wanted, sight) : stays) {
    if (is_refused(known.report) && wanted.is_startable && sight.now - known.started_at > kStartAgain) {
      known.started_at = sight.now;
      orders.starts.push_back(wanted.order);
    }
    const bool begins = !wanted.on.is_ready && !wanted.on.is_leaving && answers(known.report);
    if (begins) orders.ready.emplace_back(wanted.on, known.report.start_time);
    return;
  }
  end(key, known, sight, orders);
}

void ProgramBook::note_news(const WantedProgram& wanted, Known& known, ProgramOrders& orders) {
  const ProcessReport& report = known.report;
  ProgramNoted noted{.service = wanted.on.service, .slice = wanted.on.slice, .generation = wanted.on.generation};
  // The first readiness is reported with the slice (ProgramOrders::ready).
  const bool is_restart = answers(report) && report.starts > known.noted_starts;
  if (is_restart && wanted.on.is_ready && known.noted_starts > 0) {
    noted.note = ProgramNote::kReady;
    noted.start_us = report.start_time.value_or(Micros()).count();
    orders.notes.push_back(noted);
  }
  if (answers(report)) known.noted_starts = report.starts;
  const bool is_new_refusal = is_refused(report) && report.message != known.noted_refusal;
  if (is_refused(report)) known.noted_refusal = report.message;
  if (report.failures > known.noted_failures || is_new_refusal) {
    noted.note = ProgramNote::kFailed;
    noted.text = report.message;
    noted.start_us = 0;
    orders.notes.push_back(noted);
  }
  known.noted_failures = report.failures;
  if (report.is_looping && !known.is_loop_noted) {
    noted.note = ProgramNote::kLooping;
    noted.text = fmt::format("{} failures in ten minutes; the latest: {}", report.failures, report.message);
    noted.start_us = 0;
    orders.notes.push_back(noted);
  }
  known.is_loop_noted = report.is_looping;
}

bool ProgramBook::is_held(const WantedProgram& leaving, const ProgramSight& sight) {
  const Key key{leaving.order.slice, leaving.order.generation};
  const Known& known = known_.at(key);
  if (!answers(known.report) || known.left_table) return false;
  const Micros since = held_since_.try_emplace(key, sight.now).first->second;
  if (sight.now - since > kHoldMax) return false;
  return std::ranges::any_of(sight.wanted, [&](const WantedProgram& other) {
    const bool is_new = other.service == leaving.service && other.order.tenant == leaving.order.tenant &&
                        !other.on.is_leaving && !other.on.is_ready;
    if (!is_new) return false;
    const auto starting = known_.find({other.order.slice, other.order.generation});
    return starting == known_.end() || starting->second.report.failures == 0;
  });
}

void ProgramBook::end(const Key& key, Known& known, const ProgramSight& sight, ProgramOrders& orders) {
  if (known.stopped_at && sight.now - *known.stopped_at < kStopAgain) return;
  const bool has_requests = answers(known.report) && !known.stopped_at;
  if (has_requests) {
    if (!known.left_table) {
      known.left_table = table_.number + 1;  // make_table follows in this step
      known.left_at = sight.now;
      return;
    }
    const bool is_acknowledged = !sight.has_gateway || sight.acknowledged_table >= *known.left_table ||
                                 sight.now - known.left_at > kAcknowledgementPatience;
    if (!is_acknowledged) return;
    if (known.acknowledged_at < Micros()) known.acknowledged_at = sight.now;
    const bool ends_by_itself = known.report.order.template_name == kServeTemplate || !sight.has_gateway;
    if (!ends_by_itself && sight.now - known.acknowledged_at < known.report.drain) return;
  }
  known.stopped_at = sight.now;
  orders.stops.push_back(key);
}

std::vector<Endpoint> ProgramBook::replicas_of(const ProgramService& service, const ProgramSight& sight) const {
  std::vector<Endpoint> replicas;
  for (const WantedProgram& wanted : sight.wanted) {
    if (!wanted.on.exists || wanted.service != service.name || wanted.order.tenant != service.tenant) continue;
    const auto found = known_.find({wanted.order.slice, wanted.order.generation});
    if (found == known_.end() || !answers(found->second.report) || found->second.stopped_at) continue;
    const ProcessReport& report = found->second.report;
    replicas.push_back({.slice = report.order.slice,
                        .generation = report.order.generation,
                        .url = fmt::format("http://127.0.0.1:{}", report.port),
                        .key = report.key,
                        .user = report.uid,
                        .says_who_it_is = report.order.template_name == kServeTemplate,
                        .is_leaving = found->second.left_table.has_value(),
                        .in_flight_max = std::max<std::int64_t>(1, report.in_flight_max),
                        .latencies = wanted.latencies});
  }
  return replicas;
}

void ProgramBook::make_table(const ProgramSight& sight, ProgramOrders& orders) {
  EndpointTable table{.number = table_.number, .services = {}};
  for (const ProgramService& service : sight.services) {
    table.services.push_back({.tenant = service.tenant,
                              .service = service.name,
                              .target = service.target,
                              .answer = service.answer,
                              .replicas = replicas_of(service, sight)});
  }
  if (table == table_) return;
  ++table.number;
  table_ = table;
  orders.table = std::move(table);
}

std::map<std::pair<std::string, std::string>, std::vector<ProgramView>> ProgramBook::views() const {
  std::map<std::pair<std::string, std::string>, std::vector<ProgramView>> views;
  for (const auto& [key, known] : known_) {
    const auto owner = owners_.find(key);
    if (owner == owners_.end()) continue;
    const ProcessReport& report = known.report;
    views[owner->second].push_back({.slice = key.first,
                                    .generation = key.second,
                                    .phase = report.phase,
                                    .pid = report.pid,
                                    .port = report.port,
                                    .starts = report.starts,
                                    .failures = report.failures,
                                    .is_looping = report.is_looping,
                                    .is_leaving = known.left_table.has_value() || known.stopped_at.has_value(),
                                    .message = report.message});
  }
  return views;
}

}  // namespace berth::live
