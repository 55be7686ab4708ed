#include "surface/cli/client/history_run.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "surface/cli/client/client.h"
#include "surface/cli/client/get_run.h"
#include "surface/cli/client/kinds.h"
#include "surface/cli/client/node.h"
#include "surface/cli/client/readable.h"
#include "surface/cli/client/tables.h"

namespace berth::cli {
namespace {

using yaml::Node;
using Rows = std::vector<std::vector<std::string>>;

/// Newest first; each page also has the sums.
constexpr const char* kPromises = "/v1/promises?limit=500";

/// What a plan's changes promised, and what they have achieved as far as is known.
struct PlanSums {
  int changes = 0;
  int judged = 0;
  double promised = 0;
  double achieved = 0;
};

std::map<std::string, PlanSums> sums_by_plan(const std::vector<Node>& promises) {
  std::map<std::string, PlanSums> plans;
  for (const Node& promise : promises) {
    PlanSums& sums = plans[text_at(promise, "plan").value_or("")];
    ++sums.changes;
    sums.promised += number_at(promise, "promised").value_or(0);
    const auto achieved = number_at(promise, "achieved");
    sums.judged += achieved ? 1 : 0;
    sums.achieved += achieved.value_or(0);
  }
  return plans;
}

std::string plans_table(const std::vector<Node>& plans, const std::map<std::string, PlanSums>& by_plan,
                        const std::optional<std::string>& now) {
  Rows rows;
  for (const Node& plan : plans) {
    const std::string name = text_at(plan, "metadata.name").value_or("");
    std::vector<std::string>& row = rows.emplace_back();
    row = {name, text_cell(plan, "status.phase"), age_text(text_at(plan, "spec.made_at"), now).value_or(""),
           fmt::format("{}", items_at(plan, "spec.actions").size())};
    const auto found = by_plan.find(name);
    const PlanSums sums = found == by_plan.end() ? PlanSums() : found->second;
    row.push_back(sums.changes == 0 ? "" : number_text(sums.promised));
    row.push_back(sums.judged == 0 ? "" : number_text(sums.achieved));
    row.push_back(sums.changes == 0 ? "" : fmt::format("{}/{}", sums.judged, sums.changes));
    row.push_back(text_cell(plan, "status.message"));
  }
  return columns_text({"NAME", "PHASE", "AGE", "ACTIONS", "PROMISED", "ACHIEVED", "JUDGED", "MESSAGE"}, rows);
}

std::string sums_table(const Node& page) {
  Rows rows;
  for (const auto& [key, words] : {std::pair("last_hour", "last hour"), std::pair("last_day", "last day")}) {
    const Node* sums = find_node(page, key);
    if (sums == nullptr) continue;
    rows.push_back({words, number_cell(*sums, "changes"), number_cell(*sums, "promised"),
                    number_cell(*sums, "achieved"), share_cell(*sums, "share")});
  }
  return columns_text({"JUDGED IN THE", "CHANGES", "PROMISED", "ACHIEVED", "SHARE"}, rows);
}

ClientResult<std::string> history(const PlanShowWords& words, const VerbContext& context) {
  const auto client = connect(words.server, context);
  if (!client) return client_fail(client.error());
  const auto plans = client->list("/v1/plans?limit=100");
  if (!plans) return client_fail(plans.error());
  const auto promises = client->list(kPromises);
  if (!promises) return client_fail(promises.error());
  const auto page = client->get(kPromises);
  if (!page) return client_fail(page.error());
  return plans_table(*plans, sums_by_plan(*promises), fetch_now(*client)) + "\n" + sums_table(page->body);
}

}  // namespace

VerbOutcome run_plan_history(const PlanShowWords& words, const VerbContext& context) {
  if (words.output == "table") return outcome_of(history(words, context));
  return run_get({.server = words.server, .kind = "plans", .name = "", .tenant = "", .output = words.output}, context);
}

}  // namespace berth::cli
