/// The actions of the clients and operators of a faulty world.

#include <memory>
#include <utility>

#include "apps/swarm/testing/world.h"
#include "engine/loop/static_conflict.h"
#include "live/rows/entry_rows.h"
#include "live/session/plan_log.h"
#include "live/session/testing/random_orders.h"

namespace berth::swarm::testing {
namespace {

constexpr std::uint64_t kSecondsBetweenOrders = 25;
constexpr std::uint64_t kServices = 3;

/// The spec as JSON can express it, since clients send JSON.
ServiceSpec sayable(const ServiceSpec& spec, const Scenario& fleet) {
  live::ServiceStored stored{.name = {.tenant = spec.tenant, .name = spec.name}, .entry = {}, .set = ServiceSet{}};
  stored.set->spec = std::make_shared<const ServiceSpec>(spec);
  const JournalRow row{.sequence = 1, .entry = journal::row_of({.at = {}, .what = stored}, fleet, 0)};
  return *std::get<live::ServiceStored>(journal::entry_of(row, fleet).value().what).set->spec;
}

}  // namespace

ServiceSpec World::random_service(Rng& rng) const {
  ServiceSpec spec = live::testing::random_service(rng, kGpus);
  // Each beginning and end of a retraining is a question to the solver.
  if (spec.retraining) spec.retraining->every = Micros::seconds(900);
  return spec;
}

bool World::send(std::function<bool(live::Session&)> order, std::function<void(Ordered&)> apply) {
  return is_up() && ledger_->send(*process_, {.send = std::move(order), .apply = std::move(apply)});
}

void World::order_something() {
  if (rng_.below(kSecondsBetweenOrders) != 0) return;
  const std::uint64_t choice = rng_.below(10);
  if (choice < 5) return set_service();
  if (choice < 7) return remove_service();
  if (choice == 7) return set_tenant();
  approve_waiting();
}

/// Does nothing if the service contradicts the others, which the API refuses.
void World::set_service() {
  const live::Session& session = process_->session();
  const live::ServiceName name{.tenant = "t", .name = "s" + std::to_string(rng_.below(kServices))};
  ServiceSpec spec = random_service(rng_);
  spec.tenant = name.tenant;
  spec.name = name.name;
  spec = sayable(spec, scenario_);
  Scenario after = session.scenario();
  const auto known = session.catalog().services.find(name);
  if (known == session.catalog().services.end()) {
    after.services.push_back(spec);
  } else {
    after.services.set(known->second.id.index, spec);
  }
  if (find_static_conflict(after)) return;
  send([=](live::Session& to) { return to.set_service(name, spec, {}, std::nullopt).has_value(); },
       [=](Ordered& ordered) { ordered.services[name] = {.spec = spec, .version = std::nullopt}; });
}

bool World::remove(const live::ServiceName& name) {
  return send([=](live::Session& to) { return to.remove_service(name).has_value(); },
              [=](Ordered& ordered) { ordered.services.erase(name); });
}

void World::remove_service() { remove({.tenant = "t", .name = "s" + std::to_string(rng_.below(kServices))}); }

/// Sets another tenant, which has no services.
void World::set_tenant() {
  if (process_->session().catalog().tenants.contains("u")) {
    send([](live::Session& to) { return to.remove_tenant("u").has_value(); },
         [](Ordered& ordered) { ordered.tenants.erase("u"); });
  } else {
    send([](live::Session& to) { return to.set_tenant("u", {}, std::nullopt).has_value(); },
         [](Ordered& ordered) { ordered.tenants.insert("u"); });
  }
}

/// Returns whether no plan waits any more.
bool World::approve_waiting() {
  if (!is_up()) return false;
  const live::PlanStatus* plan = process_->session().plans().current();
  if (plan == nullptr || plan->phase != live::PlanPhase::kAwaitingApproval) return true;
  const std::uint64_t id = plan->plan->id;
  return send([=](live::Session& to) { return to.approve(id, "test") == live::ApprovalOutcome::kAccepted; },
              [=](Ordered& ordered) { ordered.approved_plans.insert(id); });
}

bool World::schedule(GpuId gpu, GpuScheduling scheduling) {
  return send([=](live::Session& to) { return to.schedule(gpu, scheduling, "test"); },
              [=](Ordered& ordered) {
                if (scheduling == GpuScheduling::kOpen) ordered.closed_gpus.erase(gpu.index);
                if (scheduling != GpuScheduling::kOpen) ordered.closed_gpus.insert(gpu.index);
              });
}

bool World::resume() {
  return send([](live::Session& to) { return to.resume("test"); }, [](Ordered& ordered) { ordered.pause.reset(); });
}

bool World::set_no_changes(const NoChanges& windows) {
  return send([=](live::Session& to) { return to.set_no_changes(windows); },
              [=](Ordered& ordered) { ordered.windows = windows; });
}

void World::operate() {
  if (!is_up()) return;
  const GpuId gpu{static_cast<std::uint32_t>(rng_.below(scenario_.gpu_count()))};
  switch (rng_.below(4)) {
    case 0:
      send([](live::Session& to) { return to.pause("test"); }, [](Ordered& ordered) { ordered.pause = "test"; });
      return add_episode(Trouble::kOperators, 300, [this] { return resume(); });
    case 1:
      set_no_changes(live::testing::random_no_changes(rng_, process_->session().now()));
      return add_episode(Trouble::kOperators, 300, [this] { return set_no_changes({}); });
    default:
      schedule(gpu, rng_.below(2) == 0 ? GpuScheduling::kCordoned : GpuScheduling::kDraining);
      return add_episode(Trouble::kOperators, 400, [this, gpu] { return schedule(gpu, GpuScheduling::kOpen); });
  }
}

}  // namespace berth::swarm::testing
