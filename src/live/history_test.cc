/// Random histories of a live session: services come, change and go, GPUs are lost, drained and return, actions fail,
/// plans wait for approval, planning pauses, solutions arrive late. An auditor that reads events alone finds nothing
/// that must not be; and an engine that is restored from its memory on the way changes nothing.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "engine/evict_stage.h"
#include "engine/static_conflict.h"
#include "live/session.h"
#include "live/testing/auditor.h"
#include "live/testing/usage_auditor.h"
#include "profile/operating_point.h"
#include "sim/testing/scenarios.h"

namespace berth::live {
namespace {

using sim::testing::a100;
using sim::testing::generated;
using sim::testing::holding_of;
using sim::testing::kIsSlowBuild;
using sim::testing::Row;
using sim::testing::service_of;
using sim::testing::slice_at;

constexpr int kHistories = kIsSlowBuild ? 10 : 100;
constexpr int kRestoredHistories = kIsSlowBuild ? 3 : 25;
constexpr std::int64_t kEventfulSeconds = 120;
constexpr std::int64_t kOrderSeconds = 40;   ///< until what may not stand is gone, once it may go
constexpr std::int64_t kUseSeconds = 110;    ///< until every GPU must be in use again: an action may take 60 s
constexpr std::int64_t kQuietSeconds = 150;  ///< until everything that was begun must be over
constexpr std::uint32_t kGpus = 3;

/// Between 0 and `bound` - 1.
std::int64_t drawn(Rng& rng, std::uint64_t bound) { return static_cast<std::int64_t>(rng.below(bound)); }

// ---- what is drawn

Retraining random_retraining(Rng& rng) {
  Retraining retraining;
  retraining.every = Micros::seconds(40);
  retraining.offset = Micros::seconds(drawn(rng, 30));
  retraining.time_on = {{1, Micros::seconds(12)}, {2, Micros::seconds(8)}, {3, Micros::seconds(5)}};
  return retraining;
}

std::vector<Row> random_rows(Rng& rng) {
  // Batches of seconds are under way long after their service is gone.
  const std::int64_t latency_ms = rng.below(5) == 0 ? 2000 + drawn(rng, 20'000) : 5 + drawn(rng, 40);
  std::vector<Row> rows{{.latency_ms = latency_ms}};
  if (rng.below(2) == 0) rows.push_back({.profile = "2g.20gb", .batch = 2, .latency_ms = latency_ms});
  if (rng.below(3) == 0) rows.push_back({.profile = "3g.40gb", .batch = 4, .latency_ms = latency_ms});
  if (rng.below(5) == 0) rows = {{.profile = "7g.80gb", .batch = 8, .latency_ms = latency_ms}};
  return rows;
}

std::vector<Variant> random_variants(Rng& rng) {
  std::vector<Variant> variants(rng.below(3) == 0 ? 1 + rng.below(2) : 0);
  for (std::size_t i = 0; i < variants.size(); ++i) {
    variants[i].name = "v" + std::to_string(i);
    variants[i].table = sim::testing::table_of(random_rows(rng));
    const std::int64_t accuracy = 500'000 + drawn(rng, 400'000);
    variants[i].accuracy = {.before_micro = accuracy, .after_micro = accuracy};
  }
  return variants;
}

std::vector<Pin> random_pins(Rng& rng) {
  if (rng.below(6) != 0) return {};
  const auto gpu = static_cast<std::uint32_t>(rng.below(kGpus));
  return {{.slice = slice_at(gpu, "1g.10gb", static_cast<int>(rng.below(7)))}};
}

ServiceSpec random_service(Rng& rng) {
  // Some get so many requests that `fidelity: rates` serves them by rates, and go back to few.
  const std::int64_t rate = rng.below(4) == 0 ? 1500 : drawn(rng, 120);
  ServiceSpec spec = service_of("", random_rows(rng), generated(Generator::Kind::kPoisson, Decimal(rate), 60));
  spec.arrivals.repeat = true;
  if (rng.below(3) == 0) {
    spec.target_ms = Decimal(30'000);
    spec.target = Micros::seconds(30);
  }
  spec.start = Micros::seconds(drawn(rng, 8));
  if (rng.below(4) == 0) spec.expects = Decimal(1 + drawn(rng, 300));
  if (rng.below(5) == 0) spec.isolation = Isolation::kGpu;
  if (rng.below(6) == 0) spec.trust_domain = rng.below(2) == 0 ? "red" : "blue";
  if (rng.below(4) == 0) spec.drop = DropRule::kNever;
  if (rng.below(4) == 0) spec.weight = Decimal(1 + drawn(rng, 5));
  spec.variants = random_variants(rng);
  spec.pins = random_pins(rng);
  if (rng.below(5) == 0) spec.changes_per_hour = drawn(rng, 20);
  if (rng.below(5) == 0) spec.floor_attainment = Decimal(1, 2);
  if (rng.below(4) == 0) {
    spec.retraining = random_retraining(rng);
    spec.accuracy = {.before_micro = 600'000, .after_micro = 900'000};
  }
  return spec;
}

/// None in the quiet time, in which what was begun must end.
std::vector<FrozenWindow> random_windows(Rng& rng) {
  std::vector<FrozenWindow> windows;
  for (std::int64_t from = 5 + drawn(rng, 40); from < kEventfulSeconds - 30; from += 20 + drawn(rng, 60)) {
    windows.push_back({.from = Instant::at_second(from), .until = Instant::at_second(from + 3 + drawn(rng, 15))});
  }
  return windows;
}

/// A minute of the week that began not long ago or begins soon, or none.
NoChanges random_no_changes(Rng& rng, Instant now) {
  constexpr int kMinute = 5000;
  if (rng.below(3) == 0) return {};
  const Micros begins_in = Micros(drawn(rng, 80'000'000) - 60'000'000);
  return {.week_at_start = Micros::seconds(std::int64_t{kMinute} * 60) - (now - Instant()) - begins_in,
          .spans = {{.from_minute = kMinute, .until_minute = kMinute + 1}}};
}

sim::FaultOrder random_fault(Rng& rng) {
  constexpr std::array kKinds = {
      sim::FaultKind::kLose,           sim::FaultKind::kReturn,       sim::FaultKind::kReturn,
      sim::FaultKind::kFailCreate,     sim::FaultKind::kFailDestroy,  sim::FaultKind::kSlow,
      sim::FaultKind::kReportsFailure, sim::FaultKind::kForeignSlice, sim::FaultKind::kClear};
  sim::FaultOrder order;
  order.kind = kKinds[rng.below(kKinds.size())];
  const auto first = static_cast<std::uint32_t>(rng.below(kGpus));
  const auto last = first + static_cast<std::uint32_t>(rng.below(kGpus - first));
  for (std::uint32_t gpu = first; gpu <= last; ++gpu) order.gpus.push_back({gpu});
  const bool counts_actions = order.kind != sim::FaultKind::kLose && order.kind != sim::FaultKind::kReturn &&
                              order.kind != sim::FaultKind::kForeignSlice && order.kind != sim::FaultKind::kClear;
  if (counts_actions && (order.kind != sim::FaultKind::kSlow || rng.below(2) == 0)) order.times = 1 + drawn(rng, 3);
  if (order.kind == sim::FaultKind::kSlow) order.duration = Micros::seconds(1 + drawn(rng, 90));
  if (order.kind != sim::FaultKind::kForeignSlice) return order;
  const auto profile = static_cast<std::uint16_t>(rng.below(a100().profiles.size()));
  const std::vector<int>& starts = a100().profiles[profile].starts;
  order.profile = {profile};
  order.start = starts[rng.below(starts.size())];
  return order;
}

// ---- a solver that takes its time

class LateSolver {
 public:
  explicit LateSolver(Rng rng) : rng_(rng) {}

  void ask(SolveRequest request) {
    EXPECT_FALSE(request_.has_value()) << "a second question is open";
    due_at_ = request.made_at + Micros(drawn(rng_, rng_.below(4) == 0 ? 40'000'000 : 3'000'000));
    request_ = std::move(request);
  }
  void forget() { request_.reset(); }
  /// An answer that is due.
  [[nodiscard]] std::optional<SolveFinished> take(Instant now) {
    if (!request_ || now < due_at_) return std::nullopt;
    const SolveRequest request = *std::exchange(request_, std::nullopt);
    return SolveFinished{.question = request.question, .solution = std::make_shared<const Solution>(request.solve())};
  }

 private:
  Rng rng_;
  std::optional<SolveRequest> request_;
  Instant due_at_;
};

// ---- a history

/// What one history is about.
struct Kind {
  std::string policy = "berth";
  Approval approval = Approval::kNever;
  Micros planning;
  bool solves_late = false;
  bool restarts = false;
  bool loses_tail = false;  ///< restarts without what was told last, as far as the world did nothing by it
  bool saves = false;       ///< restarts from what was saved on the way, and what was told since then
};

Kind random_kind(Rng rng) {
  Kind kind;
  if (rng.below(4) == 0) kind.policy = "fixed";
  kind.approval = std::array{Approval::kNever, Approval::kFirst, Approval::kAlways}[rng.below(3)];
  kind.solves_late = rng.below(3) == 0;
  if (!kind.solves_late && rng.below(2) == 0) kind.planning = Micros::seconds(1 + drawn(rng, 6));
  kind.restarts = rng.below(2) == 0;
  kind.loses_tail = kind.restarts && rng.below(2) == 0;
  kind.saves = kind.restarts && rng.below(2) == 0;
  return kind;
}

class History {
 public:
  /// `restores`: the engine is restored from its memory again and again.
  explicit History(std::uint64_t seed, bool restores = false)
      : rng_(Rng(seed).split("history")), kind_(random_kind(rng_.split("kind"))), seed_(seed), restores_(restores) {
    scenario_ = random_scenario();
    auditor_.emplace(scenario_, testing::Auditor::Rules{.approval = kind_.approval});
    if (kind_.solves_late) solver_.emplace(rng_.split("solver"));
    session_ = make_session();
    session_->begin();
  }

  [[nodiscard]] std::unique_ptr<Session> make_session() {
    SessionOptions options;
    options.seed = seed_;
    options.policy = kind_.policy;
    options.approval = kind_.approval;
    options.wall_clock = [this] { return wall_us_; };
    options.no_changes = no_changes_;
    options.journal = [this](const sim::JournalRecord& record) {
      read_events();  // those that were before it
      auditor_->read(record);
      records_.push_back(record);
    };
    options.entries = [this](Entry entry) {
      note_orders();
      entries_.push_back(std::move(entry));
    };
    options.usage = [this](const UsageInterval& interval) { usage_.read(interval, entries_.size()); };
    if (restores_) {
      options.restores_engine_at = [this, rng = rng_.split("restores")](Instant) mutable {
        const bool is_chosen = rng.below(3) == 0;
        restored_count_ += is_chosen ? 1 : 0;
        return is_chosen;
      };
    }
    if (solver_) {
      options.solve_elsewhere = [this](SolveRequest request) { solver_->ask(std::move(request)); };
    }
    auto session = Session::make(scenario_, std::move(options));
    EXPECT_TRUE(session.has_value());
    return std::move(*session);
  }

  void run() {
    for (std::int64_t second = 1; second <= kEventfulSeconds; ++second) {
      run_to(Instant::at_second(second) + Micros(drawn(rng_, rng_.below(2) == 0 ? 1 : 900'000)));
      wall_us_ += drawn(rng_, 8'000'000);
      if (rng_.below(2) == 0) session_->expire_overdue();
      if (rng_.below(3) == 0) do_something();
      if (kind_.restarts && rng_.below(10) == 0) restart();
      if (kind_.saves && rng_.below(10) == 0) save();
      if (rng_.below(5) == 0) session_->refresh();
    }
    end_of_trouble();
    if (kind_.policy != "fixed") expect_order();
    use_every_gpu();
    remove_all();
    run_quietly_to(session_->now().second() + kQuietSeconds);
    auditor_->finish();
    for (const std::string& finding : usage_.findings(*session_)) ADD_FAILURE() << finding;
    expect_rest();
  }

  [[nodiscard]] const testing::Auditor& auditor() const { return *auditor_; }
  [[nodiscard]] const testing::UsageAuditor& usage() const { return usage_; }
  [[nodiscard]] const std::set<sim::FaultKind>& faults() const { return faults_; }
  [[nodiscard]] int restarts() const { return restarts_; }
  [[nodiscard]] int saves() const { return saves_; }
  /// Whether the auditor saw every event once.
  [[nodiscard]] bool is_audited() const { return !kind_.loses_tail; }
  [[nodiscard]] const std::vector<LoggedEvent>& events() const { return events_; }
  [[nodiscard]] const std::vector<sim::JournalRecord>& records() const { return records_; }
  /// How often the engine was restored.
  [[nodiscard]] int restored_count() const { return restored_count_; }

 private:
  Scenario random_scenario() {
    Scenario scenario = sim::testing::scenario_of({random_service(rng_)}, {}, kGpus);
    scenario.services.front().name = "first";
    scenario.services.front().tenant = "t";
    scenario.services.front().pins.clear();
    scenario.fidelity = rng_.below(2) == 0 ? Fidelity::kRequests : Fidelity::kRates;
    scenario.window_seconds = 30;
    scenario.planning = kind_.planning;
    scenario.frozen = random_windows(rng_);
    if (kind_.policy == "fixed") scenario.layout = {holding_of(slice_at(0, "1g.10gb", 0), {0})};
    if (kind_.policy != "fixed") scenario.layout.reset();
    return scenario;
  }

  /// What the world did stands on the entries so far.
  void note_orders() {
    if (!session_ || session_->order_count() == orders_) return;
    orders_ = session_->order_count();
    needed_entries_ = entries_.size();
  }

  /// What was told before is not needed any more.
  void save() {
    if (!session_->is_at_rest()) return;
    saved_ = session_->save();
    note_orders();
    saved_entries_ = needed_entries_ = entries_.size();
    ++saves_;
  }

  /// The session that was told all of this, or restored and told the rest.
  void make_again(Session& session, std::uint64_t carried_out) {
    if (!saved_) return session.repeat(entries_, carried_out);
    const auto begun_anew = session.restore(*saved_);
    ASSERT_TRUE(begun_anew.has_value());
    EXPECT_TRUE(begun_anew->empty());
    session.repeat({entries_.begin() + static_cast<std::ptrdiff_t>(saved_entries_), entries_.end()}, carried_out);
  }

  /// The process ends, and another one goes on: with all that was told, or without the last of it.
  void restart() {
    session_->tell_all();
    note_orders();
    const bool loses_tail = kind_.loses_tail && rng_.below(2) == 0;
    if (loses_tail) entries_.resize(needed_entries_ + rng_.below(entries_.size() + 1 - needed_entries_));
    sim::WorldLeft left = session_->world_left();
    const std::unique_ptr<Session> before = std::move(session_);
    if (solver_) solver_->forget();
    no_changes_.reset();
    if (rng_.below(3) == 0) no_changes_ = random_no_changes(rng_, before->now());
    std::unique_ptr<Session> after = make_session();
    make_again(*after, left.world.orders);
    if (!loses_tail) expect_same(*before, *after);
    usage_.lose(entries_.size(), after->now());
    read_ = std::min(read_, after->events().last_sequence());
    if (no_changes_) auditor_->obey(*no_changes_);
    session_ = std::move(after);
    session_->resume(std::move(left));
    read_events();
    ++restarts_;
  }

  static void expect_same(const Session& before, const Session& after) {
    EXPECT_GE(before.now(), after.now());  // it may have gone on without a step
    const Snapshot& a = before.snapshot();
    const Snapshot& b = after.snapshot();
    EXPECT_EQ(a.version, b.version);
    EXPECT_EQ(a.now, b.now);
    EXPECT_TRUE(std::ranges::equal(a.slices, b.slices));
    EXPECT_EQ(a.services.size(), b.services.size());
    for (std::size_t index = 0; index < std::min(a.services.size(), b.services.size()); ++index) {
      EXPECT_EQ(a.services[index].since, b.services[index].since);
      EXPECT_EQ(a.services[index].revision, b.services[index].revision);
      EXPECT_EQ(a.services[index].seconds.size(), b.services[index].seconds.size());
    }
    EXPECT_TRUE(a.gpus == b.gpus);
    EXPECT_TRUE(a.pause == b.pause);
    EXPECT_TRUE(before.scenario().no_changes == after.scenario().no_changes);
    EXPECT_EQ(before.events().last_sequence(), after.events().last_sequence());
    const auto first = before.events().oldest_sequence() - 1;
    const auto events_before = before.events().after(first, EventLog::kCapacity);
    const auto events_after = after.events().after(first, EventLog::kCapacity);
    EXPECT_TRUE(events_before == events_after);
    EXPECT_TRUE(before.catalog().tenants == after.catalog().tenants);
    EXPECT_TRUE(before.catalog().services == after.catalog().services);
    EXPECT_EQ(before.plans().plans().size(), after.plans().plans().size());
    EXPECT_EQ(before.is_solving(), after.is_solving());
    EXPECT_EQ(before.order_count(), after.order_count());
    EXPECT_TRUE(before.usage().open() == after.usage().open());
  }

  void read_events() {
    if (!session_) return;
    const EventLog& log = session_->events();
    for (const LoggedEvent& event : log.after(read_, EventLog::kCapacity)) {
      auditor_->read(event);
      events_.push_back(event);
    }
    read_ = log.last_sequence();
  }

  /// In pieces, as a clock drives it.
  void run_to(Instant until) {
    usage_.look(*session_);  // after what was ordered at this instant
    while (session_->now() < until) {
      if (solver_) {
        if (auto finished = solver_->take(session_->now())) session_->answer(std::move(*finished));
      }
      static_cast<void>(session_->advance(std::min(until, session_->now() + Micros(1 + drawn(rng_, 700'000)))));
      read_events();
      usage_.look(*session_);
    }
    auditor_->reach(session_->now());
    for (const StandingSlice& standing : session_->snapshot().slices) {
      for (const ServiceId service : standing.holding.services) {
        EXPECT_LT(service.index, session_->scenario().services.size());
      }
    }
  }

  /// Whatever waits is approved.
  void run_quietly_to(std::int64_t second) {
    while (session_->now().second() < second) {
      run_to(Instant::at_second(session_->now().second() + 1));
      if (const auto waiting = waiting_plan()) session_->approve(*waiting, "the end");
      read_events();
    }
  }

  [[nodiscard]] std::optional<std::uint64_t> waiting_plan() const {
    const PlanStatus* plan = session_->plans().current();
    if (plan == nullptr || plan->phase != PlanPhase::kAwaitingApproval) return std::nullopt;
    return plan->plan->id;
  }

  void do_something() {
    const GpuId gpu{static_cast<std::uint32_t>(rng_.below(kGpus))};
    const ServiceName name{.tenant = "t", .name = "s" + std::to_string(rng_.below(4))};
    switch (rng_.below(18)) {
      case 0:
        session_->schedule(gpu, GpuScheduling::kCordoned, "test");
        break;
      case 1:
        session_->schedule(gpu, GpuScheduling::kDraining, "test");
        break;
      case 2:
      case 3:
        session_->schedule(gpu, GpuScheduling::kOpen, "test");
        break;
      case 4:
      case 5:
        static_cast<void>(session_->remove_service(name));
        break;
      case 6:
        session_->pause("test");
        break;
      case 7:
      case 8:
        session_->resume("test");
        break;
      case 9:
      case 10:
      case 11:
        approve_something();
        break;
      case 12:
      case 13:
        inject(random_fault(rng_));
        break;
      case 14:
        set_or_remove_tenant();
        break;
      case 15:
        set_no_changes(random_no_changes(rng_, session_->now()));
        break;
      default:
        set_random(name);
        break;
    }
    read_events();
  }

  /// Unless what it asks for contradicts the others, which the API refuses.
  void set_random(const ServiceName& name) {
    const ServiceSpec spec = random_service(rng_);
    Scenario after = session_->scenario();
    const auto known = session_->catalog().services.find(name);
    if (known == session_->catalog().services.end()) {
      after.services.push_back(spec);
    } else {
      after.services.set(known->second.id.index, spec);
    }
    if (find_static_conflict(after)) return;
    EXPECT_TRUE(session_->set_service(name, spec, {}, std::nullopt).has_value());
  }

  void set_no_changes(const NoChanges& windows) {
    read_events();
    auditor_->obey(windows);
    EXPECT_TRUE(session_->set_no_changes(windows));
    read_events();
  }

  /// Another one, which has no services.
  void set_or_remove_tenant() {
    if (session_->catalog().tenants.contains("u")) {
      EXPECT_TRUE(session_->remove_tenant("u").has_value());
    } else {
      EXPECT_TRUE(session_->set_tenant("u", {}, std::nullopt).has_value());
    }
  }

  void inject(const sim::FaultOrder& order) {
    if (session_->inject(order).has_value()) faults_.insert(order.kind);
  }

  /// The plan that waits, sometimes too late; or one that does not wait, or that is not there.
  void approve_something() {
    const auto waiting = waiting_plan();
    if (rng_.below(4) == 0) {
      EXPECT_EQ(session_->approve(1'000'000 + rng_.below(10), "test"), ApprovalOutcome::kUnknown);
    }
    const auto& plans = session_->plans().plans();
    if (!plans.empty() && rng_.below(4) == 0) {
      const std::uint64_t other = plans[rng_.below(plans.size())].plan->id;
      EXPECT_TRUE(other == waiting || session_->approve(other, "test") != ApprovalOutcome::kAccepted);
    }
    if (!waiting) return;
    const bool is_late = rng_.below(5) == 0;
    if (is_late) wall_us_ += kProposalWait.count();
    const ApprovalOutcome outcome = session_->approve(*waiting, "test");
    EXPECT_NE(outcome, ApprovalOutcome::kUnknown);
    EXPECT_TRUE(!is_late || outcome == ApprovalOutcome::kNotWaiting);
  }

  void end_of_trouble() {
    session_->resume("the end");
    set_no_changes({});
    for (const sim::FaultKind kind : {sim::FaultKind::kClear, sim::FaultKind::kReturn}) {
      sim::FaultOrder order;
      order.kind = kind;
      for (std::uint32_t gpu = 0; gpu < kGpus; ++gpu) order.gpus.push_back({gpu});
      EXPECT_TRUE(session_->inject(order).has_value());
    }
    for (std::uint32_t gpu = 0; gpu < kGpus; ++gpu) session_->schedule({gpu}, GpuScheduling::kOpen, "the end");
    read_events();
  }

  /// Some time after the last trouble the services that were set have only slices that serve them, beside services
  /// that they accept. Pins are promises, too.
  void expect_order() {
    run_quietly_to(session_->now().second() + kUselessAtMost.count() / kMicrosPerSecond + kOrderSeconds);
    for (const StandingSlice& standing : session_->snapshot().slices) {
      if (standing.is_leaving || standing.holding.services.empty()) continue;
      const ServiceId service = standing.holding.services.front();
      const std::uint64_t revision = session_->snapshot().services[service.index].revision;
      const ServiceSpec& spec = std::as_const(session_->scenario().services)[service.index];
      if (revision == 0 || is_pinned(spec, standing.holding.slice)) continue;
      if (standing.holding.role == Role::kInference) {
        EXPECT_TRUE(can_serve(spec, standing.holding.slice.profile)) << spec.name << " has a useless slice";
      }
      for (const StandingSlice& other : session_->snapshot().slices_on(standing.holding.slice.gpu)) {
        if (other.is_leaving || other.holding.services.empty()) continue;
        const ServiceId neighbour = other.holding.services.front();
        if (neighbour == service || session_->snapshot().services[neighbour.index].revision > revision) continue;
        EXPECT_TRUE(may_share_gpu(spec, std::as_const(session_->scenario().services)[neighbour.index]))
            << spec.name << " has a neighbour that it may not have";
      }
    }
  }

  [[nodiscard]] static bool is_pinned(const ServiceSpec& spec, const Slice& slice) {
    return std::ranges::find(spec.pins, slice, &Pin::slice) != spec.pins.end();
  }

  [[nodiscard]] static bool can_serve(const ServiceSpec& spec, ProfileId profile) {
    for (int variant = 0; variant <= static_cast<int>(spec.variants.size()); ++variant) {
      if (profile::choose_point(spec, a100(), profile, variant)) return true;
    }
    return false;
  }

  /// A service that needs all GPUs gets them: none is stuck. The policy `fixed` gives it nothing.
  void use_every_gpu() {
    for (const auto& [name, entry] : std::map(session_->catalog().services)) {
      EXPECT_TRUE(session_->remove_service(name).has_value());
    }
    if (kind_.policy == "fixed") return;
    ServiceSpec large = service_of("", {{.profile = "7g.80gb", .latency_ms = 10}},
                                   generated(Generator::Kind::kPoisson, Decimal(280), 60));
    large.arrivals.repeat = true;
    large.expects = Decimal(280);
    EXPECT_TRUE(session_->set_service({.tenant = "t", .name = "large"}, large, {}, std::nullopt).has_value());
    run_quietly_to(session_->now().second() + kUseSeconds);
    for (std::uint32_t gpu = 0; gpu < kGpus; ++gpu) {
      EXPECT_TRUE(is_serving({gpu})) << "GPU " << gpu << " is stuck";
    }
  }

  [[nodiscard]] bool is_serving(GpuId gpu) const {
    return std::ranges::any_of(session_->snapshot().slices, [&](const StandingSlice& standing) {
      return standing.holding.slice.gpu == gpu && standing.is_ready && !standing.holding.services.empty();
    });
  }

  void remove_all() {
    for (const auto& [name, entry] : std::map(session_->catalog().services)) {
      EXPECT_TRUE(session_->remove_service(name).has_value());
    }
    EXPECT_TRUE(session_->remove_tenant("t").has_value());
    read_events();
  }

  /// Nothing is under way any more, nobody holds anything, and the engine knows what stands.
  void expect_rest() {
    std::set<Slice> known;
    for (const StandingSlice& standing : session_->snapshot().slices) {
      EXPECT_FALSE(standing.is_leaving);
      EXPECT_TRUE(standing.is_ready);
      EXPECT_TRUE(standing.holding.services.empty());
      known.insert(standing.holding.slice);
    }
    if (is_audited()) {
      EXPECT_EQ(known, auditor_->standing());
    }
    std::set<Slice> standing;
    for (const sim::DeviceMemory& device : session_->world_left().devices) {
      for (const sim::SliceMemory& slice : device.slices) standing.insert(slice.slice);
    }
    EXPECT_EQ(known, standing);
    EXPECT_LE(session_->scenario().services.size(), 12U) << "places are taken again";
  }

  Rng rng_;
  Kind kind_;
  std::uint64_t seed_;
  bool restores_;
  Scenario scenario_;
  std::optional<NoChanges> no_changes_;  ///< of the next session
  std::vector<Entry> entries_;
  std::size_t needed_entries_ = 0;  ///< the first ones, by which the world has done something
  std::uint64_t orders_ = 0;        ///< when they were counted
  int restarts_ = 0;
  std::optional<std::string> saved_;  ///< the session, when there were so many entries:
  std::size_t saved_entries_ = 0;
  int saves_ = 0;
  std::int64_t wall_us_ = 1'700'000'000'000'000;
  std::optional<LateSolver> solver_;
  std::optional<testing::Auditor> auditor_;
  testing::UsageAuditor usage_;
  std::uint64_t read_ = 0;  ///< the last event that was read
  std::set<sim::FaultKind> faults_;
  std::vector<LoggedEvent> events_;
  std::vector<sim::JournalRecord> records_;
  int restored_count_ = 0;
  std::unique_ptr<Session> session_;
};

/// Histories that do little would find little.
void expect_full(const std::map<EventKind, std::int64_t>& counts, const std::set<sim::FaultKind>& faults) {
  EXPECT_EQ(faults.size(), static_cast<std::size_t>(sim::FaultKind::kClear) + 1) << "a kind of fault is never drawn";
  for (int kind = 0; kind <= static_cast<int>(EventKind::kFaultCleared); ++kind) {
    if (static_cast<EventKind>(kind) == EventKind::kGpuSeen) continue;  // a simulated fleet never grows
    const auto known = counts.find(static_cast<EventKind>(kind));
    const bool is_seen = known != counts.end() && known->second > 0;
    EXPECT_TRUE(is_seen) << event_word(static_cast<EventKind>(kind)) << " never happens";
  }
}

TEST(History, AnAuditorFindsNothingThatMustNotBe) {
  std::map<EventKind, std::int64_t> counts;
  std::set<sim::FaultKind> faults;
  int restarts = 0;
  std::size_t looks = 0;
  std::map<std::string, int> usage;  ///< intervals by what they are
  int saves = 0;
  for (int seed = 1; seed <= kHistories; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);

    History history(static_cast<std::uint64_t>(seed));
    history.run();
    restarts += history.restarts();
    looks += history.usage().look_count();
    for (const auto& [word, count] : history.usage().counts()) usage[word] += count;
    saves += history.saves();
    for (const LoggedEvent& event : history.events()) ++counts[event.kind];
    if (!history.is_audited()) continue;
    for (const std::string& finding : history.auditor().findings()) ADD_FAILURE() << finding;
    if (::testing::Test::HasFailure()) return;
    faults.insert(history.faults().begin(), history.faults().end());
  }
  EXPECT_GT(restarts, 2 * kHistories);
  EXPECT_GT(looks, 100U * kHistories);
  for (const char* word : {"held", "changing", "free", "lost", "foreign"})
    EXPECT_GT(usage[word], kIsSlowBuild ? 0 : kHistories / 10) << word;
  EXPECT_GT(saves, kHistories / 2);
  if (!kIsSlowBuild) expect_full(counts, faults);
}

TEST(History, AnEngineRestoredFromItsMemoryChangesNothing) {
  for (int seed = 1; seed <= kRestoredHistories; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    History straight(static_cast<std::uint64_t>(seed));
    straight.run();
    History restored(static_cast<std::uint64_t>(seed), /*restores=*/true);
    restored.run();
    EXPECT_GT(restored.restored_count(), 0);
    EXPECT_TRUE(restored.events() == straight.events());
    EXPECT_TRUE(restored.records() == straight.records());
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace berth::live
