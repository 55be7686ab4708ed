#include "surface/cli/tier/tier_train_options.h"

#include <fmt/format.h>

#include <utility>

#include "base/core/first_error.h"
#include "base/core/text.h"
#include "surface/cli/shared/option_words.h"

namespace berth::cli {
namespace {

constexpr std::int64_t kTrainSeedMax = INT64_MAX;
constexpr std::int64_t kTreesMax = 10'000;

Result<tier::TierSource> parse_train_source(const std::string& text) {
  if (const auto source = tier::source_named(text)) return *source;
  return invalid("--source: wanted csv, gavel, sia, miso or parvagpu, found " + in_quotes(text));
}

}  // namespace

OptionTable tier_train_option_rows(TierTrainWords& words) {
  return {
      {"--data", "FILE,..", "Measurements on tiers", &words.data, kRequired},
      {"--source", "WORD", "The format of the data: csv, gavel, sia, miso or parvagpu", &words.source},
      {"--tiers", "FILE", "The tiers; default: those of the source (csv has none)", &words.tiers},
      {"--out", "FOREST", "The file to write", &words.out, kRequired},
      {"--seed", "N", "Of what is drawn", &words.seed},
      {"--trees", "N", "How many trees the forest has", &words.trees},
  };
}

Result<TierTrainRequest> check_tier_train(const TierTrainWords& words) {
  FirstError first;
  TierTrainRequest request{
      .data_paths = first.take(split_words("--data", words.data, "files")),
      .source = first.take(parse_train_source(words.source)),
      .tiers_path = words.tiers,
      .out_path = words.out,
      .seed = static_cast<std::uint64_t>(first.take(whole_option("--seed", words.seed, 0, kTrainSeedMax))),
      .trees = static_cast<int>(first.take(whole_option("--trees", words.trees, 1, kTreesMax)))};
  if (!first.is_clear()) return first.passed_on();
  if (words.out.empty()) return invalid("--out: wanted a file, found an empty path");
  if (words.tiers.empty() && request.source == tier::TierSource::kCsv) {
    return invalid("--tiers: wanted a file of tiers for --source csv, found none");
  }
  return request;
}

}  // namespace berth::cli
