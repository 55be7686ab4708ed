#include "surface/cli/tier/tier_predict_options.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/core/first_error.h"
#include "base/core/nearest_double.h"
#include "base/core/text.h"
#include "surface/cli/shared/option_words.h"

namespace berth::cli {
namespace {

Result<void> check_predict_paths(const TierPredictWords& words) {
  const std::array<std::pair<std::string_view, const std::optional<std::string>*>, 7> paths = {
      {{"--workload", &words.workload},
       {"--db", &words.db},
       {"--name", &words.name},
       {"--model", &words.model},
       {"--rules", &words.rules},
       {"--emit", &words.emitted},
       {"--report", &words.report}}};
  for (const auto& [option, path] : paths) {
    if (*path && (*path)->empty()) return invalid(fmt::format("{}: wanted a name, found an empty one", option));
  }
  if (words.tiers.empty()) return invalid("--tiers: wanted a file, found an empty path");
  return {};
}

Result<void> check_predict_sources(const TierPredictWords& words) {
  if (words.workload.has_value() == words.db.has_value()) {
    return invalid(
        fmt::format("wanted --workload FILE or --db FILE --name MODEL, found {}", words.workload ? "both" : "neither"));
  }
  if (words.db && !words.name) return invalid("--db: wanted the name of a model too (--name), found none");
  if (!words.model && !words.rules) return invalid("wanted --model FOREST or --rules FILE, or both, found neither");
  return {};
}

Result<void> check_emit(const TierPredictWords& words) {
  if (!words.emit && words.emitted) {
    return invalid(fmt::format("wanted no word without an option, found {}", in_quotes(*words.emitted)));
  }
  if (!words.emit) return {};
  if (*words.emit != "kubernetes") return invalid("--emit: wanted kubernetes, found " + in_quotes(*words.emit));
  if (!words.emitted) return invalid("--emit: wanted kubernetes FILE, found no file");
  return {};
}

/// A probability above 0, at most 1.
Result<double> parse_sure_enough(std::string_view text) {
  const auto number = Decimal::parse(text);
  if (number && number->sign() > 0 && *number <= Decimal(1)) return nearest_double(*number);
  return invalid("--sure: wanted a probability above 0, at most 1, found " + in_quotes(text));
}

}  // namespace

OptionTable tier_predict_option_rows(TierPredictWords& words) {
  return {
      {"FILE", "FILE", "The file of --emit", &words.emitted},
      {"--workload", "FILE", "The measurements: a csv", &words.workload},
      {"--db", "FILE", "The measurements: a database of berth profile", &words.db},
      {"--name", "NAME", "The workload of the csv, or the model of the database", &words.name},
      {"--tiers", "FILE", "The tiers with their prices", &words.tiers, kRequired},
      {"--model", "FOREST", "Predicts the other tiers: a file of berth tier train", &words.model},
      {"--rules", "FILE", "Rules that exclude tiers, and that choose where there is no forest", &words.rules},
      {"--prices", "", "Take prices from the catalogue of berth price: the cheapest on demand per GPU",
       &words.has_prices},
      {"--target", "TEXT", "\"requests_per_second=R latency_ms=L\" or \"samples_per_second=T\"", &words.target,
       kRequired},
      {"--sure", "P", "The probability of keeping the target that is required", &words.sure},
      {"--emit", "WORD", "kubernetes FILE: write a patch with what a pod must ask for", &words.emit},
      {"--report", "DIR", "Write a page with charts, DIR/index.html", &words.report},
      {"--format", "WORD", "table or json", &words.format},
  };
}

Result<TierPredictRequest> check_tier_predict(const TierPredictWords& words, Date today) {
  FirstError first;
  first.check(check_predict_paths(words));
  first.check(check_predict_sources(words));
  first.check(check_emit(words));
  TierPredictRequest request{.workload_path = words.workload,
                             .db_path = words.db,
                             .name = words.name,
                             .tiers_path = words.tiers,
                             .forest_path = words.model,
                             .rules_path = words.rules,
                             .prices_at = words.has_prices ? std::optional(today) : std::nullopt,
                             .target = first.take(parse_tier_target(words.target)),
                             .sure = first.take(parse_sure_enough(words.sure)),
                             .kubernetes_path = words.emitted,
                             .report_dir = words.report,
                             .format = first.take(parse_format(words.format))};
  if (!first.is_clear()) return first.passed_on();
  return request;
}

}  // namespace berth::cli
