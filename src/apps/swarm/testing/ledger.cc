#include "apps/swarm/testing/ledger.h"
#include "live/session/plan_log.h"
#include "live/session/promise_book.h"

#include <fmt/format.h>

#include <utility>

#include "live/chain/field_hash.h"

namespace berth::swarm::testing {

Ledger::Ledger(const live::Session& session) {
  for (const auto& [name, meta] : session.catalog().tenants) ordered_.tenants.insert(name);
  for (const auto& [name, entry] : session.catalog().services) {
    ordered_.services[name] = {.spec = std::as_const(session.scenario()).services[entry.id.index],
                               .version = entry.meta.version};
  }
}

bool Ledger::send(Process& process, const ClientOrder& order) {
  const std::string word = fmt::format("order {}", ++key_count_);
  KeyedOutcome outcome{.key = chain::sha256(word), .request = {}, .wall_us = 0, .status = 200, .body = ""};
  process.recorder().begin(outcome);
  const bool is_accepted = order.send(process.session());
  process.recorder().begin(std::nullopt);
  if (process.is_dead()) {
    ++counts_.unanswered;
    unanswered_.push_back({.key = outcome.key, .order = order});
    return false;
  }
  if (!is_accepted) {
    ++counts_.refused;
    if (process.recorder().failure()) unanswered_.push_back({.key = outcome.key, .order = order});
    return false;
  }
  forget_refused();
  order.apply(ordered_);
  for (auto& [name, service] : ordered_.services) {
    if (!service.version) service.version = process.session().catalog().services.at(name).meta.version;
  }
  outcome.body = "answer of " + word;
  process.recorder().keep({outcome});
  const auto failure = process.recorder().flush();
  if (process.is_dead()) {
    ++counts_.unanswered;
    return false;
  }
  if (!failure) process.session().set_recorded();
  if (!failure) answers_[outcome.key] = outcome.body;
  ++counts_.acknowledged;
  return true;
}

std::vector<std::string> Ledger::settle(Process& process) {
  std::vector<std::string> found;
  std::vector<Sha256> keys;
  keys.reserve(answers_.size() + unanswered_.size());
  for (const auto& [key, answer] : answers_) keys.push_back(key);
  for (const Unanswered& each : unanswered_) keys.push_back(each.key);
  const auto outcomes = process.recorder().find_outcomes(keys);
  if (!outcomes) return {"keys cannot be read: " + outcomes.error().message};
  for (const auto& [key, answer] : answers_) {
    const auto outcome = outcomes->find(key);
    if (outcome == outcomes->end() || outcome->second.body != answer) found.push_back("lost: " + answer);
  }
  for (const Unanswered& each : std::exchange(unanswered_, {})) {
    if (!outcomes->contains(each.key)) continue;
    each.order.apply(ordered_);
    ++counts_.unanswered_done;
  }
  for (std::string& difference : compare(process.session())) found.push_back(std::move(difference));
  return found;
}

std::vector<std::string> Ledger::compare(const live::Session& session) {
  std::vector<std::string> found;
  const auto expect = [&](bool is_right, const std::string& what) {
    if (!is_right) found.push_back("ordered otherwise: " + what);
  };
  expect(session.catalog().services.size() == ordered_.services.size(), "number of services");
  for (auto& [name, service] : ordered_.services) {
    const auto stored = session.catalog().services.find(name);
    if (stored == session.catalog().services.end()) {
      expect(false, name.name + " is gone");
      continue;
    }
    const live::ServiceEntry& entry = stored->second;
    if (!service.version) service.version = entry.meta.version;
    expect(service.version == entry.meta.version, "version of " + name.name);
    expect(std::as_const(session.scenario()).services[entry.id.index] == service.spec, "spec of " + name.name);
  }
  std::set<std::string> tenants;
  for (const auto& [name, meta] : session.catalog().tenants) tenants.insert(name);
  expect(tenants == ordered_.tenants, "tenants");
  for (std::uint32_t gpu = 0; gpu < session.scenario().gpu_count(); ++gpu) {
    const bool is_closed = session.gpu_state({gpu}).scheduling != GpuScheduling::kOpen;
    expect(is_closed == ordered_.closed_gpus.contains(gpu), fmt::format("scheduling of GPU {}", gpu));
  }
  const auto& pause = session.snapshot().pause;
  const bool is_own = pause && pause->reason == live::kPromisesFailed;  // planning paused itself
  expect((pause && !is_own ? std::optional(pause->reason) : std::nullopt) == ordered_.pause, "pause");
  expect(session.scenario().no_changes == ordered_.windows, "windows without changes");
  for (const std::uint64_t id : ordered_.approved_plans) {
    const live::PlanStatus* plan = session.plans().find(id);
    expect(plan == nullptr || plan->phase != live::PlanPhase::kAwaitingApproval, fmt::format("approval of {}", id));
  }
  return found;
}

}  // namespace berth::swarm::testing
