#include "surface/cli/pack/pack_problem.h"

#include <string>
#include <utility>
#include <vector>

#include "domain/scenario/packing_files.h"
#include "surface/cli/mig/mig_text.h"

namespace berth::cli {
namespace {

Result<Warned<std::vector<GpuOffer>>> offers_asked(const PackRequest& request, const Files& files) {
  if (request.fleet_path) {
    const auto text = files.read(*request.fleet_path);
    if (!text) return pass_on(text.error());
    return scenario::read_offers(*text, *request.fleet_path);
  }
  auto model = gpu_option(*request.gpu);
  if (!model) return pass_on(model.error());
  Warned<std::vector<GpuOffer>> offers;
  offers.value.push_back({.model = std::move(*model), .count_max = std::nullopt, .micro_usd_per_hour = std::nullopt});
  return offers;
}

}  // namespace

Result<Warned<PackingProblem>> load_packing_problem(const PackRequest& request, const Files& files) {
  const auto demand_text = files.read(request.demand_path);
  if (!demand_text) return pass_on(demand_text.error());
  auto demands = scenario::read_demands(*demand_text, request.demand_path);
  if (!demands) return pass_on(demands.error());
  auto offers = offers_asked(request, files);
  if (!offers) return pass_on(offers.error());
  auto tables = scenario::load_tables(request.profiles_path, request.profile_format, files);
  if (!tables) return pass_on(tables.error());
  std::vector<std::string> warnings = std::move(offers->warnings);
  warnings.insert(warnings.end(), tables->warnings.begin(), tables->warnings.end());
  return Warned<PackingProblem>{.value = {.offers = std::move(offers->value),
                                          .demands = std::move(*demands),
                                          .tables = std::move(tables->value),
                                          .rules = request.rules},
                                .warnings = std::move(warnings)};
}

}  // namespace berth::cli
