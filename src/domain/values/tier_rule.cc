#include "domain/values/tier_rule.h"

#include <array>
#include <charconv>

namespace berth {
namespace {

/// A number with up to four significant digits.
std::string short_text(double value) {
  constexpr int kDigits = 4;
  std::array<char, 32> digits{};
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::general, kDigits);
  return {digits.data(), end.ptr};
}

}  // namespace

std::string text_of(const TierChoice& choice) {
  std::string text = choice.gpu + (choice.is_predicted ? " (predicted): " : ": ") + choice.reason;
  text += "; probability " + short_text(choice.probability) + ", " + short_text(choice.usd_per_hour) + " USD per hour";
  for (const RejectedTier& rejected : choice.rejected) text += "; not " + rejected.gpu + ": " + rejected.why;
  return text;
}

}  // namespace berth
