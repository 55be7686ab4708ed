#include "surface/cli/tier/tier_predict_run.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "purchase/pricing/catalogue.h"
#include "purchase/pricing/selection.h"
#include "surface/cli/shared/distinct_paths.h"
#include "surface/cli/shared/report_folder.h"
#include "surface/cli/shared/run_outputs.h"
#include "surface/cli/tier/known_workload.h"
#include "surface/cli/tier/kubernetes_file.h"
#include "surface/cli/tier/tier_predict_json.h"
#include "surface/cli/tier/tier_predict_table.h"
#include "surface/pages/tier_report.h"
#include "tier/choose/forest_estimates.h"
#include "tier/hardware/tiers_file.h"

namespace berth::cli {
namespace {

Result<std::vector<tier::PriceSource>> price_by_catalogue(std::vector<tier::Tier>& tiers, Date at) {
  return tier::price_tiers(
      tiers, pricing::offers_at(pricing::built_in_offers(), {.at = at, .purchase = pricing::Purchase::kOnDemand}));
}

/// The tiers of the call, and the offers of their prices.
Result<void> read_tiers_of(const TierPredictRequest& request, const Files& files, TierPredictView& view) {
  const auto text = files.read(request.tiers_path);
  if (!text) return pass_on(text.error());
  auto tiers = request.prices_at ? tier::read_unpriced_tiers(*text, request.tiers_path)
                                 : tier::read_tiers_file(*text, request.tiers_path);
  if (!tiers) return pass_on(tiers.error());
  if (request.prices_at) {
    auto offers = price_by_catalogue(*tiers, *request.prices_at);
    if (!offers) return pass_on(offers.error());
    view.offers = std::move(*offers);
  }
  view.answer.call.tiers = std::move(*tiers);
  return {};
}

Result<void> read_rules_of(const TierPredictRequest& request, const Files& files, tier::ChooseCall& call) {
  if (!request.rules_path) return {};
  const auto text = files.read(*request.rules_path);
  if (!text) return pass_on(text.error());
  auto rules = tier::read_rules_file(*text, *request.rules_path, call.tiers);
  if (!rules) return pass_on(rules.error());
  call.rules = std::move(*rules);
  return {};
}

/// Nothing: no forest is wanted.
Result<std::optional<tier::Estimator>> read_forest_of(const TierPredictRequest& request, const Files& files,
                                                      tier::ChooseCall& call) {
  if (!request.forest_path) return std::nullopt;
  const auto text = files.read(*request.forest_path);
  if (!text) return pass_on(text.error());
  const auto forest = tier::Estimator::read(*text, *request.forest_path);
  if (!forest) return pass_on(forest.error());
  if (auto set = predict_with(call, *forest); !set) {
    return invalid(fmt::format("{}: {}", *request.forest_path, set.error().message));
  }
  return *forest;
}

Result<TierPredictView> view_of(const TierPredictRequest& request, const Files& files) {
  TierPredictView view;
  tier::ChooseCall& call = view.answer.call;
  if (auto read = read_tiers_of(request, files, view); !read) return pass_on(read.error());
  call.kind = request.target.kind;
  call.target = request.target.target;
  call.sure = request.sure;
  auto known = request.db_path
                   ? read_profiled_workload(*request.db_path, *request.name, call.tiers, call.kind)
                   : read_known_workload(*request.workload_path, request.name, call.tiers, call.kind, files);
  if (!known) return pass_on(known.error());
  call.known = std::move(*known);
  if (auto read = read_rules_of(request, files, call); !read) return pass_on(read.error());
  const auto forest = read_forest_of(request, files, call);
  if (!forest) return pass_on(forest.error());
  view.answer = answer_of(std::move(call));
  if (*forest) {
    view.answer.checks = checks_of(view.answer.call, **forest);
    view.answer.coverage = (*forest)->trained_on().coverage;
  }
  return view;
}

Result<void> check_predict_outputs(const TierPredictRequest& request) {
  return check_outputs_are_distinct(
      {{"--workload", request.workload_path},
       {"--db", request.db_path},
       {"--tiers", request.tiers_path},
       {"--model", request.forest_path},
       {"--rules", request.rules_path}},
      {{"--emit", request.kubernetes_path}, {"--report", report_page_of(request.report_dir)}});
}

}  // namespace

Result<std::string> run_tier_predict(const TierPredictRequest& request, const VerbContext& context) {
  RunOutputs outputs;
  if (auto checked = check_predict_outputs(request); !checked) return pass_on(checked.error());
  const auto view = view_of(request, *context.files);
  if (!view) return pass_on(view.error());
  const auto pod = request.kubernetes_path ? kubernetes_file(*view) : Result<std::string>();
  if (!pod) return pass_on(pod.error());
  outputs.begin();
  if (auto opened = outputs.open_report(request.report_dir); !opened) return pass_on(opened.error());
  const auto lines = outputs.open_lines(request.kubernetes_path);
  if (!lines) return pass_on(lines.error());
  (*lines)->add(*pod);
  return outputs.finish({.text =
                             [&] {
                               return request.format == OutputFormat::kJson
                                          ? tier_predict_json(*view)
                                          : tier_predict_table(*view, context.has_colour());
                             },
                         .page = [&] { return report::render_tier_report(view->answer, view->offers); }});
}

}  // namespace berth::cli
