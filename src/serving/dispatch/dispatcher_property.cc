// Random histories of a server's calls: the laws hold after each, equal calls give equal orders, and when the calls
// stop everything comes to its end.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/core/overloaded.h"
#include "base/core/rng.h"
#include "serving/dispatch/dispatcher.h"
#include "serving/dispatch/testing/dispatch_laws.h"

namespace berth::serving {
namespace {

constexpr std::int64_t kMemory = 100;

std::string line_of(const Order& order) {
  return std::visit(Overloaded{[](const StartBatch& batch) {
                                 std::string line = fmt::format("batch {} {} {}:", int(batch.lane), int(batch.model),
                                                                batch.expected.count());
                                 for (const Request& request : batch.requests)
                                   line += fmt::format(" {}", request.number);
                                 return line;
                               },
                               [](const StartLoad& load) {
                                 return fmt::format("{} {}", load.is_preload ? "preload" : "load", int(load.model));
                               },
                               [](const Evict& eviction) { return fmt::format("evict {}", int(eviction.model)); },
                               [](const Reject& reject) {
                                 return fmt::format("reject {}: {}", reject.request.number, describe(reject));
                               },
                               [](const Drop& drop) { return fmt::format("drop {}", drop.request.number); }},
                    order);
}

/// A server whose calls, times and faults are drawn.
class RandomServer {
 public:
  explicit RandomServer(std::uint64_t seed)
      : rng_(seed),
        terms_(draw_terms()),
        dispatcher_(draw_models(), {{"a", 1}, {"b", 3}}, terms_),
        laws_(kMemory, terms_.lanes, !terms_.policy.rival.has_value()),
        batch_ends_(static_cast<std::size_t>(terms_.lanes), Instant::never()) {
    for (const ServedModel& model : dispatcher_.device().models()) laws_.add_model(model.terms);
  }

  void run(int steps) {
    for (int step = 0; step < steps && !laws_.broken(); ++step) {
      const Instant next_call = now_ + draw_pause();
      while (next_event() <= next_call && !laws_.broken()) advance(next_event());
      now_ = next_call;
      for (auto calls = draw(3); calls >= 0; --calls) call();
      decide();
    }
  }

  /// No more calls, no more faults: everything that waits must be answered or dropped.
  void drain() {
    are_faults_over_ = true;
    dispatcher_.stop_preloads();
    for (const ModelIndex model : all_models()) {
      if (!dispatcher_.device().fits_ever(model)) withdraw(model);
    }
    if (dispatcher_.device().lanes_working() == 0) take_back(dispatcher_.take_waiting());
    decide();
    constexpr int kEventsMax = 100'000;
    for (int events = 0; next_event() != Instant::never() && !laws_.broken(); ++events) {
      RC_ASSERT(events < kEventsMax);
      advance(next_event());
    }
  }

  void check_end() const {
    RC_ASSERT(laws_.open_count() == 0U);
    for (const ServedModel& model : dispatcher_.device().models()) {
      RC_ASSERT(model.queue.empty());
      RC_ASSERT(model.is_offered || model.is_stuck || model.residency == Residency::kCold);
    }
  }

  [[nodiscard]] const DispatchLaws& laws() const { return laws_; }
  [[nodiscard]] const std::string& log() const { return log_; }

 private:
  [[nodiscard]] std::int64_t draw(std::int64_t bound) {
    return static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(bound)));
  }
  [[nodiscard]] bool chance(int percent) { return draw(100) < percent; }
  [[nodiscard]] Indices<ModelIndex> all_models() const {
    return Indices<ModelIndex>(dispatcher_.device().models().size());
  }

  Micros draw_pause() {
    if (terms_.eviction == EvictionRule::kWarm && chance(10)) return Micros(draw(3 * kWarmStep.count()));
    return Micros(draw(chance(30) ? 40'000 : 3'000));
  }

  DispatchTerms draw_terms() {
    DispatchTerms terms{.policy = {}, .memory = kMemory, .lanes = static_cast<int>(1 + draw(3))};
    if (chance(40)) terms.policy = {.rival = static_cast<RivalKind>(draw(3)), .delay = Micros(draw(20'000))};
    terms.eviction = static_cast<EvictionRule>(draw(3));
    if (chance(30)) terms.queue_max = 1 + draw(10);
    if (chance(30)) terms.queue_bytes_max = 1 + draw(100);
    return terms;
  }

  ModelTerms draw_model() {
    std::vector<Micros> times;
    for (auto rows = 1 + draw(6); rows > 0; --rows) times.emplace_back(1 + draw(10'000));
    return {.name = "m",
            .bytes = draw(chance(10) ? 2 * kMemory : 60),
            .load = Micros(draw(50'000)),
            .latency = LatencyTable(times),
            .bytes_loading = chance(30) ? draw(80) : 0,
            .queue_max = chance(20) ? 1 + draw(4) : 0};
  }

  std::vector<ModelTerms> draw_models() {
    std::vector<ModelTerms> models;
    for (auto count = draw(4); count > 0; --count) models.push_back(draw_model());
    return models;
  }

  [[nodiscard]] Instant next_event() const {
    return std::min({dispatcher_.wake_at(), load_end_, std::ranges::min(batch_ends_)});
  }

  void advance(Instant to) {
    now_ = std::max(now_, to);
    for (const LaneIndex lane : Indices<LaneIndex>(batch_ends_.size())) {
      Instant& end = batch_ends_[static_cast<std::size_t>(lane)];
      if (end > now_) continue;
      end = Instant::never();
      laws_.end_batch(lane, dispatcher_.end_batch(lane, now_));
    }
    if (load_end_ <= now_) end_load();
    decide();
  }

  void end_load() {
    load_end_ = Instant::never();
    const ModelIndex model = dispatcher_.device().load()->model;
    if (!are_faults_over_ && chance(20)) {
      fail_load(model);
      return;
    }
    const bool is_as_expected = are_faults_over_ || chance(60);
    const std::int64_t measured = is_as_expected ? dispatcher_.device().model(model).terms.bytes : draw(kMemory + 20);
    const bool fits = dispatcher_.end_load(model, measured);
    laws_.end_load(model, measured, fits);
    if (!fits) fail_load(model);
    if (!dispatcher_.device().fits_ever(model)) withdraw(model);
  }

  void fail_load(ModelIndex model) {
    dispatcher_.fail_load(model);
    laws_.fail_load(model);
    if (chance(50)) dispatcher_.hold_off_load(model, now_ + Micros(draw(100'000)));
    if (chance(20)) withdraw(model);
  }

  void take_back(const std::vector<Request>& requests) {
    for (const Request& request : requests) laws_.take_back(request);
  }

  void withdraw(ModelIndex model) {
    take_back(dispatcher_.withdraw(model));
    laws_.set_offered(model, false);
  }

  void call() {
    if (dispatcher_.device().models().empty() || chance(3)) {
      add_model();
      return;
    }
    const ModelIndex model(draw(std::ssize(dispatcher_.device().models())));
    if (chance(60)) {
      arrive(model);
    } else if (chance(50)) {
      offer_or_not(model);
    } else {
      disturb(model);
    }
  }

  void add_model() {
    const ModelTerms terms = draw_model();
    (void)dispatcher_.add_model(terms);
    laws_.add_model(terms);
  }

  void arrive(ModelIndex model) {
    const RowCount rows_max = dispatcher_.device().model(model).terms.latency.rows_max();
    const Request request{.number = laws_.next_number() + draw(2),
                          .model = model,
                          .tenant = TenantIndex(draw(2)),
                          .arrival = now_,
                          .target = Micros(1 + draw(chance(50) ? 200'000 : 30'000)),
                          .priority = 1 + draw(3),
                          .rows = chance(70) ? 1 : static_cast<RowCount>(1 + draw(rows_max)),
                          .shape = chance(80) ? 0U : 1U,
                          .bytes = draw(20)};
    laws_.arrive(request);
    dispatcher_.arrive(request, now_);
  }

  void offer(ModelIndex model) {
    dispatcher_.offer(model);
    laws_.set_offered(model, true);
  }

  void offer_or_not(ModelIndex model) {
    switch (draw(4)) {
      case 0:
        offer(model);
        break;
      case 1:
        if (chance(30)) withdraw(model);
        break;
      case 2:
        if (!chance(30)) break;
        dispatcher_.let_go(model);
        laws_.set_offered(model, false);
        break;
      default:
        offer(model);
        dispatcher_.want_load(model, now_);
    }
  }

  void disturb(ModelIndex model) {
    switch (draw(5)) {
      case 0: {
        const Instant until = now_ + Micros(draw(100'000));
        dispatcher_.lease(model, until);
        laws_.lease(model, until);
        break;
      }
      case 1: {
        const ModelTerms terms = draw_model();
        take_back(dispatcher_.set_terms(model, terms));
        laws_.set_terms(model, terms);
        if (!dispatcher_.device().fits_ever(model)) withdraw(model);
        break;
      }
      case 2:
        cancel(model);
        break;
      case 3:
        if (chance(3)) lose_lane();
        break;
      default:
        if (chance(20)) take_back(dispatcher_.take_waiting(model));
    }
  }

  void cancel(ModelIndex model) {
    const auto& queue = dispatcher_.device().model(model).queue;
    if (queue.empty()) {
      RC_ASSERT(!dispatcher_.cancel(model, laws_.next_number()));
      return;
    }
    const Request request = queue[static_cast<std::size_t>(draw(std::ssize(queue)))];
    RC_ASSERT(dispatcher_.cancel(model, request.number));
    RC_ASSERT(!dispatcher_.cancel(model, request.number));
    laws_.take_back(request);
  }

  void lose_lane() {
    const LaneIndex lane(draw(terms_.lanes));
    if (are_lost_.contains(lane)) return;
    are_lost_.insert(lane);
    batch_ends_[static_cast<std::size_t>(lane)] = Instant::never();
    laws_.lose_lane(lane, dispatcher_.lose_lane(lane));
    for (const ModelIndex model : all_models()) {
      if (!dispatcher_.device().fits_ever(model)) withdraw(model);
    }
  }

  void decide() {
    obey_orders();  // of arrivals
    laws_.note_leaving(dispatcher_.device());
    dispatcher_.decide(now_);
    obey_orders();
    laws_.check_rest(dispatcher_.device(), now_);
    RC_ASSERT(dispatcher_.wake_at() > now_);
  }

  void obey_orders() {
    for (const Order& order : dispatcher_.take_orders()) {
      log_ += fmt::format("{} {}\n", now_.micros(), line_of(order));
      laws_.obey(order, now_);
      if (const auto* batch = std::get_if<StartBatch>(&order)) {
        const std::int64_t time = batch->expected.count() * (50 + draw(100)) / 100;
        batch_ends_[static_cast<std::size_t>(batch->lane)] = now_ + Micros(time);
      } else if (std::holds_alternative<StartLoad>(order)) {
        load_end_ = now_ + Micros(draw(80'000));
      }
    }
  }

  Rng rng_;
  DispatchTerms terms_;
  Dispatcher dispatcher_;
  DispatchLaws laws_;
  Instant now_;
  std::vector<Instant> batch_ends_;
  Instant load_end_ = Instant::never();
  std::set<LaneIndex> are_lost_;
  bool are_faults_over_ = false;
  std::string log_;
};

RC_GTEST_PROP(Dispatcher, KeepsTheLawsAndEndsEveryRequestOnce, (std::uint64_t seed)) {
  RandomServer server(seed);
  server.run(300);
  if (!server.laws().broken()) server.drain();
  if (server.laws().broken()) RC_FAIL(*server.laws().broken() + "\n" + server.log());
  server.check_end();
}

RC_GTEST_PROP(Dispatcher, EqualCallsGiveEqualOrders, (std::uint64_t seed)) {
  RandomServer first(seed);
  RandomServer second(seed);
  first.run(100);
  second.run(100);
  RC_ASSERT(first.log() == second.log());
}

}  // namespace
}  // namespace berth::serving
