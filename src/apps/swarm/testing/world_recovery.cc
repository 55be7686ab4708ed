/// How a faulty world is healed, and what must hold afterwards.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "apps/swarm/testing/world.h"
#include "live/chain/verify.h"
#include "live/rows/entry_rows.h"
#include "live/session/promise_book.h"
#include "live/session/service_watch.h"
#include "live/session/testing/recovery.h"

namespace berth::swarm::testing {
namespace {

constexpr std::int64_t kRecoverySeconds = 600;
constexpr std::int64_t kPlannerSecondsMax = 180;  ///< between two questions: one per minute
constexpr Micros kActionMax = Micros::seconds(150);
constexpr std::int64_t kServeSeconds = 180;
constexpr std::int64_t kUseSeconds = 180;    ///< until every GPU must be in use: a plan after 60 s, an action of 60 s
constexpr std::int64_t kQuietSeconds = 150;  ///< until everything under way must be over
constexpr int kTriesMax = 100;

/// Whether a slice can answer enough of its requests to be worthwhile.
bool is_worth_a_slice(const ServiceSpec& spec) {
  constexpr double kShare = 0.1;
  const auto* generator = std::get_if<Generator>(&spec.arrivals.source);
  if (generator == nullptr || generator->requests_per_second < Decimal(1)) return false;
  const double wanted = kShare * generator->requests_per_second.to_double();
  return std::ranges::any_of(spec.table.points,
                             [&](const auto& point) { return point.requests_per_second.to_double() >= wanted; });
}

}  // namespace

void World::heal() {
  note("everything is healed");
  kinds_.clear();
  heal_store();  // without it no other trouble can be ended
  for (const Episode& episode : std::exchange(episodes_, {})) insist(episode.end);
  insist([this] { return resume(); });
  insist([this] { return set_no_changes({}); });
  for (const sim::FaultKind kind : {sim::FaultKind::kClear, sim::FaultKind::kReturn}) {
    sim::FaultOrder order;
    order.kind = kind;
    for (std::uint32_t gpu = 0; gpu < scenario_.gpu_count(); ++gpu) order.gpus.push_back({gpu});
    insist([&] { return inject(order); });
  }
  for (std::uint32_t gpu = 0; gpu < scenario_.gpu_count(); ++gpu) {
    insist([&] { return schedule({gpu}, GpuScheduling::kOpen); });
  }
}

void World::insist(const std::function<bool()>& order) {
  for (int i = 0; i < kTriesMax; ++i) {
    if (order()) return;
    pass_second();
  }
  found("an order is not taken though everything is healed");
}

/// Approves every waiting plan. Where planning has paused itself because of earlier trouble, an operator resumes it. A
/// kill scheduled before may still happen.
void World::pass_quietly(std::int64_t world_seconds) {
  insist([this] { return is_up(); });
  if (!is_up()) return;
  const Instant until = process_->session().now() + Micros::seconds(world_seconds);
  const auto is_there = [&] { return is_up() && process_->session().now() >= until; };
  const auto has_paused_itself = [&] {
    const auto& pause = process_->session().snapshot().pause;
    return pause && pause->reason == live::kPromisesFailed;
  };
  for (std::int64_t i = 0; i < world_seconds + kTriesMax && !is_there(); ++i) {
    if (is_up()) approve_waiting();
    if (is_up() && has_paused_itself()) resume();
    pass_second();
  }
  if (!is_there()) found("the world stands still though everything is healed");
}

void World::expect_recovery() {
  pass_quietly(kRecoverySeconds);
  if (!is_up()) return;
  live::Session& session = process_->session();
  found(ledger_->compare(session));
  const bool replans = policy_ != "fixed";
  const bool has_services = !session.catalog().services.empty();
  if (replans && has_services && session.now() - process_->asked_at() > Micros::seconds(kPlannerSecondsMax)) {
    found("the planner is stuck");
  }
  if (replans) found(live::testing::find_misplaced(session));
  found(live::testing::find_unrecovered(session));
  found(audited().find_lasting(kActionMax));
}

/// Expects that a service which can be served is served once it is alone.
void World::expect_service_of_one() {
  if (policy_ == "fixed" || !is_up()) return;
  const auto services = process_->session().catalog().services;
  const auto is_servable = [&](const auto& each) {
    const Scenario& now = process_->session().scenario();
    const ServiceSpec& spec = now.services[each.second.id.index];
    return !spec.changes_per_hour && is_worth_a_slice(spec) && live::misfit_of(now, spec).empty();
  };
  const auto chosen = std::ranges::find_if(services, is_servable);
  if (chosen == services.end()) return;
  for (const auto& service : services) {
    if (service.first != chosen->first) insist([&] { return remove(service.first); });
  }
  pass_quietly(kServeSeconds);
  if (!is_up()) return;
  live::Session& session = process_->session();
  session.refresh();
  const ServiceId id = session.catalog().services.at(chosen->first).id;
  if (session.watch().slices_of(id).serving == 0) {
    const live::Condition placed = session.watch().conditions_of(id)[0];
    const auto spec = std::make_shared<const ServiceSpec>(std::as_const(session.scenario()).services[id.index]);
    live::ServiceStored stored{.name = chosen->first, .entry = {}, .set = ServiceSet{}};
    stored.set->spec = spec;
    note("its spec: " + journal::row_of({.at = {}, .what = stored}, scenario_, 0).body);
    found(fmt::format("{} is alone, and not served: {}: {}", chosen->first.name, placed.reason, placed.message));
  }
}

/// Expects that no GPU is stuck. The policy `fixed` gives nothing to new services.
void World::expect_all_gpus_in_use() {
  remove_all();
  if (policy_ == "fixed") return;
  const live::ServiceName name{.tenant = "t", .name = "large"};
  ServiceSpec large = live::testing::service_for_all_gpus(scenario_.gpu_count());
  large.tenant = name.tenant;
  large.name = name.name;
  insist([&] {
    return send([&](live::Session& to) { return to.set_service(name, large, {}, std::nullopt).has_value(); },
                [&](Ordered& ordered) { ordered.services[name] = {.spec = large, .version = std::nullopt}; });
  });
  pass_quietly(kUseSeconds);
  if (is_up()) found(live::testing::find_idle_gpus(process_->session()));
}

void World::remove_all() {
  insist([this] { return is_up(); });
  if (!is_up()) return;
  const auto services = process_->session().catalog().services;
  for (const auto& service : services) insist([&] { return remove(service.first); });
}

void World::expect_end() {
  remove_all();
  pass_quietly(kQuietSeconds);
  if (!is_up()) return;
  found(live::testing::find_unrest(process_->session()));
  found(ledger_->compare(process_->session()));
  found(usage_.findings(process_->session()));
  live::testing::Auditor auditor = audited();
  auditor.finish();
  found(auditor.findings());
  if (auditor.standing() != live::testing::known_slices(process_->session())) {
    found("the engine and the world's records know other slices");
  }
  process_->session().emit_all();
  process_->record();
  auto reader = machine_.open_reader();
  const auto counts = reader ? chain::verify_journal(**reader) : tl::unexpected(reader.error());
  if (!counts) found("the journal: " + counts.error().message);
}

live::testing::Auditor World::audited() const {
  // Before an action begins its slice drains, for as long as a batch takes: up to 22 s of random services.
  const live::testing::Auditor::Rules rules{.approval = approval_, .stuck_after = kActionTimeMax + Micros::seconds(40)};
  return story_.audited(scenario_, rules, process_->session().now());
}

}  // namespace berth::swarm::testing
