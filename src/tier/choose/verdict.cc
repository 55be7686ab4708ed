#include "tier/choose/verdict.h"

#include <fmt/format.h>

#include "base/core/figure_text.h"

namespace berth::tier {
namespace {

const std::string& name_of(const TierAnswer& answer, std::size_t tier) { return answer.call.tiers[tier].name; }

bool is_service(const TierAnswer& answer) { return answer.call.kind == TierKind::kServices; }

/// Not more digits than mean something: two decimals for a probability, but never 1 unless it is.
std::string probability_text(double probability) {
  if (probability > 0.995 && probability < 1) return "above 0.99";
  return fmt::format("{:.2f}", probability);
}

std::string cost_text(const TierAnswer& answer, std::size_t tier) {
  const auto cost = cost_shown(answer, tier);
  if (!cost)
    return fmt::format("${} per hour and slice", significant(answer.call.tiers[tier].usd_per_hour.to_double()));
  if (!is_service(answer)) return fmt::format("${} per million samples", significant(cost->to_double()));
  const std::string slices = plain_number(*answer.prospects[tier].units);
  return fmt::format("${} per hour for {} {}", significant(cost->to_double()), slices,
                     slices == "1" ? "slice" : "slices");
}

std::string saving_text(const TierAnswer& answer) {
  const std::size_t biggest = biggest_tier(answer);
  if (answer.choice->tier == biggest) return "it is the biggest tier";
  const Saving saving = saving_of(answer);
  const std::string_view of = saving.is_of_prices ? " by price per slice" : "";
  if (saving.share == 0) return fmt::format("as much as the biggest, {}{}", name_of(answer, biggest), of);
  if (saving.share < 0) {
    return fmt::format("{} more than the biggest, {}{}", percent(-saving.share), name_of(answer, biggest), of);
  }
  return fmt::format("{} less than the biggest, {}{}", percent(saving.share), name_of(answer, biggest), of);
}

std::string sureness_text(const TierAnswer& answer) {
  const TierProspect& prospect = answer.prospects[answer.choice->tier];
  if (prospect.is_known_miss()) return "measured, and it misses the target, as all that were measured";
  if (prospect.is_measured) return "measured, and it keeps the target";
  if (!prospect.probability) return "how sure that is, is not known without a forest";
  return fmt::format("it keeps the target with probability {}", probability_text(*prospect.probability));
}

std::string reason_text(const TierChoice& choice) {
  if (choice.by != ChosenBy::kRule) return "";
  return choice.rule.empty() ? " (no rule matches: otherwise)" : fmt::format(" (rule {})", choice.rule);
}

std::string no_choice_text(const TierAnswer& answer) {
  std::string reasons;
  for (std::size_t i = 0; i < answer.prospects.size(); ++i) {
    reasons += fmt::format("{}{}: {}", i == 0 ? "" : "; ", name_of(answer, i),
                           answer.prospects[i].excluded.value_or("nothing is known of it"));
  }
  return "Take none of these tiers. " + reasons + ".";
}

std::string change_condition(const TierAnswer& answer, const TierChange& change) {
  const bool is_up = change.to > change.from;
  const std::string to = plain_number(change.to);
  switch (change.of) {
    case ChangeOf::kPrice:
      return fmt::format("At ${} per hour {} for {} (now ${})", to, is_up ? "or more" : "or less",
                         name_of(answer, change.tier), plain_number(change.from));
    case ChangeOf::kPerSecond:
      return fmt::format("From {} {} per second {} (now {})", to, is_service(answer) ? "requests" : "samples",
                         is_up ? "up" : "down", plain_number(change.from));
    case ChangeOf::kLatency:
      return fmt::format("From a latency of {} ms {} (now {})", to, is_up ? "up" : "down", plain_number(change.from));
  }
  return "";
}

}  // namespace

std::string tier_verdict(const TierAnswer& answer) {
  if (!answer.choice) return no_choice_text(answer);
  const std::size_t tier = answer.choice->tier;
  return fmt::format("Take {}{}{}: {}, {}; {}.", name_of(answer, tier), doubt_text(answer).empty() ? "" : " at best",
                     reason_text(*answer.choice), cost_text(answer, tier), saving_text(answer), sureness_text(answer));
}

std::string doubt_text(const TierAnswer& answer) {
  if (!answer.choice || answer.choice->is_sure || !answer.prospects[answer.choice->tier].probability) return "";
  return fmt::format("Nothing is sure enough: no tier that may be taken keeps the target with probability {} or more.",
                     plain_number(decimal_of(answer.call.sure)));
}

std::string change_text(const TierAnswer& answer, const TierChange& change) {
  return fmt::format("{}, {} wins{}.", change_condition(answer, change), name_of(answer, change.winner),
                     change.is_sure ? "" : ", though it is not sure enough");
}

std::string next_text(const TierAnswer& answer) {
  if (!answer.next) return "";
  const NextMeasurement& next = *answer.next;
  return fmt::format(
      "Measure {} next: it keeps the target with probability {}; that saves ${} {} ({}) in expectation, "
      "with what a miss costs.",
      name_of(answer, next.tier), probability_text(next.probability), significant(shown_cost(answer, next.saves)),
      is_service(answer) ? "per hour" : "per million samples", percent(next.saves_share));
}

std::string target_text(const ChooseCall& call) {
  const std::string rate = plain_number(call.target.per_second);
  if (call.kind == TierKind::kJobs) return rate + " samples per second";
  return fmt::format("{} requests per second within {} ms", rate, plain_number(call.target.latency_ms));
}

std::string tier_assumption(const TierAnswer& answer) {
  const std::string_view cost =
      is_service(answer)
          ? "A point counts if its latency is below 0.45 of the target's; the cost is the price of as many slices as "
            "the rate needs at the median."
          : "The cost is the price divided by the samples per hour at the median, for one slice that keeps the rate.";
  return fmt::format(
      "{} Of the tiers that are sure enough the one of the least expected cost is taken, where a miss costs {} times "
      "what the fastest tier costs. Memory: weights, and activations of a row (jobs: of a batch), where the graph's "
      "figures are known.",
      cost, kMissCost);
}

std::string plain_number(const Decimal& value) {
  constexpr std::size_t kLengthMax = 14;
  std::string exact = value.to_string();
  if (exact.size() <= kLengthMax && exact.find('/') == std::string::npos) return exact;
  return fmt::format("{:.10g}", value.to_double());
}

}  // namespace berth::tier
