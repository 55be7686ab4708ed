// Random histories of a server: whatever clients, lanes, loads and the repository do, each request is told exactly
// once, and what runs is loaded.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <set>

#include "base/core/rng.h"
#include "serving/server/server_core.h"

namespace berth::serving {
namespace {

constexpr std::int64_t kMemory = 40'000'000;

const TensorSignature kWord{.name = "x", .type = TensorType::kInt8, .shape = {-1, -1}};

class NoModel final : public LoadedModel {
 public:
  explicit NoModel(int& alive) : alive_(alive) { ++alive_; }
  ~NoModel() override { --alive_; }
  [[nodiscard]] std::span<const TensorSignature> inputs() const override { return {&kWord, 1}; }
  [[nodiscard]] std::span<const TensorSignature> outputs() const override { return {&kWord, 1}; }
  [[nodiscard]] std::unique_ptr<ModelRun> begin() override { return nullptr; }

 private:
  int& alive_;
};

/// A server under random clients, a random engine and a random repository.
class RandomServer {
 public:
  explicit RandomServer(std::uint64_t seed) : rng_(seed), is_warm_(rng_.below(2) == 0), core_(terms(is_warm_)) {}

  void run(int steps) {
    core_.figures().learn_wall_time(now_, Micros::seconds(1'800'000'000));
    change_repository();
    for (int i = 0; i < steps; ++i) {
      now_ = now_ + Micros(static_cast<std::int64_t>(rng_.below(is_warm_ && rng_.below(10) == 0 ? 9'000'000 : 3'000)));
      step();
      work();
    }
    finish();
  }

 private:
  static ServerTerms terms(bool is_warm) {
    ServerTerms terms;
    terms.dispatch = {.policy = {}, .memory = kMemory, .lanes = 2, .queue_max = 60};
    if (is_warm) terms.dispatch.eviction = EvictionRule::kWarm;
    terms.tenants = {{.name = "a"}, {.name = "b", .weight = 3}};
    return terms;
  }

  void step() {
    switch (rng_.below(12)) {
      case 0:
        return change_repository();
      case 1:
        return core_.load(any_model(), Micros(static_cast<std::int64_t>(rng_.below(2)) * 50'000), model_done(), now_);
      case 2:
        return core_.unload(any_model(), model_done(), now_);
      case 3:
        return end_run();
      case 4:
        return end_run();
      case 5:
        return end_loader_work();
      case 6:
        if (!asked_.empty()) core_.cancel(*asked_.begin(), now_);
        return;
      case 7:
        return core_.tick(now_);
      default:
        return infer();
    }
  }

  std::string any_model() { return fmt::format("m{}", rng_.below(5)); }

  void infer() {
    InferRequest request{.model = any_model(), .tenant = TenantIndex(static_cast<int>(rng_.below(2)))};
    const auto rows = static_cast<std::int64_t>(rng_.below(6));
    const auto columns = static_cast<std::int64_t>(1 + rng_.below(2));
    request.inputs = {{.name = "x",
                       .type = TensorType::kInt8,
                       .shape = {rows, columns},
                       .bytes = std::string(static_cast<std::size_t>(rows * columns), 'x')}};
    request.priority = 1 + static_cast<std::int64_t>(rng_.below(3));
    if (rng_.below(2) == 0) request.timeout = Micros(static_cast<std::int64_t>(1 + rng_.below(200'000)));
    ++requests_;
    const auto told = std::make_shared<int>(0);
    told_.push_back(told);
    const auto done = [this, told](const ServeResult<InferAnswer>& answer) {
      ++*told;
      answer ? ++answered_ : ++refused_[answer.error().fault];
    };
    const auto number = core_.infer(std::move(request), done, now_);
    asked_.insert(number);
  }

  InferenceService::ModelDone model_done() {
    const auto told = std::make_shared<int>(0);
    told_.push_back(told);
    return [told](const ServeResult<bool>&) { ++*told; };
  }

  void change_repository() {
    RepositoryModels models;
    for (int i = 0; i < 5; ++i) {
      if (rng_.below(6) == 0) continue;
      RepositoryModel model{.name = fmt::format("m{}", i)};
      const auto newest = static_cast<std::int64_t>(1 + rng_.below(3));
      for (std::int64_t number = rng_.below(2) == 0 ? newest : 1; number <= newest; ++number) {
        const VersionTerms terms{.inputs = {kWord},
                                 .outputs = {kWord},
                                 .rows_max = rng_.below(3) == 0 ? 0 : 4,
                                 .needs_proof = rng_.below(2) == 0,
                                 .weight_bytes = static_cast<std::int64_t>(1'000'000 * (1 + rng_.below(8)))};
        RepositoryVersion version{.number = number, .path = fmt::format("p{}", rng_.below(2)), .terms = terms};
        if (rng_.below(8) == 0) version.terms = invalid("bad");
        model.versions.push_back(std::move(version));
      }
      models.emplace(model.name, model);
    }
    core_.take_repository(models, now_);
  }

  void work() {
    for (Work& work : core_.take_work()) {
      if (auto* run = std::get_if<RunWork>(&work)) {
        RC_ASSERT(run->loaded != nullptr);
        RC_ASSERT(!run->requests.empty());
        RC_ASSERT(runs_.count(run->lane) == 0U);
        for (const AcceptedRequest& request : run->requests) RC_ASSERT(now_ <= request.terms.deadline());
        began_[run->lane] = now_;
        runs_.emplace(run->lane, std::move(*run));
      } else if (auto* load = std::get_if<LoadWork>(&work)) {
        loader_.emplace_back(std::move(*load));
      } else if (auto* free = std::get_if<FreeWork>(&work)) {
        RC_ASSERT(free->loaded != nullptr);
        loader_.emplace_back(std::move(*free));
      } else {
        std::get<TellWork>(work)();
      }
    }
  }

  void end_run() {
    if (runs_.empty()) return;
    auto found = runs_.begin();
    if (runs_.size() > 1 && rng_.below(2) == 0) ++found;
    RunWork run = std::move(found->second);
    runs_.erase(found);
    RunReport report{.lane = run.lane,
                     .is_answered = std::vector<bool>(run.requests.size(), true),
                     .input = Micros(1),
                     .run = Micros(static_cast<std::int64_t>(1 + rng_.below(2'000))),
                     .output = Micros(1)};
    run.loaded = nullptr;
    lane_time_ += now_ - began_[run.lane];
    core_.end_run(report, now_);
    for (const AcceptedRequest& request : run.requests) request.done(InferAnswer());
  }

  void end_loader_work() {
    if (loader_.empty()) return;
    auto work = std::move(loader_.front());
    loader_.pop_front();
    if (auto* free = std::get_if<FreeWork>(&work)) {
      RC_ASSERT(free->loaded.use_count() == 1);  // no run uses it
      free->loaded = nullptr;
      return core_.end_free(free->model, now_);
    }
    const LoadWork& load = std::get<LoadWork>(work);
    switch (rng_.below(8)) {
      case 0:
        return core_.end_load(load.model, invalid("broken"), now_);
      case 1:
        return core_.end_load(load.model, fail(ErrorCode::kUnavailable, "full"), now_);
      default:
        break;
    }
    LoadedVersion loaded{.model = std::make_shared<NoModel>(alive_),
                         .measured_bytes = static_cast<std::int64_t>(rng_.below(30'000'000)),
                         .load_time = Micros(5'000),
                         .trial = {}};
    if (rng_.below(3) == 0) loaded.trial.why_not_batched = "no";
    if (rng_.below(3) != 0) loaded.trial.times = {{.rows = 1, .time = Micros(500)}, {.rows = 4, .time = Micros(900)}};
    core_.end_load(load.model, std::move(loaded), now_);
  }

  void finish() {
    core_.begin_end();
    core_.refuse_waiting(now_);
    work();
    while (!runs_.empty() || !loader_.empty()) {
      end_run();
      work();
      end_loader_work();
      work();
    }
    // Whoever waits for a load or an unload that never comes is told when everything has been let go.
    core_.take_repository({}, now_);
    work();
    while (!runs_.empty() || !loader_.empty()) {
      end_run();
      end_loader_work();
      work();
    }
    RC_ASSERT(core_.is_idle());
    for (const auto& told : told_) RC_ASSERT(*told == 1);
    RC_ASSERT(alive_ == 0);
    check_figures();
  }

  void check_figures() {
    RequestFigures sum;
    const auto points = core_.figures().series({.model = {}, .step = 1, .count_max = 1'000}, now_);
    for (const FigurePoint& point : *points) {
      for (const auto figure : kSummedFigures) sum.*figure += point.figures.*figure;
    }
    RC_ASSERT(sum.requests == sum.in_time + sum.late + sum.dropped());
    RC_ASSERT(sum.in_time + sum.late == answered_);
    RC_ASSERT(sum.rejected == refused_[ServeFault::kRejected]);
    RC_ASSERT(sum.expired == refused_[ServeFault::kExpired]);
    RC_ASSERT(sum.cancelled == refused_[ServeFault::kCancelled]);
    RC_ASSERT(sum.failed <= refused_[ServeFault::kUnavailable]);  // others were for models without a version
    Micros used;
    std::int64_t requests = 0;
    for (const UsageItem& item : core_.figures().usage()) {
      used += Micros(*item.device_us);
      requests += item.requests;
    }
    RC_ASSERT(used == lane_time_);
    RC_ASSERT(requests == sum.requests);
  }

  Rng rng_;
  bool is_warm_;
  ServerCore core_;
  Instant now_;
  int alive_ = 0;
  int requests_ = 0;
  std::map<LaneIndex, RunWork> runs_;
  std::deque<std::variant<LoadWork, FreeWork>> loader_;
  std::vector<std::shared_ptr<int>> told_;
  std::set<std::int64_t> asked_;
  std::map<LaneIndex, Instant> began_;  ///< of runs
  Micros lane_time_;
  std::int64_t answered_ = 0;
  std::map<ServeFault, std::int64_t> refused_;
};

RC_GTEST_PROP(ServerCoreProperty, EachRequestIsToldOnce, ()) {
  RandomServer server(*rc::gen::arbitrary<std::uint64_t>());
  server.run(400);
}

}  // namespace
}  // namespace berth::serving
