#include "sim/study/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/core/ensure.h"
#include "domain/profile/operating_point.h"
#include "domain/trace/run_arrivals.h"
#include "engine/elastic/capacity_packing.h"
#include "engine/elastic/fleet_stage.h"
#include "engine/elastic/gpu_demand.h"
#include "engine/elastic/whole_gpus_stage.h"
#include "engine/loop/drain_stage.h"
#include "engine/loop/outlook.h"
#include "engine/loop/planner_policy.h"
#include "purchase/scale/hindsight.h"
#include "sim/study/committed_gpus.h"
#include "sim/study/elastic_run.h"
#include "sim/study/replay.h"
#include "sim/study/size.h"
#include "sim/study/whole_gpus.h"

namespace berth::study {
namespace {

enum Step : std::uint8_t { kWholePeak, kWholeTracking, kSlices, kReconfiguration, kScaling, kCommitments };

/// GPU-microseconds to micro-dollars, exactly.
Decimal micro_usd_of(std::int64_t gpu_us, const Decimal& usd_per_hour) {
  return Decimal(gpu_us) * usd_per_hour / Decimal(3600);
}

/// The sum of `gpus(count)` over time, in GPU-microseconds.
template <class Gpus>
std::int64_t gpu_us_of(const std::vector<sim::RentedCount>& counts, Instant until, Gpus&& gpus) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const Instant end = i + 1 < counts.size() ? counts[i + 1].from : until;
    sum += gpus(counts[i].gpus) * (end - counts[i].from).count();
  }
  return sum;
}

/// Works out the steps one after the other: later ones use what earlier ones found.
class CaseSteps {
 public:
  CaseSteps(const Scenario& scenario, const CaseOptions& options, const CaseHooks& hooks)
      : scenario_(elastic_scenario(scenario, 1)),
        options_(options),
        hooks_(hooks),
        end_(Instant::at_second(scenario.simulated_seconds())) {}

  Result<CaseResult> run() {
    for (const Step step : {kWholePeak, kWholeTracking, kSlices, kReconfiguration, kScaling, kCommitments}) {
      if (step == kCommitments && !options_.committed_micro_usd_per_gpu_hour) break;
      step_ = step;
      done_ = 0;
      auto made = make();
      if (!made) return pass_on(made.error());
      made->name = name();
      steps_.push_back(std::move(*made));
    }
    return result();
  }

 private:
  [[nodiscard]] std::string_view name() const { return case_step_names()[step_]; }

  Result<CaseStep> make() {
    switch (step_) {
      case kWholePeak:
        return whole_peak();
      case kWholeTracking:
        return whole_tracking();
      case kSlices:
        return sized("fixed", [this](std::int64_t gpus) { return roomiest_layout(gpus); });
      case kReconfiguration:
        return sized("berth", [](std::int64_t) { return std::nullopt; });
      case kScaling:
        return scaling();
      case kCommitments:
        return commitments();
    }
    return CaseStep{};
  }

  [[nodiscard]] bool hears(double done) {
    done_ = std::max(done_, done);
    return !hooks_.progress || hooks_.progress(name(), done_);
  }
  [[nodiscard]] sim::JournalSink journal() const {
    if (!hooks_.journal) return nullptr;
    return [this](const sim::JournalRecord& record) { hooks_.journal(name(), record); };
  }
  /// The progress of a step that handles one service after the other.
  [[nodiscard]] GoesOn goes_on_at(std::uint32_t index) {
    return [this, index] {
      return hears(kSearchShare * static_cast<double>(index) / static_cast<double>(scenario_.services.size()));
    };
  }

  // ---- the baselines

  Result<CaseStep> whole_peak() {
    for (std::uint32_t index = 0; index < scenario_.services.size(); ++index) {
      auto load = WholeGpuLoad::of(scenario_, {index}, options_.seed, options_.attainment);
      if (!load) return pass_on(load.error());
      loads_.push_back(std::move(*load));
      const auto count = smallest_whole_count(scenario_, {index}, options_.seed, loads_[index], options_.attainment,
                                              goes_on_at(index));
      if (!count) return pass_on(count.error());
      peak_counts_.push_back(*count);
      peak_gpus_ += *count;
    }
    const elastic::WholeGpuCounts counts = [this](ServiceId service, std::int64_t) {
      return peak_counts_[service.index];
    };
    return run_whole(counts, peak_gpus_, fmt::format("GPUs by service: {}", listed(peak_counts_)));
  }

  Result<CaseStep> whole_tracking() {
    std::vector<TunedTracking> tuned;
    std::vector<std::string> settings;
    std::int64_t most = 0;
    for (std::uint32_t index = 0; index < scenario_.services.size(); ++index) {
      auto found =
          tuned_whole_counts(scenario_, {index}, options_.seed, loads_[index], options_.attainment, goes_on_at(index));
      if (!found) return pass_on(found.error());
      // GPUs that are released may still be present when others are ordered.
      most += 2 * std::ranges::max(found->wants) + 1;
      settings.push_back(fmt::format("{} target {:.2f} hold {} s ({} to {} GPUs)", service_label(scenario_, {index}),
                                     static_cast<double>(found->tracking.target_twentieths) / 20,
                                     found->tracking.hold_seconds, std::ranges::min(found->wants),
                                     std::ranges::max(found->wants)));
      tuned.push_back(std::move(*found));
    }
    const elastic::WholeGpuCounts counts = [&](ServiceId service, std::int64_t second) {
      const auto& wants = tuned[service.index].wants;
      return wants[std::min(static_cast<std::size_t>(second), wants.size() - 1)];
    };
    return run_whole(counts, most, fmt::format("{}", fmt::join(settings, "; ")));
  }

  Result<CaseStep> run_whole(const elastic::WholeGpuCounts& counts, std::int64_t gpus, std::string how) {
    const Scenario elastic = elastic_scenario(scenario_, gpus);
    ElasticRun run{.stages = {}, .policy = "whole", .has_timeline = true};
    run.gpus_at_start = static_cast<std::uint32_t>(elastic::gpus_at_start(elastic, counts));
    run.stages.push_back(elastic::whole_gpus_stage(elastic, counts));
    auto step = run_step(elastic, std::move(run), kSearchShare, journal());
    if (!step) return step;
    step->is_hindsight = true;
    step->how = step->how.empty() ? std::move(how) : how + "; " + step->how;
    return step;
  }

  // ---- slices, on a constant fleet

  using LayoutOf = std::function<std::optional<std::vector<Holding>>(std::int64_t gpus)>;

  /// The smallest count with which the policy keeps the attainment: every count is tried, from the one below which no
  /// policy could. A count above that of whole GPUs saves nothing, and is not tried.
  Result<CaseStep> sized(std::string_view policy, const LayoutOf& layout_of) {
    CaseStep step;
    step.is_hindsight = true;
    const std::int64_t first = fewest_possible_gpus();
    for (std::int64_t gpus = first; gpus <= peak_gpus_; ++gpus) {
      const double share = static_cast<double>(gpus - first) / static_cast<double>(peak_gpus_ - first + 1);
      Scenario constant = elastic_scenario(scenario_, gpus);
      constant.layout = layout_of(gpus);
      auto result = replay_constant(constant, policy, share, nullptr);
      if (!result) return pass_on(result.error());
      if (result->infeasible || !holds(result->services, options_.attainment)) continue;
      if (hooks_.journal) {
        result = replay_constant(constant, policy, share, [this](std::string_view, const sim::JournalRecord& record) {
          hooks_.journal(name(), record);
        });
        if (!result) return pass_on(result.error());
      }
      constant_gpus_ = gpus;
      step.counts = {{.from = Instant(), .gpus = gpus}};
      step.how = gpus == first ? "no policy can do with fewer"
                               : fmt::format("no policy can do with fewer than {}; those from there on were tried",
                                             counted_gpus(first));
      fill(std::move(*result), step);
      return step;
    }
    step.infeasible = fmt::format("no count up to {} keeps the attainment", counted_gpus(peak_gpus_));
    return step;
  }

  /// Of the layouts of so many GPUs the one that gives every service the largest multiple, the same for all, of the
  /// constant capacity with which it alone would keep the attainment.
  [[nodiscard]] std::vector<Holding> roomiest_layout(std::int64_t gpus) {
    if (!packing_) packing_.emplace(scenario_, elastic::SlicePoints::kDefault);
    if (needed_.empty()) {
      for (const WholeGpuLoad& load : loads_) {
        needed_.push_back(static_cast<double>(scale::smallest_fixed(load.by_request()).replicas));
      }
    }
    const auto packed_at = [&](int percent) -> const elastic::PackedCapacity& {
      std::vector<double> wanted = needed_;
      for (double& each : wanted) each *= percent / 100.0;
      return packing_->pack(wanted);
    };
    int low = 0;
    int high = kRoomiestPercent + 1;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (packed_at(middle).gpus <= gpus ? low : high) = middle;
    }
    return packed_at(low).layout;
  }

  Result<measure::PolicyResult> replay_constant(
      const Scenario& constant, std::string_view policy, double from,
      std::function<void(std::string_view, const sim::JournalRecord&)> journal) {
    ReplayHooks hooks;
    hooks.progress = [this, from](std::string_view, double done) { return hears(from + (1 - from) * done / 2); };
    hooks.journal = std::move(journal);
    return replay_policy(constant, policy, options_.seed, hooks);
  }

  /// Fewer GPUs cannot have the SM-time for that share of the requests, each at the cheapest point of any slice.
  [[nodiscard]] std::int64_t fewest_possible_gpus() const {
    const GpuModel& model = scenario_.fleet.front().model;
    const RunArrivals arrivals(scenario_, options_.seed);
    const std::vector<std::int64_t> requests = arrivals.totals();
    double sm_us = 0;
    for (std::uint32_t index = 0; index < scenario_.services.size(); ++index) {
      const double least = least_sm_us(std::as_const(scenario_.services)[index], model);
      sm_us += least * static_cast<double>(requests[index]) * options_.attainment.to_double();
    }
    const double fastest = std::min(1.0, std::ranges::min(scenario_.interference).to_double());
    constexpr double kRoundedDown = 0.999999;
    const double gpus = sm_us * fastest * kRoundedDown / (model.sms * static_cast<double>(end_.micros()));
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(gpus)));
  }

  static double least_sm_us(const ServiceSpec& service, const GpuModel& model) {
    double least = std::numeric_limits<double>::infinity();
    const auto consider = [&](const PerformanceTable& table, ProfileId profile) {
      for (const PerformancePoint& point : profile::points_on(table, model, profile)) {
        const double per_second = point.requests_per_second.to_double();
        least = std::min(least, profile_sms(model, profile) * static_cast<double>(kMicrosPerSecond) / per_second);
      }
    };
    const auto consider_all = [&](const PerformanceTable& table) {
      consider(table, ProfileId::full());
      for (std::size_t index = 0; index < model.profiles.size(); ++index) {
        consider(table, {static_cast<std::uint16_t>(index)});
      }
    };
    consider_all(service.table);
    for (const Variant& variant : service.variants) consider_all(variant.table);
    return std::isfinite(least) ? least : 0;
  }

  // ---- a fleet that follows the load

  Result<CaseStep> scaling() { return run_scaling(journal()); }

  Result<CaseStep> run_scaling(const sim::JournalSink& journal) {
    const Scenario elastic = elastic_scenario(scenario_, elastic_gpus());
    ElasticRun run{.stages = {}, .policy = "berth", .has_timeline = true};
    const std::int64_t gpus_at_start = std::clamp<std::int64_t>(
        elastic::GpuDemandWatch::has_history(elastic) ? first_demand(elastic) : first_load_gpus(elastic), 1,
        elastic.gpu_count());
    run.gpus_at_start = static_cast<std::uint32_t>(gpus_at_start);
    run.stages.push_back(elastic::fleet_stage(elastic, options_.attainment, gpus_at_start));
    run.stages.push_back(planner_stage(elastic, forecast_outlook(elastic), PlannerOptions()));
    run.stages.push_back(drain_stage(elastic, /*has_planner=*/true));
    return run_step(elastic, std::move(run), 0, journal);
  }

  /// The number of GPUs that will ever be ordered at most: twice what is enough for the peak.
  [[nodiscard]] std::uint32_t elastic_gpus() const {
    return static_cast<std::uint32_t>(2 * std::max(peak_gpus_, constant_gpus_));
  }

  /// The services' demand, from what is known before second 0.
  [[nodiscard]] std::int64_t first_demand(const Scenario& elastic) const {
    elastic::GpuDemandWatch watch(elastic, options_.attainment, elastic::ready_seconds(elastic), 0);
    const RunArrivals arrivals(elastic, options_.seed);
    Snapshot known;
    known.services.resize(elastic.services.size());
    for (std::uint32_t index = 0; index < elastic.services.size(); ++index) {
      for (std::int64_t second = -elastic.history_seconds; second < 0; ++second) {
        const auto count = arrivals.history({index}, second);
        if (!count) continue;
        known.services[index].seconds.push_back({.service = {index}, .second = second, .arrivals = *count});
      }
    }
    watch.observe(known);
    return watch.demand().gpus;
  }

  /// Without a history a fleet begins with what the run's first minutes need, as replicas do
  /// (purchase/scale/problem.h), but with more headroom: slices of many services do not use it as fully, and misses
  /// then are hard to make up for.
  [[nodiscard]] std::int64_t first_load_gpus(const Scenario& elastic) const {
    const std::int64_t seconds = std::min(kFirstLoadSeconds, elastic.simulated_seconds());
    const RunArrivals arrivals(elastic, options_.seed);
    std::vector<double> wanted;
    for (std::uint32_t index = 0; index < elastic.services.size(); ++index) {
      std::int64_t requests = 0;
      for (std::int64_t second = 0; second < seconds; ++second) requests += arrivals.count({index}, second);
      wanted.push_back(kFirstLoadHeadroom * static_cast<double>(requests) / static_cast<double>(seconds));
    }
    return elastic::CapacityPacking(elastic, elastic::SlicePoints::kPlanned).pack(wanted).gpus;
  }

  Result<CaseStep> run_step(const Scenario& elastic, ElasticRun run, double from, const sim::JournalSink& journal) {
    const auto progress = [this, from](double done) { return hears(from + (1 - from) * done); };
    auto outcome = run_elastic(elastic, options_.seed, std::move(run), progress, journal);
    if (!outcome) return pass_on(outcome.error());
    CaseStep step;
    step.infeasible = outcome->infeasible;
    if (step.infeasible) return step;
    if (outcome->refusals.count > 0)
      step.how =
          fmt::format("{} of its plans were refused, the first {}", outcome->refusals.count, outcome->refusals.first);
    step.counts = std::move(outcome->counts);
    fill(std::move(outcome->result), step);
    return step;
  }

  // ---- commitments

  Result<CaseStep> commitments() {
    CaseStep step = steps_[kScaling];
    step.is_hindsight = true;
    step.timeline = {};
    if (step.infeasible) return step;
    const Decimal committed(*options_.committed_micro_usd_per_gpu_hour, 1'000'000);
    const Commitment found = cheapest_commitment(step.counts, end_, committed, usd_per_hour());
    step.how = fmt::format("{} GPUs committed", found.gpus);
    const std::int64_t paid =
        gpu_us_of(step.counts, end_, [&](std::int64_t gpus) { return std::max(gpus, found.gpus); });
    // Committed GPUs are paid for when idle, too.
    const double factor = paid > 0 ? static_cast<double>(step.gpu_us) / static_cast<double>(paid) : 1;
    step.utilisation = {.allocated = step.utilisation.allocated * factor,
                        .busy = step.utilisation.busy * factor,
                        .effective = step.utilisation.effective * factor};
    for (sim::RentedCount& count : step.counts) count.gpus = std::max(count.gpus, found.gpus);
    count_gpus(step);
    set_cost(Decimal(found.cost_micro_usd), step);
    if (!hooks_.journal) return step;
    if (auto written = journal_commitments(found.gpus); !written) return pass_on(written.error());
    return step;
  }

  /// The run of `scaling` once more, as its journal is not kept, with the GPUs now paid for.
  Result<void> journal_commitments(std::int64_t committed) {
    CommittedGpus paid(committed, elastic_gpus(), journal());
    const auto again = run_scaling([&](const sim::JournalRecord& record) { paid.add(record); });
    return again ? Result<void>() : pass_on(again.error());
  }

  // ---- figures

  [[nodiscard]] const Decimal& usd_per_hour() const { return *scenario_.fleet.front().usd_per_gpu_hour; }

  void count_gpus(CaseStep& step) const {
    step.gpu_us = gpu_us_of(step.counts, end_, [](std::int64_t gpus) { return gpus; });
    step.gpus_mean = static_cast<double>(step.gpu_us) / static_cast<double>(end_.micros());
    step.gpus_max = std::ranges::max(step.counts, {}, &sim::RentedCount::gpus).gpus;
  }

  static void set_cost(const Decimal& micro_usd, CaseStep& step) {
    step.cost_micro_usd = micro_usd.round_half_even();
    step.cost_micro_usd_per_million_in_time.reset();
    if (step.in_time == 0) return;
    step.cost_micro_usd_per_million_in_time =
        (micro_usd * Decimal(1'000'000) / Decimal(step.in_time)).round_half_even();
  }

  void fill(measure::PolicyResult result, CaseStep& step) const {
    step.holds = study::holds(result.services, options_.attainment);
    step.requests = result.figures.requests;
    step.in_time = result.figures.in_time;
    for (const measure::ServiceFigures& service : result.services) {
      const auto& share = service.figures.slo_attainment;
      if (share) step.slo_attainment_worst_service = std::min(step.slo_attainment_worst_service.value_or(1), *share);
    }
    step.utilisation = result.figures.utilisation;
    step.timeline = std::move(result.timeline);
    count_gpus(step);
    set_cost(micro_usd_of(step.gpu_us, usd_per_hour()), step);
  }

  [[nodiscard]] std::string listed(const std::vector<std::int64_t>& counts) const {
    std::vector<std::string> parts;
    parts.reserve(counts.size());
    for (std::uint32_t index = 0; index < counts.size(); ++index) {
      parts.push_back(fmt::format("{} {}", service_label(scenario_, {index}), counts[index]));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  CaseResult result() {
    const auto saving = [this](const CaseStep& step, Step base) -> std::optional<double> {
      const CaseStep& other = steps_[base];
      if (step.infeasible || other.infeasible || other.cost_micro_usd == 0) return std::nullopt;
      return 1 - static_cast<double>(step.cost_micro_usd) / static_cast<double>(other.cost_micro_usd);
    };
    for (CaseStep& step : steps_) {
      step.saves_of_first = saving(step, kWholePeak);
      step.saves_of_second = saving(step, kWholeTracking);
    }
    return {.scenario = scenario_.name,
            .gpu_model = scenario_.fleet.front().model.name,
            .simulated_seconds = scenario_.simulated_seconds(),
            .provision_seconds = *scenario_.provision_seconds,
            .usd_per_gpu_hour = usd_per_hour(),
            .options = options_,
            .is_small = std::ranges::min(peak_counts_) < 2,
            .steps = std::move(steps_)};
  }

  static constexpr double kSearchShare = 0.8;  ///< of the work of a step with a search
  static constexpr int kRoomiestPercent = 300;
  static constexpr std::int64_t kFirstLoadSeconds = 600;
  static constexpr double kFirstLoadHeadroom = 1.5;

  const Scenario scenario_;
  const CaseOptions& options_;
  const CaseHooks& hooks_;
  Instant end_;
  Step step_ = kWholePeak;
  double done_ = 0;
  std::vector<WholeGpuLoad> loads_;
  std::vector<std::int64_t> peak_counts_;  ///< by service
  std::int64_t peak_gpus_ = 0;
  std::optional<elastic::CapacityPacking> packing_;
  std::vector<double> needed_;      ///< by service, in requests per second
  std::int64_t constant_gpus_ = 0;  ///< of the latest step with a constant fleet
  std::vector<CaseStep> steps_;
};

}  // namespace

const std::vector<std::string>& case_step_names() {
  static const std::vector<std::string> names = {"whole-peak",      "whole-tracking", "slices",
                                                 "reconfiguration", "scaling",        "commitments"};
  return names;
}

Result<void> check_case(const Scenario& scenario) {
  if (auto sizable = check_sizable(scenario); !sizable) return sizable;
  if (!scenario.fleet.front().usd_per_gpu_hour) {
    return invalid(fmt::format("{}: fleet: wanted usd_per_gpu_hour, found none", scenario.name));
  }
  if (!scenario.provision_seconds) {
    return invalid(fmt::format("{}: wanted scaling: {{provision_seconds: ...}} or --provision-seconds, found neither",
                               scenario.name));
  }
  return {};
}

Commitment cheapest_commitment(const std::vector<sim::RentedCount>& counts, Instant until,
                               const Decimal& committed_usd_per_hour, const Decimal& usd_per_hour) {
  ENSURE(!counts.empty());
  const std::int64_t most = std::ranges::max(counts, {}, &sim::RentedCount::gpus).gpus;
  std::optional<Decimal> least;
  Commitment best;
  for (std::int64_t gpus = 0; gpus <= most; ++gpus) {
    const std::int64_t beyond =
        gpu_us_of(counts, until, [gpus](std::int64_t count) { return std::max<std::int64_t>(count - gpus, 0); });
    const Decimal cost =
        micro_usd_of(gpus * until.micros(), committed_usd_per_hour) + micro_usd_of(beyond, usd_per_hour);
    if (least && *least <= cost) continue;
    least = cost;
    best = {.gpus = gpus, .cost_micro_usd = cost.round_half_even()};
  }
  return best;
}

Result<CaseResult> run_case(const Scenario& scenario, const CaseOptions& options, const CaseHooks& hooks) {
  return CaseSteps(scenario, options, hooks).run();
}

}  // namespace berth::study
