#include "surface/cli/commit/commit_json.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace berth::cli {
namespace {

using purchase::CommitScore;
using Json = nlohmann::ordered_json;

Json purchases_json(const CommitScore& score, const purchase::PlanList& plans) {
  Json purchases = Json::array();
  for (const purchase::Purchase& bought : score.coverage.purchases()) {
    Json entry;
    entry["hour"] = bought.hour;
    entry["plan"] = plans.committed[bought.plan].name;
    entry["units"] = bought.units;
    entry["regret_micro_usd"] = score.coverage.regret_micro_usd(bought.hour);
    purchases.push_back(std::move(entry));
  }
  return purchases;
}

}  // namespace

std::string commit_json(const purchase::CommitComparison& comparison) {
  const auto hours = static_cast<std::int64_t>(comparison.demand.size());
  const std::int64_t optimal_micro_usd = comparison.optimal.cost.micro_usd;
  Json document;
  document["berth"] = 1;
  document["hours"] = hours;
  document["policies"] = Json::array();
  for (const CommitScore& score : comparison.scores) {
    Json entry;
    entry["policy"] = purchase::name_of(score.policy);
    entry["hindsight"] = purchase::has_hindsight(score.policy);
    entry["micro_usd"] = score.cost.micro_usd;
    entry["ratio"] = nullptr;
    if (optimal_micro_usd > 0) {
      entry["ratio"] = static_cast<double>(score.cost.micro_usd) / static_cast<double>(optimal_micro_usd);
    }
    entry["bought"] = purchases_json(score, comparison.plans);
    entry["unused_unit_hours"] = score.cost.unused_unit_hours;
    document["policies"].push_back(std::move(entry));
  }
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace berth::cli
