#include "surface/cli/spot/spot_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/core/figure_text.h"
#include "purchase/spot/verdict.h"

namespace berth::cli {
namespace {

using purchase::Hold;
using purchase::SpotScore;
using purchase::SpotTotals;
using Json = nlohmann::ordered_json;

constexpr int kAverageDigits = 10;

Json group_json(const purchase::SpotGroup& group) {
  Json entry;
  entry["deadline_hours"] = purchase::hours_text(group.deadline_seconds);
  entry["restart_hours"] = purchase::hours_text(group.restart_seconds);
  entry["runs"] = group.totals.runs;
  entry["average_usd"] = with_digits(group.totals.average_usd(), kAverageDigits);
  entry["missed"] = group.totals.missed;
  return entry;
}

Json score_json(const SpotScore& score, const purchase::SpotStudy& study) {
  const SpotTotals& totals = score.totals;
  Json entry;
  entry["policy"] = purchase::name_of(score.policy);
  entry["hindsight"] = purchase::has_hindsight(score.policy);
  entry["runs"] = totals.runs;
  entry["total_micro_usd"] = totals.micro_usd.round_half_even();
  entry["average_usd"] = with_digits(totals.average_usd(), kAverageDigits);
  const auto points = purchase::score_of(totals, study);
  entry["score"] = points ? Json(points->to_double()) : Json(nullptr);
  entry["missed"] = totals.missed;
  entry["switches"] = totals.switches;
  entry["groups"] = Json::array();
  for (const purchase::SpotGroup& group : score.groups) entry["groups"].push_back(group_json(group));
  return entry;
}

}  // namespace

std::string spot_json(const std::vector<SpotScore>& scores, const purchase::SpotStudy& study) {
  Json document;
  document["berth"] = 1;
  document["policies"] = Json::array();
  for (const SpotScore& score : scores) document["policies"].push_back(score_json(score, study));
  return document.dump() + "\n";
}

std::string spot_run_line(const purchase::SpotRun& run, const purchase::Market& market) {
  Json line;
  line["policy"] = purchase::name_of(run.policy);
  line["series"] = market.is_joined ? "" : market.series.front();
  line["window"] = market.window;
  line["deadline_s"] = run.job.deadline_seconds;
  line["restart_s"] = run.job.restart_seconds;
  std::string decisions;
  Json zones = Json::array();
  for (const purchase::Holding& held : run.result->ticks) {
    decisions += held.hold == Hold::kNone ? 'n' : held.hold == Hold::kSpot ? 's' : 'o';
    if (held.hold == Hold::kSpot) zones.push_back(held.zone);
  }
  line["decisions"] = std::move(decisions);
  if (market.is_joined) line["zones"] = std::move(zones);
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace berth::cli
