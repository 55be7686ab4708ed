#include "surface/cli/price/price_options.h"

#include <fmt/format.h>

#include <utility>

#include "surface/cli/shared/option_words.h"

namespace berth::cli {
namespace {

OptionTable offer_option_rows(OfferWords& words) {
  return {
      {"--offers", "FILE,..", "Catalogues as CSV; default: the built-in one", &words.offers},
      {"--gpu", "MODEL", "Only with this GPU, such as h100", &words.gpu},
      {"--region,--regions", "A,B", "Only in these regions", &words.regions},
      {"--purchase", "WORD", "Only on-demand, spot or committed", &words.purchase},
      {"--at", "DATE", "The prices of this day; default: today (UTC)", &words.at},
      {"--stamp", "DATE", "The day of catalogues without dates; default: that of --at", &words.stamp},
  };
}

}  // namespace

OptionTable price_list_option_rows(PriceWords& words) {
  return joined_rows({offer_option_rows(words.offers), {{"--format", "WORD", "table or json", &words.format}}});
}

OptionTable price_show_option_rows(PriceWords& words) {
  return joined_rows({{{"TYPE", "TEXT", "The instance type, such as p5.48xlarge", &words.type, kRequired}},
                      price_list_option_rows(words)});
}

OptionTable price_merge_option_rows(PriceMergeWords& words) {
  return {
      {"--offers", "OLD,NEW", "The history, and the newer offers", &words.offers, kRequired},
      {"--out", "FILE", "The file to write; it may be OLD", &words.out, kRequired},
      {"--stamp", "DATE", "The day of catalogues without dates; default: today (UTC)", &words.stamp},
  };
}

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
