#include "surface/cli/price/price_options.h"

#include <fmt/format.h>

#include <utility>

#include "surface/cli/shared/option_words.h"

namespace berth::cli {

Result<PriceRequest> check_price_words(const PriceWords& words, Date today) {
  auto offers = check_offer_words(words.offers, today);
  if (!offers) return pass_on(offers.error());
  const auto format = parse_format(words.format);
  if (!format) return pass_on(format.error());
  if (words.type) offers->filter.instance_type = words.type;
  return PriceRequest{.offers = std::move(*offers), .format = *format};
}

Result<PriceMergeRequest> check_price_merge_words(const PriceMergeWords& words, Date today) {
  auto offers = check_offer_words({.offers = words.offers, .at = words.at, .stamp = words.stamp}, today);
  if (!offers) return pass_on(offers.error());
  if (offers->files.size() != 2) {
    return invalid(fmt::format("--offers: wanted two files, OLD,NEW, found {}", offers->files.size()));
  }
  if (words.out.empty()) return invalid("--out: wanted a file, found an empty path");
  return PriceMergeRequest{.offers = std::move(*offers), .out = words.out};
}

}  // namespace berth::cli
