/// How old prices are, in words.
#pragma once

#include <span>
#include <string>

#include "base/core/date.h"
#include "purchase/pricing/offer.h"

namespace berth::pricing {

/// "of 2026-07-20 to 2026-08-03, 116 to 130 days old": since when the prices are in force, as of a day. Requires: one
/// offer at least.
[[nodiscard]] std::string age_words(std::span<const Offer> offers, Date at);

}  // namespace berth::pricing
