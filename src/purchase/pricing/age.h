/// How old prices are, in words.
#pragma once

#include <span>
#include <string>

#include "base/core/date.h"
#include "purchase/pricing/offer.h"

namespace berth::pricing {

/// "of 2026-07-20 to 2026-08-03, 116 to 130 days old": the dates from which the prices are in force, and their age on
/// day `at`. Requires: at least one offer.
[[nodiscard]] std::string age_words(std::span<const Offer> offers, Date at);

}  // namespace berth::pricing
