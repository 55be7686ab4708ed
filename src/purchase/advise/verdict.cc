#include "purchase/advise/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/core/ensure.h"
#include "base/core/figure_text.h"
#include "purchase/pricing/age.h"

namespace berth::purchase::advise {
namespace {

/// The saving compared with the better rival.
std::string saving_words(const Advice& advice) {
  const auto better = std::ranges::min_element(advice.rivals, {}, &Rival::micro_usd_per_hour);
  if (better == advice.rivals.end()) return "";
  constexpr std::string_view kWho = "the better of two common rules";
  if (better->micro_usd_per_hour == advice.micro_usd_per_hour) {
    return fmt::format(", as much as by {}, {}", better->name, kWho);
  }
  const double share =
      1 - static_cast<double>(advice.micro_usd_per_hour) / static_cast<double>(better->micro_usd_per_hour);
  return fmt::format(", {:.1f}% less than by {}, {}", share * 100, better->name, kWho);
}

std::string proof_words(const Advice& advice) {
  if (advice.is_proven()) return "No instances of these offers hold the pods for less: proven.";
  if (advice.bound_micro_usd_per_hour <= 0) return "Whether it could be less is not proven.";
  const double excess =
      static_cast<double>(advice.micro_usd_per_hour) / static_cast<double>(advice.bound_micro_usd_per_hour) - 1;
  return fmt::format("Not proven the cheapest: at most {:.2f}% above it.", excess * 100);
}

}  // namespace

std::string advise_verdict(const Advice& advice) {
  const std::size_t count = advice.instances.size();
  return fmt::format("Rent {}: {} an hour{}. {}",
                     count == 1 ? "this instance" : fmt::format("these {} instances", count),
                     dollars(advice.micro_usd_per_hour), saving_words(advice), proof_words(advice));
}

std::string advise_assumption(const Advice& advice, Date at) {
  ENSURE(!advice.instances.empty());
  std::vector<pricing::Offer> bought;
  bought.reserve(advice.instances.size());
  for (const Instance& instance : advice.instances) bought.push_back(instance.offer);
  return fmt::format(
      "Assumed: list prices {}, without taxes and your discounts; each pod needs what the list says, all the time.",
      pricing::age_words(bought, at));
}

}  // namespace berth::purchase::advise
