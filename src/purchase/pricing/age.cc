#include "purchase/pricing/age.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/core/ensure.h"

namespace berth::pricing {

std::string age_words(std::span<const Offer> offers, Date at) {
  ENSURE(!offers.empty());
  const auto by_date = [](const Offer& a, const Offer& b) { return a.validity.from < b.validity.from; };
  const auto [oldest, newest] = std::ranges::minmax_element(offers, by_date);
  const Date first = oldest->validity.from;
  const Date last = newest->validity.from;
  const int days_max = at.days() - first.days();
  if (first == last) return fmt::format("of {}, {} days old", first.to_string(), days_max);
  return fmt::format("of {} to {}, {} to {} days old", first.to_string(), last.to_string(), at.days() - last.days(),
                     days_max);
}

}  // namespace berth::pricing
