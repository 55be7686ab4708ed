#include "surface/cli/profile/list_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/core/figure_text.h"
#include "base/json/value.h"
#include "domain/profile_book/point_text.h"
#include "surface/cli/profile/book_json.h"
#include "surface/cli/profile/book_words.h"
#include "surface/cli/profile/read_book.h"
#include "surface/cli/shared/printable.h"
#include "surface/cli/shared/text_table.h"

namespace berth::cli {
namespace {

using profile_book::ModelInForce;
using profile_book::PlaceInForce;
using profile_book::PointInForce;

constexpr std::size_t kShaShown = 12;
constexpr double kMicrosPerMs = 1000;

/// "1-32" or "1, 8".
std::string batches_words(const PlaceInForce& place) {
  std::vector<int> batches;
  batches.reserve(place.points.size());
  for (const PointInForce& point : place.points) batches.push_back(point.measured.batch);
  std::ranges::sort(batches);
  const auto repeated = std::ranges::unique(batches);
  batches.erase(repeated.begin(), repeated.end());
  if (batches.size() > 2) return fmt::format("{} to {}", batches.front(), batches.back());
  return batches.empty() ? std::string(kAbsentText) : fmt::format("{}", fmt::join(batches, ", "));
}

/// Of the points with figures the least latency, and the most rows per second.
std::pair<std::string, std::string> best_figures(const PlaceInForce& place) {
  double least_ms = 0;
  double most = 0;
  for (const PointInForce& point : place.points) {
    if (!profile_book::has_figures(point)) continue;
    const double ms = (point.is_replaced() ? point.observed->mean_us : point.measured.mean_us) / kMicrosPerMs;
    const profile_book::PointFigures figures = profile_book::figures_of(point);
    least_ms = least_ms == 0 ? ms : std::min(least_ms, ms);
    if (const auto rate = Decimal::parse(figures.rate)) most = std::max(most, rate->to_double());
  }
  if (most == 0) return {std::string(kAbsentText), std::string(kAbsentText)};
  return {significant(least_ms) + " ms", significant(most) + "/s"};
}

std::vector<std::string> place_row(const ModelInForce& model, const PlaceInForce& place,
                                   const std::map<std::int64_t, std::int64_t>& started) {
  std::int64_t observed = 0;
  for (const PointInForce& point : place.points) observed += point.observed ? point.observed->count : 0;
  const auto [latency, rate] = best_figures(place);
  const auto drifting = std::ranges::count_if(place.points, &PointInForce::is_drift);
  const auto newest = started.find(place.run);
  return {printable(model.name),
          model.model.sha256.empty() ? std::string(kAbsentText) : model.model.sha256.substr(0, kShaShown),
          place_words(place.label, place.machine),
          newest == started.end() ? std::string(kAbsentText) : minute_text(newest->second),
          fmt::format("{}", place.points.size()),
          batches_words(place),
          latency,
          rate,
          observed == 0 ? std::string(kAbsentText) : with_separators(observed),
          drifting == 0 ? std::string(kAbsentText) : fmt::format("{}", drifting)};
}

std::string list_table(const ProfileBook& book, bool has_colour) {
  std::map<std::int64_t, std::int64_t> started;
  for (const ProfileRun& run : book.runs) started[run.id] = run.started_us;
  std::vector<std::vector<std::string>> rows = {
      {"model", "sha256", "where", "last run", "points", "batch", "latency", "rows", "observed", "drift"}};
  std::string remarks;
  for (const ModelInForce& model : book.models) {
    for (const PlaceInForce& place : model.places) {
      rows.push_back(place_row(model, place, started));
      for (const PointInForce& point : place.points) {
        if (point.is_drift()) remarks += drift_line(model.name, place, point) + "\n";
      }
    }
    if (model.batches_of_other_content > 0) {
      remarks += fmt::format("{}: {} observed batches of another content than the one that was profiled: not counted\n",
                             printable(model.name), with_separators(model.batches_of_other_content));
    }
  }
  return styled_table(rows, has_colour) + remarks;
}

std::string list_json(const ProfileBook& book) {
  json::Value::List models;
  for (const ModelInForce& model : book.models) models.push_back(model_json(model));
  return json::Value(json::Value::Object{{"berth", 1}, {"models", std::move(models)}}).to_line();
}

}  // namespace

Result<std::string> run_list_profiles(const ListProfilesRequest& request, const VerbContext& context) {
  const auto book = read_profile_book(request.db);
  if (!book) return pass_on(book.error());
  if (request.format == OutputFormat::kJson) return list_json(*book);
  return list_table(*book, context.has_colour());
}

}  // namespace berth::cli
