#include "engine/rivals/migrator.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "base/core/archive.h"
#include "base/core/instant.h"
#include "engine/rivals/detail/even_search.h"
#include "engine/rivals/detail/fleet_search.h"
#include "engine/rivals/detail/fleet_view.h"
#include "engine/rivals/detail/open_gpus.h"
#include "engine/rivals/detail/realise.h"
#include "engine/rivals/detail/service_forecasts.h"
#include "engine/rivals/detail/service_now.h"
#include "engine/rivals/detail/variant_rates.h"
#include "engine/rivals/detail/window_ilp.h"

namespace berth::partition {
namespace {

using detail::BlockCounts;
using detail::DemandForecast;
using detail::FleetPlan;
using detail::FleetView;
using detail::IlpModel;
using detail::IlpService;
using detail::ServiceNow;
using detail::WindowProblem;

/// E[min(load, C)] is bounded from above by its tangents at these quantiles, and at the capacity that serves all.
std::vector<detail::Tangent> tangents_of(const DemandForecast& demand) {
  std::vector<detail::Tangent> tangents = {{.offset = 0, .slope = 1}, {.offset = demand.mean(), .slope = 0}};
  for (const double level : {0.15, 0.4, 0.65, 0.9}) {
    const double capacity = demand.quantile(level);
    const double slope = demand.share_above(capacity);
    tangents.push_back({.offset = demand.served(capacity) - slope * capacity, .slope = slope});
  }
  return tangents;
}

/// The pieces of a plan, as counts.
BlockCounts counts_of(const FleetView& fleet, const FleetPlan& plan) {
  BlockCounts counts(fleet.models.size());
  for (std::size_t model = 0; model < fleet.models.size(); ++model) {
    const detail::ModelView& view = fleet.models[model];
    counts[model].shapes.assign(view.shapes.size(), 0);
    counts[model].serving.assign(view.map.kinds.size(), std::vector<int>(fleet.service_count, 0));
    counts[model].retraining = counts[model].serving;
    for (const int gpu : view.gpus) {
      const detail::Partition& partition = view.partitions[plan[gpu].partition];
      const auto shape = std::ranges::find_if(
          view.shapes, [&](int candidate) { return view.partitions[candidate].counts == partition.counts; });
      ++counts[model].shapes[shape - view.shapes.begin()];
      for (std::size_t i = 0; i < partition.pieces.size(); ++i) {
        const int owner = plan[gpu].owners[i];
        if (owner == detail::kNoOwner) continue;
        const int kind = partition.pieces[i].kind;
        if (owner < fleet.service_count) {
          ++counts[model].serving[kind][owner];
        } else {
          counts[model].retraining[kind][owner - fleet.service_count] = 1;
        }
      }
    }
  }
  return counts;
}

/// The plan with only those owners that hold the same piece in the existing plan.
FleetPlan kept_of(const FleetView& fleet, const FleetPlan& standing, FleetPlan plan) {
  for (int gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
    const std::vector<mig::Site>& now = fleet.of_gpu(gpu).partitions[standing[gpu].partition].pieces;
    const std::vector<mig::Site>& then = fleet.of_gpu(gpu).partitions[plan[gpu].partition].pieces;
    for (std::size_t i = 0; i < then.size(); ++i) {
      const auto same = std::ranges::find(now, then[i]);
      if (same == now.end() || standing[gpu].owners[same - now.begin()] != plan[gpu].owners[i]) {
        plan[gpu].owners[i] = detail::kNoOwner;
      }
    }
  }
  return plan;
}

/// Kinds that are equal for all services have one number: 1g.10gb and 1g.20gb if memory makes no difference, 7g and the
/// whole GPU.
std::vector<int> classes_of(const IlpModel& model) {
  std::vector<int> classes(model.rates.size());
  for (int kind = 0; kind < std::ssize(classes); ++kind) {
    for (classes[kind] = 0; classes[kind] < kind; ++classes[kind]) {
      const int other = classes[kind];
      if (model.rates[other] == model.rates[kind] && model.retraining_seconds[other] == model.retraining_seconds[kind])
        break;
    }
  }
  return classes;
}

/// Leaves out shapes that another dominates or equals in every class of kinds, except existing ones.
void drop_poor_shapes(const std::vector<int>& standing, IlpModel& model) {
  const std::vector<int> classes = classes_of(model);
  std::vector<std::vector<int>> counts(model.shapes.size(), std::vector<int>(classes.size(), 0));
  for (std::size_t shape = 0; shape < counts.size(); ++shape) {
    for (std::size_t kind = 0; kind < classes.size(); ++kind) counts[shape][classes[kind]] += model.shapes[shape][kind];
  }
  model.is_offered.assign(counts.size(), 1);
  for (std::size_t shape = 0; shape < counts.size(); ++shape) {
    for (std::size_t other = 0; other < counts.size() && standing[shape] == 0; ++other) {
      const bool is_earlier = counts[other] != counts[shape] || other < shape;
      if (is_earlier && std::ranges::equal(counts[other], counts[shape], std::greater_equal<>())) {
        model.is_offered[shape] = 0;
      }
    }
  }
  for (std::size_t kind = 0; kind < classes.size(); ++kind) {
    bool is_planned = false;
    for (std::size_t shape = 0; shape < counts.size(); ++shape) {
      is_planned = is_planned || (model.is_offered[shape] != 0 && model.shapes[shape][kind] > 0);
    }
    if (is_planned) continue;
    std::ranges::fill(model.rates[kind], 0);
    std::ranges::fill(model.retraining_seconds[kind], 0);
  }
}

IlpModel ilp_model(const FleetView& fleet, const detail::JobRates& rates, const BlockCounts& standing,
                   std::size_t model) {
  const detail::ModelView& view = fleet.models[model];
  IlpModel result;
  result.gpu_count = static_cast<int>(view.gpus.size());
  result.shapes.reserve(view.shapes.size());
  for (const int shape : view.shapes) result.shapes.push_back(view.partitions[shape].counts);
  result.rates = rates.requests_per_second[model];
  result.retraining_seconds = rates.retraining_seconds[model];
  result.serving_now = standing[model].serving;
  drop_poor_shapes(standing[model].shapes, result);
  return result;
}

/// Leaves out kinds on which a retraining would be lost before it is done.
void drop_slow_retrainings(const Scenario& scenario, const std::vector<ServiceNow>& services, WindowProblem& problem) {
  for (std::size_t service = 0; service < services.size(); ++service) {
    const auto& spec = scenario.services[service].retraining;
    if (!spec || services[service].keeps_unfinished) continue;
    const ServiceNow& now = services[service];
    const double rest = now.is_due ? 1 - now.progress : 1;
    const double room =
        now.is_due ? std::max(now.next_due_seconds, spec->every.to_seconds() * rest) : spec->every.to_seconds();
    for (IlpModel& model : problem.models) {
      for (auto& by_service : model.retraining_seconds) {
        if (by_service[service] * rest >= room) by_service[service] = 0;
      }
    }
  }
}

/// Blocks of whole seconds that fill the window, each `growth` times as long as the one before.
std::vector<double> blocks_of(std::int64_t window_seconds, double first_seconds, double growth) {
  std::vector<double> blocks;
  double length = std::max(1.0, first_seconds);
  for (std::int64_t from = 0; from < window_seconds;) {
    const std::int64_t seconds = std::min(std::llround(length), static_cast<long long>(window_seconds - from));
    blocks.push_back(static_cast<double>(seconds));
    from += seconds;
    length *= std::max(1.0, growth);
  }
  return blocks;
}

/// The worth until the next due time of a retraining that is done at the end of the window.
double end_value_of(const ServiceNow& service, const Retraining& retraining, double window_seconds) {
  double next_due = service.next_due_seconds;
  while (next_due < window_seconds) next_due += retraining.every.to_seconds();
  const auto& accuracy = service.accuracies.front();
  return service.worth * service.demand.mean() * (accuracy.after - accuracy.before) * (next_due - window_seconds);
}

}  // namespace

class Migrator::Deciding {
 public:
  Deciding(const Scenario& scenario, const MigratorOptions& options);

  [[nodiscard]] Decision decide(const Sight& sight);
  [[nodiscard]] const ProgramStatistics& solved() const { return solved_; }

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.forecasts_, self.next_at_, self.was_due_, self.solved_, self.planned_at_, self.block_seconds_,
            self.blocks_, self.block_next_, self.promised_, self.bound_);
    archive.require(self.was_due_.size() == self.scenario_.services.size());
    archive.require(self.blocks_.size() <= self.block_seconds_.size());
  }

 private:
  [[nodiscard]] bool is_time(const Snapshot& snapshot);
  [[nodiscard]] detail::WindowProblem make_problem(const Sight& sight,
                                                   const std::vector<detail::ServiceNow>& services) const;
  void fill_blocks(const Sight& sight, const std::vector<detail::ServiceNow>& services, double block_seconds,
                   detail::WindowProblem& problem) const;
  void plan_window(const Sight& sight);
  [[nodiscard]] bool is_about_to_end(const Sight& sight, const detail::FleetPlan& standing,
                                     const detail::FleetPlan& next) const;
  void note(const detail::WindowAnswer& answer);
  [[nodiscard]] Decision carry_out(const Sight& sight);

  const Scenario& scenario_;
  MigratorOptions options_;
  std::int64_t window_seconds_;
  detail::FleetView fleet_;
  detail::ServiceForecasts forecasts_;
  detail::JobRates rates_;
  Instant next_at_;
  std::vector<char> was_due_;
  ProgramStatistics solved_;

  Instant planned_at_;
  std::vector<double> block_seconds_;
  std::vector<detail::BlockCounts> blocks_;  ///< empty: the existing slices stay
  std::size_t block_next_ = 0;               ///< the first that is not carried out yet
  double promised_ = 0;                      ///< the program's objective over the window
  double bound_ = 0;
};

Migrator::Migrator(const Scenario& scenario, const MigratorOptions& options)
    : deciding_(std::make_unique<Deciding>(scenario, options)) {}

Migrator::~Migrator() = default;

Decision Migrator::decide(const Sight& sight) { return deciding_->decide(sight); }

void Migrator::archive_fields(ArchiveWriter& archive, const Migrator& migrator) {
  archive(std::as_const(*migrator.deciding_));
}

void Migrator::archive_fields(ArchiveReader& archive, Migrator& migrator) { archive(*migrator.deciding_); }

const Migrator::ProgramStatistics& Migrator::solved() const { return deciding_->solved(); }

Migrator::Deciding::Deciding(const Scenario& scenario, const MigratorOptions& options)
    : scenario_(scenario),
      options_(options),
      window_seconds_(options.horizon_seconds > 0 ? options.horizon_seconds : scenario.window_seconds),
      fleet_(detail::view_fleet(scenario)),
      forecasts_(scenario.services.size()),
      rates_(detail::rates_by_variant(fleet_, options.capacity_factor).front()),
      was_due_(scenario.services.size(), 0) {}

bool Migrator::Deciding::is_time(const Snapshot& snapshot) {
  bool has_news = false;
  for (std::size_t service = 0; service < was_due_.size(); ++service) {
    const char is_due = snapshot.services[service].is_retraining_due ? 1 : 0;
    has_news = has_news || is_due != was_due_[service];
    was_due_[service] = is_due;
  }
  const bool is_window = snapshot.now >= next_at_;
  if (is_window || has_news) {
    const std::int64_t period = options_.period_seconds > 0 ? options_.period_seconds : window_seconds_;
    next_at_ = snapshot.now + Micros::seconds(period);
  }
  return is_window || has_news;
}

Decision Migrator::Deciding::decide(const Sight& sight) {
  if (const auto unservable = detail::find_unservable(fleet_, /*only_whole=*/false)) return *unservable;
  forecasts_.observe(sight.snapshot);
  if (is_time(sight.snapshot)) {
    if (sight.snapshot.slices.empty() && !detail::even_plan(fleet_)) return detail::no_room(fleet_);
    plan_window(sight);
  }
  return carry_out(sight);
}

detail::WindowProblem Migrator::Deciding::make_problem(const Sight& sight,
                                                       const std::vector<ServiceNow>& services) const {
  const BlockCounts counts = counts_of(fleet_, detail::standing_plan(fleet_, sight.snapshot));
  WindowProblem problem;
  problem.is_first = sight.snapshot.slices.empty();
  for (std::size_t model = 0; model < fleet_.models.size(); ++model) {
    problem.models.push_back(ilp_model(fleet_, rates_, counts, model));
  }
  drop_slow_retrainings(scenario_, services, problem);
  const Micros change = scenario_.changes.plumbing + scenario_.changes.create + scenario_.changes.destroy;
  for (std::size_t index = 0; index < services.size(); ++index) {
    const ServiceNow& now = services[index];
    IlpService& service = problem.services.emplace_back();
    service.worth = now.worth;
    service.accuracy_before = now.accuracies.front().before;
    service.accuracy_after = now.accuracies.front().after;
    service.is_stale = now.is_due;
    service.progress = now.progress;
    service.change_seconds = options_.change_factor * (change + scenario_.services[index].start).to_seconds();
    if (now.has_retraining) {
      service.end_value =
          end_value_of(now, *scenario_.services[index].retraining, static_cast<double>(window_seconds_));
    }
  }
  return problem;
}

/// Divides the window into blocks with the expected load of each.
void Migrator::Deciding::fill_blocks(const Sight& sight, const std::vector<ServiceNow>& services, double block_seconds,
                                     WindowProblem& problem) const {
  problem.block_seconds = blocks_of(window_seconds_, block_seconds, options_.block_growth);
  for (std::uint32_t index = 0; index < services.size(); ++index) {
    IlpService& service = problem.services[index];
    service.served.clear();
    service.mean.clear();
    service.due_seconds.clear();
    const auto seconds = forecasts_.quantiles(ServiceId{index}, sight.snapshot.now.second(), window_seconds_);
    auto from = seconds.begin();
    for (const double length : problem.block_seconds) {
      const auto until = from + static_cast<std::ptrdiff_t>(length);
      const DemandForecast demand = DemandForecast::from_quantiles({from, until});
      service.served.push_back(tangents_of(demand));
      service.mean.push_back(demand.mean());
      from = until;
    }
    const auto& retraining = scenario_.services[index].retraining;
    if (!retraining) continue;
    double due = services[index].next_due_seconds;
    while (due < static_cast<double>(window_seconds_)) {
      service.due_seconds.push_back(due);
      due += retraining->every.to_seconds();
    }
  }
}

void Migrator::Deciding::note(const detail::WindowAnswer& answer) {
  ++solved_.count;
  if (answer.blocks.empty()) {
    ++solved_.unsolved_count;
    return;
  }
  if (answer.is_solved) ++solved_.within_count;
  const double gap = answer.bound > 0 ? std::max(0.0, (answer.bound - answer.objective) / answer.bound) : 0;
  solved_.gap_sum += gap;
  solved_.gap_max = std::max(solved_.gap_max, gap);
}

/// Plans the window. A plan must be better than no change with all moves that its places need, not only those that
/// counts show.
void Migrator::Deciding::plan_window(const Sight& sight) {
  const auto services = detail::services_now(scenario_, sight, forecasts_, window_seconds_);
  WindowProblem problem = make_problem(sight, services);
  double block_seconds = options_.block_seconds;
  fill_blocks(sight, services, block_seconds, problem);
  while (problem.block_seconds.size() > 2 && detail::column_count(problem) > options_.columns_max) {
    block_seconds *= 2;
    fill_blocks(sight, services, block_seconds, problem);
  }
  detail::WindowAnswer answer =
      detail::solve_window(problem, {.nodes_max = options_.nodes_max, .gap_allowed = options_.gap_allowed});
  note(answer);
  planned_at_ = sight.snapshot.now;
  block_seconds_ = problem.block_seconds;
  block_next_ = 0;
  blocks_ = std::move(answer.blocks);
  promised_ = answer.objective;
  bound_ = answer.bound;
  if (promised_ <= 0) blocks_.clear();  // the load is unknown: all layouts have equal value in the program
  if (problem.is_first || blocks_.empty()) return;
  const FleetPlan standing = detail::standing_plan(fleet_, sight.snapshot);
  const std::vector<BlockCounts> staying(problem.block_seconds.size(), counts_of(fleet_, standing));
  const double enough =
      options_.gain_min * static_cast<double>(window_seconds_) + detail::window_value(problem, staying);
  const FleetPlan first = detail::realise(fleet_, blocks_.front(), standing);
  const BlockCounts kept = counts_of(fleet_, kept_of(fleet_, standing, first));
  for (std::size_t model = 0; model < kept.size(); ++model) problem.models[model].serving_now = kept[model].serving;
  promised_ = detail::window_value(problem, blocks_);
  if (promised_ <= enough) blocks_.clear();
}

/// Whether a retraining would lose its slice just before its end: blocks are coarser than the world.
bool Migrator::Deciding::is_about_to_end(const Sight& sight, const FleetPlan& standing, const FleetPlan& next) const {
  for (int gpu = 0; gpu < fleet_.gpu_count(); ++gpu) {
    const detail::ModelView& view = fleet_.of_gpu(gpu);
    const std::vector<mig::Site>& pieces = view.partitions[standing[gpu].partition].pieces;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const int service = standing[gpu].owners[i] - fleet_.service_count;
      if (service < 0 || !sight.snapshot.services[service].is_retraining_due) continue;
      const auto& next_pieces = view.partitions[next[gpu].partition].pieces;
      const auto same = std::ranges::find(next_pieces, pieces[i]);
      if (same != next_pieces.end() && next[gpu].owners[same - next_pieces.begin()] == standing[gpu].owners[i])
        continue;
      const double seconds = rates_.retraining_seconds[fleet_.model_of[gpu]][pieces[i].kind][service];
      if ((1 - sight.retraining_progress[service]) * seconds <= options_.patience_seconds) return true;
    }
  }
  return false;
}

Decision Migrator::Deciding::carry_out(const Sight& sight) {
  const bool is_first = sight.snapshot.slices.empty();
  const double elapsed = (sight.snapshot.now - planned_at_).to_seconds();
  std::size_t block = 0;
  double until = block_seconds_.front();
  while (block + 1 < blocks_.size() && until <= elapsed) until += block_seconds_[++block];
  if (!is_first && (blocks_.empty() || block < block_next_)) return {};
  const FleetPlan standing = detail::standing_plan(fleet_, sight.snapshot);
  const FleetPlan plan =
      blocks_.empty() ? detail::even_plan(fleet_).value() : detail::realise(fleet_, blocks_[block], standing);
  if (is_about_to_end(sight, standing, plan)) return {};
  block_next_ = block + 1;
  if (plan == standing) return {};
  Target target = detail::target_of(fleet_, plan, sight.snapshot,
                                    [](const Slice&, ServiceId) { return std::optional<PointChoice>(); });
  const auto window = static_cast<double>(window_seconds_);
  target.objective = promised_ / window;
  target.bound = bound_ / window;
  target.reason = {.text = "integer program of the window",
                   .numbers = {{"block", static_cast<double>(block)}, {"objective", promised_ / window}}};
  return target;
}

}  // namespace berth::partition
