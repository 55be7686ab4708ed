#include "surface/cli/tier/tier_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/core/text.h"

namespace berth::cli {
namespace {

constexpr std::string_view kTargetForms = "requests_per_second=R latency_ms=L, or samples_per_second=T";
constexpr std::array<std::string_view, 3> kTargetKeys = {"requests_per_second", "latency_ms", "samples_per_second"};
constexpr std::int64_t kTargetMax = 1'000'000'000'000;

/// By key, in the order of kTargetKeys.
using TargetNumbers = std::array<std::optional<Decimal>, kTargetKeys.size()>;

tl::unexpected<Error> not_a_target(std::string_view found) {
  return invalid(fmt::format("--target: wanted {}, found {}", kTargetForms, in_quotes(found)));
}

Result<void> read_word(std::string_view word, TargetNumbers& numbers) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return not_a_target(word);
  const std::string_view key = word.substr(0, equals);
  for (std::size_t i = 0; i < kTargetKeys.size(); ++i) {
    if (key != kTargetKeys[i]) continue;
    const auto number = Decimal::parse(word.substr(equals + 1));
    if (!number || number->sign() <= 0 || *number > Decimal(kTargetMax)) {
      return invalid(fmt::format("--target: {}: wanted a number above 0, at most {}, found {}", key, kTargetMax,
                                 in_quotes(word.substr(equals + 1))));
    }
    if (numbers[i]) return invalid(fmt::format("--target: wanted {} once, found it twice", key));
    numbers[i] = *number;
    return {};
  }
  return invalid(fmt::format("--target: wanted {}, found the key {}{}", kTargetForms, in_quotes(key),
                             spelling_hint(key, kTargetKeys)));
}

std::vector<std::string_view> blank_separated(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return words;
    const std::size_t end = std::min(text.find_first_of(" \t", begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    text.remove_prefix(end);
  }
}

}  // namespace

Result<KindAndTarget> parse_tier_target(std::string_view text) {
  TargetNumbers numbers;
  for (const std::string_view word : blank_separated(text)) {
    if (auto read = read_word(word, numbers); !read) return pass_on(read.error());
  }
  const auto& [requests, latency, samples] = numbers;
  if (samples && !requests && !latency)
    return KindAndTarget{.kind = tier::TierKind::kJobs, .target = {.per_second = *samples}};
  if (!samples && requests && latency) {
    return KindAndTarget{.kind = tier::TierKind::kServices,
                         .target = {.per_second = *requests, .latency_ms = *latency}};
  }
  return not_a_target(text);
}

}  // namespace berth::cli
