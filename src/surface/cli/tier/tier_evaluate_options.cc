#include "surface/cli/tier/tier_evaluate_options.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "base/core/first_error.h"
#include "base/core/nearest_double.h"
#include "base/core/text.h"
#include "surface/cli/shared/option_words.h"

namespace berth::cli {
namespace {

constexpr std::int64_t kMeasurementsMax = 1000;

Result<tier::TierSource> parse_source(std::string_view text) {
  if (const auto source = tier::source_named(text)) return *source;
  std::vector<std::string_view> known;
  known.reserve(tier::kTierSources.size());
  for (const tier::TierSource source : tier::kTierSources) known.push_back(tier::name_of(source));
  return invalid(fmt::format("--source: wanted gavel, sia, miso, parvagpu or csv, found {}{}", in_quotes(text),
                             spelling_hint(text, known)));
}

/// What a number of a list must be.
struct NumberRange {
  std::string_view words;
  bool (*holds)(const Decimal&);
};
constexpr NumberRange kPart = {"numbers from 0 to 1",
                               [](const Decimal& number) { return number.sign() >= 0 && number <= Decimal(1); }};
constexpr NumberRange kAboveOne = {"numbers above 1", [](const Decimal& number) { return number > Decimal(1); }};
constexpr NumberRange kAboveZero = {"numbers above 0", [](const Decimal& number) { return number.sign() > 0; }};

/// The numbers of an option that replaces `usual`.
Result<std::vector<Decimal>> number_list(std::string_view option, const std::optional<std::string>& text,
                                         const std::vector<Decimal>& usual, const NumberRange& range) {
  if (!text) return usual;
  const auto words = split_words(option, *text, range.words);
  if (!words) return pass_on(words.error());
  std::vector<Decimal> numbers;
  numbers.reserve(words->size());
  for (const std::string& word : *words) {
    const auto number = Decimal::parse(word);
    if (!number || !range.holds(*number)) {
      return invalid(fmt::format("{}: wanted {}, found {}", option, range.words, in_quotes(word)));
    }
    numbers.push_back(*number);
  }
  return numbers;
}

Result<double> parse_sure(std::string_view text) {
  const auto number = Decimal::parse(text);
  if (!number || !kPart.holds(*number)) {
    return invalid(fmt::format("--sure: wanted a probability from 0 to 1, found {}", in_quotes(text)));
  }
  return nearest_double(*number);
}

Result<void> check_evaluate_paths(const TierEvaluateWords& words) {
  if (words.data.empty()) return invalid("DATA: wanted a file or folder, found an empty path");
  if (words.tiers == "") return invalid("--tiers: wanted a file, found an empty path");
  if (words.leave.empty()) return invalid("--leave: wanted group or a file, found an empty path");
  if (words.log == "") return invalid("--log: wanted a file, found an empty path");
  return {};
}

}  // namespace

OptionTable tier_evaluate_option_rows(TierEvaluateWords& words) {
  return {
      {"DATA", "", "The file or folder of measurements", &words.data, kRequired},
      {"--source", "WORD", "gavel, sia, miso, parvagpu or csv: what DATA is", &words.source, kRequired},
      {"--tiers", "FILE", "Tiers and prices; default: those of the source", &words.tiers},
      {"--measure", "N", "How many tiers may be measured per case", &words.measure},
      {"--sure", "P", "The stated probability from which on a tier may be taken unmeasured", &words.sure},
      {"--leave", "WORD", "What is not learned from: each model alone (group), or a FILE model,group", &words.leave},
      {"--fractions", "F,G", "Targets of jobs, as parts of the largest rate; default 0,0.3,0.5,0.7,0.85,0.95",
       &words.fractions},
      {"--latencies", "M,N", "Latencies of services, as multiples of the least; default 1.15,1.5,2.5,5,10",
       &words.latencies},
      {"--rates", "Q,R", "Rates of services, as parts of what one slice gives; default 0.15,0.5,1.5,5", &words.rates},
      {"--log", "FILE", "Write a line per case", &words.log},
      {"--format", "WORD", "table or json", &words.format},
  };
}

Result<TierEvaluateRequest> check_tier_evaluate_options(const TierEvaluateWords& words) {
  if (auto checked = check_evaluate_paths(words); !checked) return pass_on(checked.error());
  const tier::CaseSettings usual;
  FirstError first;
  TierEvaluateRequest request{
      .data = words.data,
      .source = first.take(parse_source(words.source)),
      .tiers_path = words.tiers,
      .measurements_max = static_cast<int>(first.take(whole_option("--measure", words.measure, 0, kMeasurementsMax))),
      .sure = first.take(parse_sure(words.sure)),
      .leave_path = words.leave == "group" ? std::nullopt : std::optional(words.leave),
      .cases = {.fractions = first.take(number_list("--fractions", words.fractions, usual.fractions, kPart)),
                .latencies = first.take(number_list("--latencies", words.latencies, usual.latencies, kAboveOne)),
                .rates = first.take(number_list("--rates", words.rates, usual.rates, kAboveZero))},
      .log_path = words.log,
      .format = first.take(parse_format(words.format))};
  if (!first.is_clear()) return first.passed_on();
  if (request.source == tier::TierSource::kCsv && !request.tiers_path) {
    return invalid("--tiers: wanted a file of tiers and prices, which --source csv needs, found none");
  }
  return request;
}

}  // namespace berth::cli
