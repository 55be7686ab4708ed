#include "apps/swarm/testing/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "live/chain/verify.h"
#include "live/session/testing/random_orders.h"
#include "sim/world/testing/scenarios.h"

namespace berth::swarm::testing {
namespace {

constexpr std::size_t kFindingsMax = 20;

}  // namespace

std::string_view word(Trouble trouble) {
  constexpr std::array<std::string_view, kTroubleCount> kWords = {"clock jumps",    "kills",         "power cuts",
                                                                  "failing stores", "slow stores",   "lost nodes",
                                                                  "slow solvers",   "device faults", "operators"};
  return kWords[static_cast<std::size_t>(trouble)];
}

World::World(const WorldOptions& options)
    : rng_(Rng(options.seed).split("swarm")),
      options_(options),
      machine_(options.seed, rng_.split("machine").below(4) != 0),
      solver_([this] {
        ++questions_;
        return solver_delay_;
      }) {
  Rng rng = rng_.split("kind");
  for (std::size_t i = 0; i < kTroubleCount; ++i) {
    if (rng.below(2) == 0) kinds_.insert(static_cast<Trouble>(i));
  }
  if (!machine_.has_disk()) kinds_.erase(Trouble::kPowerCut);
  if (rng.below(5) == 0) policy_ = "fixed";
  if (rng.below(3) == 0) approval_ = rng.below(2) == 0 ? Approval::kFirst : Approval::kAlways;
  scenario_ = random_scenario();
  start_again();
}

Scenario World::random_scenario() {
  Rng rng = rng_.split("scenario");
  Scenario scenario = sim::testing::scenario_of({random_service(rng)}, {}, kGpus);
  scenario.gpus_per_node = kGpusPerNode;
  scenario.services.front().name = "first";
  scenario.services.front().tenant = "t";
  scenario.services.front().pins.clear();
  scenario.fidelity = rng.below(4) == 0 ? Fidelity::kRequests : Fidelity::kRates;
  scenario.window_seconds = 30;
  scenario.history_seconds = 0;
  scenario.layout.reset();
  if (policy_ == "fixed") {
    scenario.layout = {sim::testing::holding_of(sim::testing::slice_at(0, "1g.10gb", 0), {0})};
  }
  // None in the quiet time, in which everything under way must end.
  if (rng.below(3) == 0) scenario.frozen = live::testing::random_windows(rng, options_.troubled_seconds - 30);
  return scenario;
}

void World::run() {
  while (steady_us_ < options_.troubled_seconds * kMicrosPerSecond) {
    end_episodes();
    begin_trouble();
    pass_second();
    if (is_up()) order_something();
  }
  heal();
  expect_recovery();
  expect_service_of_one();
  expect_all_gpus_in_use();
  expect_end();
}

// ---- one second

void World::pass_second() {
  steady_us_ += kMicrosPerSecond;
  wall_us_ += kMicrosPerSecond;
  if (!process_) start_again();
  if (is_up()) live_second();
  if (process_ && process_->is_dead()) bury();
}

void World::live_second() {
  live::Session& session = process_->session();
  session.expire_overdue();
  process_->run_to(session.now() + Micros(kMicrosPerSecond), rng_);
  if (steady_us_ / kMicrosPerSecond % record_every_ == 0 && is_up()) process_->record();
  if (rng_.below(300) == 0 && is_up() && process_->save()) {
    ++snapshots_;
    const std::uint64_t last = process_->recorder().last_sequence();
    if (rng_.below(2) == 0) static_cast<void>(process_->recorder().prune({.rows_before = rng_.below(last + 1)}));
  }
  if (!is_up()) return;
  if (!process_->recorder().failure()) ledger_->forget_refused();
  process_->read_events();
  safe_event_ = process_->last_safe_event();
}

/// The process has ended, or is ended now.
void World::bury() {
  note(loses_power_ ? "the power is cut" : "the process is killed");
  machine_.stop_after(0);
  process_.reset();
  solver_.forget();
  const std::size_t told = machine_.restart(std::exchange(loses_power_, false), rng_);
  story_.lose(story_.last_event(), told);
}

void World::start_again() {
  process_ = std::make_unique<Process>(Surroundings{.machine = machine_,
                                                    .scenario = scenario_,
                                                    .seed = options_.seed,
                                                    .policy = policy_,
                                                    .approval = approval_,
                                                    .solver = solver_,
                                                    .wall_us = wall_us_,
                                                    .steady_us = steady_us_,
                                                    .story = story_,
                                                    .usage = usage_});
  process_->on_repeated([this](const live::Session& session) { compare_past(session); });
  if (ledger_ && has(Trouble::kKill) && rng_.below(4) == 0) process_->die_before_write(1 + rng_.below(10));
  const auto failure = process_->start();
  if (failure) {
    if (!process_->is_dead() && !has_failing_store_) found("does not start: " + *failure);
    note("does not start: " + *failure);
    return bury();
  }
  if (!ledger_) {
    ledger_.emplace(process_->session());
    return;
  }
  ++restarts_;
  note("started again");
  found(ledger_->settle(*process_));
}

/// Compares the events that clients have seen with the repeated ones; later events are taken back.
void World::compare_past(const live::Session& repeated) {
  const live::EventLog& log = repeated.events();
  if (log.last_sequence() < safe_event_) {
    found(fmt::format("event {} is lost, the last one is {}", safe_event_, log.last_sequence()));
  }
  std::vector<live::LoggedEvent> again = log.after(log.oldest_sequence() - 1, live::EventLog::kCapacity);
  std::vector<live::LoggedEvent> seen = story_.events();
  const auto is_other = [&](const live::LoggedEvent& event) {
    return event.sequence > safe_event_ || event.sequence < log.oldest_sequence();
  };
  std::erase_if(seen, is_other);
  std::erase_if(again, is_other);
  if (seen != again && log.last_sequence() >= safe_event_) found("an event that was seen is another one now");
  story_.lose(log.last_sequence(), story_.record_count());
  story_.go_on(std::max(repeated.now(), machine_.devices_clock()));
}

std::string World::told() const {
  std::string text;
  for (const live::LoggedEvent& event : story_.events()) {
    text += fmt::format("{} {} {} {} {}\n", event.sequence, event.at.micros(), live::event_word(event.kind),
                        event.object.name, event.message);
  }
  return text;
}

void World::note(Trouble trouble) {
  ++troubles_[static_cast<std::size_t>(trouble)];
  note(std::string(word(trouble)));
}

void World::note(const std::string& what) {
  diary_ += fmt::format("second {}, {} us of the world, after event {}: {}\n", steady_us_ / kMicrosPerSecond,
                        process_ && process_->has_session() ? process_->session().now().micros() : -1,
                        story_.last_event(), what);
}

void World::found(std::string what) {
  note("found: " + what);
  if (findings_.size() < kFindingsMax) {
    findings_.push_back(fmt::format("second {}: {}", steady_us_ / kMicrosPerSecond, what));
  }
}

void World::found(const std::vector<std::string>& all) {
  for (const std::string& each : all) found(each);
}

}  // namespace berth::swarm::testing
