#include "surface/cli/price/price_options.h"

#include <fmt/format.h>

#include <utility>

#include "base/core/clock_text.h"
#include "base/core/decimal.h"
#include "base/core/text.h"
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

OptionTable price_event_option_rows(PriceEventWords& words) {
  return joined_rows({{{"--sku", "SKU", "The GPU model as the events of the ledger name it", &words.sku, kRequired},
                       {"--from", "TIME", "The price is in force from this instant (RFC 3339)", &words.from, kRequired},
                       {"--usd-per-gpu-hour", "DOLLARS",
                        "The price; default: that of the offers that the other options select", &words.usd},
                       {"--type", "TYPE", "Only this instance type, such as p5.48xlarge", &words.type}},
                      offer_option_rows(words.offers)});
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

namespace {

Result<std::int64_t> micro_usd_of(const std::string& text) {
  constexpr std::int64_t kMicro = 1'000'000;
  constexpr std::int64_t kEventMicroUsdMax = 1'000'000'000'000'000;  // of an event
  const auto wrong = [&] {
    return invalid(fmt::format(
        "--usd-per-gpu-hour: wanted dollars with at most six decimals, 0 to 1000000000, found {}", in_quotes(text)));
  };
  const auto usd = Decimal::parse(text);
  if (!usd) return wrong();
  const Decimal micro = *usd * Decimal(kMicro);
  if (!micro.fits_int64() || micro < Decimal() || micro > Decimal(kEventMicroUsdMax)) return wrong();
  const std::int64_t whole = micro.round_half_even();
  if (micro != Decimal(whole)) return wrong();
  return whole;
}

}  // namespace

Result<PriceEventRequest> check_price_event_words(const PriceEventWords& words, Date today) {
  if (words.sku.empty()) return invalid("--sku: wanted a GPU model, found an empty text");
  const OfferWords& named = words.offers;
  const bool has_offers =
      words.type || named.offers || named.at || named.stamp || named.regions || named.purchase || named.gpu;
  if (words.usd && has_offers) {
    return invalid("--usd-per-gpu-hour: wanted no options about offers beside it, found some");
  }
  if (!words.usd && !has_offers) {
    return invalid("wanted --usd-per-gpu-hour, or offers that have one price (--type, --gpu, ..), found neither");
  }
  const auto from = WorldEpoch().parse(words.from);
  if (!from) {
    return invalid(fmt::format("--from: wanted a time of RFC 3339, such as {}, found {}",
                               WorldEpoch().text(Instant::at_second(today.days() * std::int64_t{86'400})),
                               in_quotes(words.from)));
  }
  auto offers = check_offer_words(named, today);
  if (!offers) return pass_on(offers.error());
  offers->filter.instance_type = words.type;
  PriceEventRequest request{.micro_usd_per_gpu_hour = std::nullopt,
                            .offers = std::move(*offers),
                            .sku = words.sku,
                            .from_us = from->micros()};
  if (!words.usd) return request;
  const auto price = micro_usd_of(*words.usd);
  if (!price) return pass_on(price.error());
  request.micro_usd_per_gpu_hour = *price;
  return request;
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
