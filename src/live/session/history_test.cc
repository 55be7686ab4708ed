/// Random histories of a live session: services are added, changed and removed, GPUs are lost, drained and return,
/// actions fail, plans wait for approval, planning pauses, solutions arrive late. An auditor that reads events alone
/// finds no violation; and restoring the engine from its memory on the way changes nothing.

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

#include "base/core/rng.h"
#include "engine/loop/evict_stage.h"
#include "engine/loop/static_conflict.h"
#include "live/session/entry.h"
#include "live/session/plan_log.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "live/session/testing/auditor.h"
#include "live/session/testing/late_solver.h"
#include "live/session/testing/random_orders.h"
#include "live/session/testing/recovery.h"
#include "live/session/testing/session_engine.h"
#include "live/session/testing/story.h"
#include "live/session/testing/usage_auditor.h"
#include "live/session/usage_book.h"
#include "sim/world/testing/scenarios.h"

namespace berth::live {
namespace {

using sim::testing::holding_of;
using sim::testing::kIsSlowBuild;
using sim::testing::slice_at;
using testing::drawn;
using testing::random_fault;
using testing::random_no_changes;
using testing::random_service;
using testing::random_windows;

constexpr int kHistories = kIsSlowBuild ? 10 : 100;
constexpr int kRestoredHistories = kIsSlowBuild ? 1 : 25;
constexpr std::int64_t kEventfulSeconds = 120;
constexpr std::int64_t kOrderSeconds = 40;   ///< until forbidden slices are gone, once they may be destroyed
constexpr std::int64_t kUseSeconds = 110;    ///< until every GPU must be in use again: an action may take 60 s
constexpr std::int64_t kQuietSeconds = 150;  ///< until everything under way must be over
constexpr std::uint32_t kGpus = 3;

// ---- a history

/// The options of one history.
struct Kind {
  std::string policy = "berth";
  Approval approval = Approval::kNever;
  Micros planning;
  bool solves_late = false;
  bool restarts = false;
  bool loses_tail = false;  ///< restarts without the last entries, if the world has not acted on them
  bool saves = false;       ///< restarts from a save made on the way, and the entries since then
  bool first_layout_takes_time = false;
  bool jumps = false;  ///< its clock sometimes goes on at once, at a restart or while it runs
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
  kind.first_layout_takes_time = rng.split("first layout").below(3) == 0;
  kind.jumps = rng.split("jumps").below(3) == 0;
  return kind;
}

class History {
 public:
  /// `restores`: the engine is restored from its memory repeatedly.
  explicit History(std::uint64_t seed, bool restores = false)
      : rng_(Rng(seed).split("history")), kind_(random_kind(rng_.split("kind"))), seed_(seed), restores_(restores) {
    scenario_ = random_scenario();
    if (kind_.solves_late) {
      solver_.emplace([rng = rng_.split("solver")]() mutable {
        return Micros(drawn(rng, rng.below(4) == 0 ? 40'000'000 : 3'000'000));
      });
    }
    session_ = make_session();
    session_->begin();
  }

  [[nodiscard]] std::unique_ptr<Session> make_session() {
    SessionOptions options;
    options.seed = seed_;
    options.policy = kind_.policy;
    options.approval = kind_.approval;
    options.first_layout_takes_time = kind_.first_layout_takes_time;
    options.proposals_expire = true;
    options.listener.wall_clock = [this] { return wall_us_; };
    options.no_changes = no_changes_;
    options.listener.journal = [this](const sim::JournalRecord& record) {
      read_events();  // the events before the record
      story_.read(record);
      records_.push_back(record);
    };
    options.listener.entry = [this](Entry entry) {
      note_orders();
      entries_.push_back(std::move(entry));
    };
    options.listener.usage = [this](const UsageInterval& interval) { usage_.read(interval, entries_.size()); };
    if (solver_) {
      options.solving = sim::Solving::kElsewhere;
      options.listener.question = [this](SolveRequest request) {
        EXPECT_FALSE(solver_->is_open()) << "a second question is open";
        solver_->ask(std::move(request));
      };
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
      if (kind_.jumps && jumps_.below(20) == 0) skip();
      if (rng_.below(5) == 0) session_->refresh();
    }
    end_of_trouble();
    if (kind_.policy != "fixed") expect_order();
    use_every_gpu();
    remove_all();
    run_quietly_to(session_->now().second() + kQuietSeconds);
    report(usage_.findings(*session_));
    audit();
    report(testing::find_unrest(*session_));
    EXPECT_LE(session_->scenario().services.size(), 12U) << "places are taken again";
  }

  [[nodiscard]] const testing::UsageAuditor& usage() const { return usage_; }
  [[nodiscard]] const std::set<sim::FaultKind>& faults() const { return faults_; }
  [[nodiscard]] int restarts() const { return restarts_; }
  [[nodiscard]] int saves() const { return saves_; }
  /// How often its clock went on at once.
  [[nodiscard]] int gaps() const { return gaps_; }
  [[nodiscard]] std::vector<LoggedEvent> events() const { return story_.events(); }
  [[nodiscard]] const std::vector<sim::JournalRecord>& records() const { return records_; }
  /// How often the engine was restored.
  [[nodiscard]] int restored_count() const { return restored_count_; }

 private:
  Scenario random_scenario() {
    Scenario scenario = sim::testing::scenario_of({random_service(rng_, kGpus)}, {}, kGpus);
    scenario.services.front().name = "first";
    scenario.services.front().tenant = "t";
    scenario.services.front().pins.clear();
    scenario.fidelity = rng_.below(2) == 0 ? Fidelity::kRequests : Fidelity::kRates;
    scenario.window_seconds = 30;
    scenario.planning = kind_.planning;
    scenario.frozen = random_windows(rng_, kEventfulSeconds - 30);
    if (kind_.policy == "fixed") scenario.layout = {holding_of(slice_at(0, "1g.10gb", 0), {0})};
    if (kind_.policy != "fixed") scenario.layout.reset();
    return scenario;
  }

  /// The world's actions depend on the entries so far.
  void note_orders() {
    if (!session_ || session_->order_count() == orders_) return;
    orders_ = session_->order_count();
    needed_entries_ = entries_.size();
  }

  /// Earlier entries are no longer needed.
  void save() {
    if (!session_->is_at_rest()) return;
    saved_ = session_->save();
    note_orders();
    saved_entries_ = needed_entries_ = entries_.size();
    ++saves_;
  }

  /// The session rebuilt from all entries, or restored and given the rest.
  void make_again(Session& session, std::uint64_t carried_out) {
    if (!saved_) return session.repeat(entries_, carried_out);
    const auto begun_anew = session.restore(*saved_);
    ASSERT_TRUE(begun_anew.has_value());
    EXPECT_TRUE(begun_anew->empty());
    session.repeat({entries_.begin() + static_cast<std::ptrdiff_t>(saved_entries_), entries_.end()}, carried_out);
  }

  /// The process ends, and another one continues: with all entries, or without the last ones.
  void restart() {
    session_->emit_all();
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
    if (!loses_tail) report(testing::find_differences(*before, *after));
    usage_.lose(entries_.size(), after->now());
    story_.lose(after->events().last_sequence(), story_.record_count());
    story_.go_on(std::max(left.world.now, after->now()));
    session_ = std::move(after);
    std::optional<Instant> clock;
    if (kind_.jumps && jumps_.below(2) == 0) clock = std::max(left.world.now, session_->now()) + random_gap();
    if (clock) story_.go_on(*clock);
    session_->resume(std::move(left), clock);
    read_events();
    ++restarts_;
    if (clock) ++gaps_;
  }

  Micros random_gap() { return Micros(1 + drawn(jumps_, jumps_.below(2) == 0 ? 900'000 : 40'000'000)); }

  void skip() {
    const Instant to = session_->now() + random_gap();
    usage_.look(*session_);
    story_.go_on(to);
    session_->skip_to(to);
    EXPECT_EQ(session_->now(), to);
    read_events();
    usage_.look(*session_);
    ++gaps_;
  }

  void read_events() {
    if (!session_) return;
    const EventLog& log = session_->events();
    for (const LoggedEvent& event : log.after(story_.last_event(), EventLog::kCapacity)) {
      if (event.kind == EventKind::kNoChangesSet) story_.obey(session_->scenario().no_changes);
      story_.read(event);
    }
  }

  /// In pieces, as a clock drives it.
  void run_to(Instant until) {
    usage_.look(*session_);  // after the orders of this instant
    while (session_->now() < until) {
      if (solver_) {
        if (auto finished = solver_->take(session_->now())) session_->answer(std::move(*finished));
      }
      static_cast<void>(session_->advance(std::min(until, session_->now() + Micros(1 + drawn(rng_, 700'000)))));
      if (restores_ && restores_rng_.below(3) == 0 && testing::SessionEngine::restore(*session_)) ++restored_count_;
      read_events();
      usage_.look(*session_);
    }
    for (const StandingSlice& standing : session_->snapshot().slices) {
      for (const ServiceId service : standing.holding.services) {
        EXPECT_LT(service.index, session_->scenario().services.size());
      }
    }
  }

  /// Approves every waiting plan.
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
        inject(random_fault(rng_, kGpus));
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

  /// Does nothing if the service contradicts the others, which the API refuses.
  void set_random(const ServiceName& name) {
    const ServiceSpec spec = random_service(rng_, kGpus);
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
    EXPECT_TRUE(session_->set_no_changes(windows));
    read_events();
  }

  /// Sets another tenant, which has no services.
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

  /// Approves the waiting plan, sometimes too late; or one that does not wait or does not exist.
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

  void expect_order() {
    run_quietly_to(session_->now().second() + kUselessAtMost.count() / kMicrosPerSecond + kOrderSeconds);
    report(testing::find_misplaced(*session_));
  }

  /// A service that needs all GPUs gets them: no GPU is stuck. The policy `fixed` gives it nothing.
  void use_every_gpu() {
    for (const auto& [name, entry] : std::map(session_->catalog().services)) {
      EXPECT_TRUE(session_->remove_service(name).has_value());
    }
    if (kind_.policy == "fixed") return;
    const ServiceSpec large = testing::service_for_all_gpus(kGpus);
    EXPECT_TRUE(session_->set_service({.tenant = "t", .name = "large"}, large, {}, std::nullopt).has_value());
    run_quietly_to(session_->now().second() + kUseSeconds);
    report(testing::find_idle_gpus(*session_));
  }

  void remove_all() {
    for (const auto& [name, entry] : std::map(session_->catalog().services)) {
      EXPECT_TRUE(session_->remove_service(name).has_value());
    }
    EXPECT_TRUE(session_->remove_tenant("t").has_value());
    read_events();
  }

  void audit() const {
    testing::Auditor auditor = story_.audited(scenario_, {.approval = kind_.approval}, session_->now());
    auditor.finish();
    report(auditor.findings());
    EXPECT_EQ(testing::known_slices(*session_), auditor.standing());
  }

  static void report(const std::vector<std::string>& findings) {
    for (const std::string& finding : findings) ADD_FAILURE() << finding;
  }

  Rng rng_;
  Kind kind_;
  std::uint64_t seed_;
  bool restores_;
  Rng restores_rng_ = rng_.split("restores");
  Rng jumps_ = rng_.split("jumps");
  int gaps_ = 0;
  Scenario scenario_;
  std::optional<NoChanges> no_changes_;  ///< of the next session
  std::vector<Entry> entries_;
  std::size_t needed_entries_ = 0;  ///< the first ones, on which the world has acted
  std::uint64_t orders_ = 0;        ///< when they were counted
  int restarts_ = 0;
  std::optional<std::string> saved_;  ///< the session, when there were that many entries:
  std::size_t saved_entries_ = 0;
  int saves_ = 0;
  std::int64_t wall_us_ = 1'700'000'000'000'000;
  std::optional<testing::LateSolver> solver_;
  testing::Story story_;
  testing::UsageAuditor usage_;
  std::set<sim::FaultKind> faults_;
  std::vector<sim::JournalRecord> records_;
  int restored_count_ = 0;
  std::unique_ptr<Session> session_;
};

/// Histories with little activity would find little.
void expect_full(const std::map<EventKind, std::int64_t>& counts, const std::set<sim::FaultKind>& faults) {
  EXPECT_EQ(faults.size(), static_cast<std::size_t>(sim::FaultKind::kClear))
      << "a kind of fault is never drawn, besides those of serving";
  for (int kind = 0; kind <= static_cast<int>(EventKind::kFaultCleared); ++kind) {
    if (static_cast<EventKind>(kind) == EventKind::kGpuSeen) continue;  // for real GPUs, like all kinds after the last
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
  std::map<std::string, int> usage;  ///< intervals by kind
  int saves = 0;
  int gaps = 0;
  std::size_t histories = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kHistories)) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    ++histories;
    History history(seed);
    history.run();
    restarts += history.restarts();
    looks += history.usage().look_count();
    for (const auto& [word, count] : history.usage().counts()) usage[word] += count;
    saves += history.saves();
    gaps += history.gaps();
    for (const LoggedEvent& event : history.events()) ++counts[event.kind];
    if (::testing::Test::HasFailure()) return;
    faults.insert(history.faults().begin(), history.faults().end());
  }
  if (histories < kHistories) return;
  EXPECT_GT(restarts, 2 * kHistories);
  EXPECT_GT(looks, 100U * kHistories);
  for (const char* word : {"held", "changing", "free", "lost", "foreign"})
    EXPECT_GT(usage[word], kIsSlowBuild ? 0 : kHistories / 10) << word;
  EXPECT_GT(saves, kHistories / 2);
  EXPECT_GT(gaps, kHistories);
  if (!kIsSlowBuild) expect_full(counts, faults);
}

/// 245: seconds lost with a process were repeated before the next one had counted them again.
TEST(History, SeedsThatFailedBefore) {
  for (const std::uint64_t seed : {245U}) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    History(seed).run();
  }
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
