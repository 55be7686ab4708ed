#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/core/ensure.h"
#include "engine/rivals/detail/fleet_view.h"
#include "engine/rivals/detail/knee.h"
#include "engine/rivals/detail/open_gpus.h"
#include "engine/rivals/layout.h"

namespace berth::partition {
namespace {

using detail::FleetView;
using detail::ModelKind;
using detail::ModelView;
using detail::OpenGpus;
using History = std::vector<std::vector<std::uint32_t>>;

bool is_silent(const std::vector<std::uint32_t>& history) {
  return std::ranges::all_of(history, [](std::uint32_t count) { return count == 0; });
}

/// The history that the policy uses: one request per second if nothing was seen.
History assumed_history(const History& history) {
  History assumed = history;
  for (auto& seconds : assumed) {
    if (is_silent(seconds)) seconds = {1};
  }
  return assumed;
}

/// The demand of the history. Instances are fractional.
struct HistoryDemand {
  /// [service][model][kind] -> instances
  std::vector<std::vector<std::vector<double>>> instances;
  std::vector<double> load;  ///< [service], requests per second
};

double fleet_sms(const ModelView& view) {
  return static_cast<double>(view.gpus.size()) * static_cast<double>(view.model->sms);
}

/// Instances of each kind of one model that serve all of a service's load, if it were alone on that model.
std::vector<double> instances_on(const ModelView& view, const detail::KneeTable& table,
                                 const detail::BatchHistogram& histogram, double seconds) {
  std::vector<double> instances(view.map.kinds.size(), 0);
  for (const auto& [batch, requests] : histogram) {
    const auto knee = table.knee(batch);
    if (!knee) continue;
    instances[knee->kind] += static_cast<double>(requests) / seconds / knee->requests_per_second.to_double();
  }
  return instances;
}

/// Each model gets a share of a service's load in proportion to its SMs in the fleet, among the models that can
/// serve it.
HistoryDemand demand_of(const FleetView& fleet, const History& history) {
  HistoryDemand demand;
  for (int service = 0; service < fleet.service_count; ++service) {
    const std::vector<std::uint32_t>& counts = history[service];
    const double seconds = static_cast<double>(counts.size());
    const Decimal slack = detail::slack_ms(fleet, service);
    demand.load.push_back(std::accumulate(counts.begin(), counts.end(), 0.0) / seconds);
    auto& by_model = demand.instances.emplace_back();
    double sms_usable = 0;
    for (const ModelView& view : fleet.models) {
      const detail::KneeTable table(fleet.scenario->services[service], view);
      const int batch_max = table.batch_max();
      if (batch_max > 0) sms_usable += fleet_sms(view);
      by_model.push_back(
          instances_on(view, table, detail::batch_histogram(counts, slack, std::max(1, batch_max)), seconds));
    }
    for (std::size_t model = 0; model < fleet.models.size(); ++model) {
      for (double& count : by_model[model]) count *= fleet_sms(fleet.models[model]) / sms_usable;
    }
  }
  return demand;
}

/// Instances are scaled so that all services together use every SM of a model's GPUs.
void scale_to_room(const FleetView& fleet, HistoryDemand& demand) {
  for (std::size_t model = 0; model < fleet.models.size(); ++model) {
    const ModelView& view = fleet.models[model];
    double sms_wanted = 0;
    for (const auto& by_model : demand.instances) {
      for (std::size_t kind = 0; kind < view.map.kinds.size(); ++kind)
        sms_wanted += by_model[model][kind] * view.map.kinds[kind].sms;
    }
    if (sms_wanted <= 0) continue;
    for (auto& by_model : demand.instances) {
      for (double& count : by_model[model]) count *= fleet_sms(view) / sms_wanted;
    }
  }
}

/// For each service the kinds that can serve it: those of its demand first, most SMs wanted first, then the smallest.
std::vector<std::vector<ModelKind>> preferred_kinds(const FleetView& fleet, const HistoryDemand& demand) {
  auto choices = detail::smallest_kinds(fleet);
  for (int service = 0; service < fleet.service_count; ++service) {
    std::ranges::sort(choices[service], {}, [&](const ModelKind& choice) {
      const int sms = fleet.models[choice.model].map.kinds[choice.kind].sms;
      const double wanted = demand.instances[service][choice.model][choice.kind] * sms;
      return std::tuple(-wanted, sms, choice.model, choice.kind);
    });
  }
  return choices;
}

/// Filling GPUs with the demand.
class ParisFill {
 public:
  ParisFill(const FleetView& fleet, HistoryDemand demand, std::vector<std::vector<ModelKind>> choices, OpenGpus gpus)
      : fleet_(fleet), demand_(std::move(demand)), choices_(std::move(choices)), gpus_(std::move(gpus)) {
    capacity_.assign(fleet_.service_count, 0);
  }

  [[nodiscard]] Layout run() {
    const detail::FleetPlan cover = gpus_.plan();
    for (int gpu = 0; gpu < fleet_.gpu_count(); ++gpu) count_cover(gpu, cover[gpu]);
    give_whole_instances();
    for (int gpu = 0; gpu < fleet_.gpu_count(); ++gpu) give_leftover(gpu);
    return detail::layout_of(fleet_, gpus_.plan());
  }

 private:
  struct Instances {
    int sms = 0;
    ModelKind kind;
    int service = 0;
  };

  void count_cover(int gpu, const detail::GpuPlan& plan) {
    const ModelView& view = fleet_.of_gpu(gpu);
    for (std::size_t i = 0; i < plan.owners.size(); ++i) {
      if (plan.owners[i] != detail::kNoOwner) note(gpu, view.partitions[plan.partition].pieces[i].kind, plan.owners[i]);
    }
  }

  void note(int gpu, int kind, int service) {
    demand_.instances[service][fleet_.model_of[gpu]][kind] -= 1;
    capacity_[service] += fleet_.of_gpu(gpu).throughput[kind][service]->to_double();
  }

  void give(int gpu, int kind, int service) {
    gpus_.give(gpu, kind, service);
    note(gpu, kind, service);
  }

  /// Whole instances of the demand, the largest kinds first, services in turn.
  void give_whole_instances() {
    std::vector<Instances> wanted;
    for (int service = 0; service < fleet_.service_count; ++service) {
      for (const ModelKind& choice : choices_[service]) {
        wanted.push_back({fleet_.models[choice.model].map.kinds[choice.kind].sms, choice, service});
      }
    }
    std::ranges::sort(wanted, {}, [](const Instances& item) {
      return std::tuple(-item.sms, item.service, item.kind.model, item.kind.kind);
    });
    for (const Instances& item : wanted) {
      while (demand_.instances[item.service][item.kind.model][item.kind.kind] >= 1) {
        const auto gpu = gpus_.first_fit(item.kind);
        if (!gpu) break;
        give(*gpu, item.kind.kind, item.service);
      }
    }
  }

  /// Assigns what still fits on a GPU, piece by piece, to the service with the least capacity per load.
  void give_leftover(int gpu) {
    while (true) {
      int neediest = detail::kNoOwner;
      int neediest_kind = 0;
      for (int service = 0; service < fleet_.service_count; ++service) {
        const bool is_needier = neediest == detail::kNoOwner || capacity_[service] * demand_.load[neediest] <
                                                                    capacity_[neediest] * demand_.load[service];
        if (!is_needier) continue;
        const auto kind = kind_that_fits(gpu, service);
        if (!kind) continue;
        neediest = service;
        neediest_kind = *kind;
      }
      if (neediest == detail::kNoOwner) return;
      give(gpu, neediest_kind, neediest);
    }
  }

  /// The kind of this GPU that a service prefers among those that fit.
  [[nodiscard]] std::optional<int> kind_that_fits(int gpu, int service) const {
    for (const ModelKind& choice : choices_[service]) {
      if (choice.model == fleet_.model_of[gpu] && gpus_.fits(gpu, choice.kind)) return choice.kind;
    }
    return std::nullopt;
  }

  const FleetView& fleet_;
  HistoryDemand demand_;  ///< the remaining demand
  std::vector<std::vector<ModelKind>> choices_;
  OpenGpus gpus_;
  std::vector<double> capacity_;  ///< [service], requests per second at the default points
};

}  // namespace

LayoutOrInfeasible paris_layout(const Scenario& scenario, const std::vector<std::vector<std::uint32_t>>& history) {
  ENSURE(history.size() == scenario.services.size());
  const FleetView fleet = detail::view_fleet(scenario);
  if (const auto unservable = detail::find_unservable(fleet, /*only_whole=*/false)) return *unservable;

  HistoryDemand demand = demand_of(fleet, assumed_history(history));
  scale_to_room(fleet, demand);
  auto choices = preferred_kinds(fleet, demand);
  auto gpus = detail::cover_services(fleet, choices);
  // The preferred kinds may not leave room for all services: then the smallest that can serve them.
  if (!gpus) gpus = detail::cover_services(fleet, detail::smallest_kinds(fleet));
  if (!gpus) return detail::no_room(fleet);
  return ParisFill(fleet, std::move(demand), std::move(choices), std::move(*gpus)).run();
}

std::vector<std::string> paris_assumptions(const Scenario& scenario,
                                           const std::vector<std::vector<std::uint32_t>>& history) {
  std::vector<std::string> assumptions;
  for (std::size_t service = 0; service < scenario.services.size(); ++service) {
    if (!is_silent(history[service])) continue;
    assumptions.push_back(
        fmt::format("{}: no request in its history; taken as 1 request per second", scenario.services[service].name));
  }
  return assumptions;
}

}  // namespace berth::partition
