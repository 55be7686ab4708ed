/// The options of `berth price`: as typed, and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/core/date.h"
#include "base/core/result.h"
#include "surface/cli/shared/offer_words.h"
#include "surface/cli/shared/option_row.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// The words of `berth price list` and `show`, as typed.
struct PriceWords {
  OfferWords offers;
  std::optional<std::string> type = std::nullopt;  ///< `show` only
  std::string format = "table";
};

[[nodiscard]] OptionTable price_list_option_rows(PriceWords& words);
[[nodiscard]] OptionTable price_show_option_rows(PriceWords& words);

/// The words of `berth price merge`, as typed.
struct PriceMergeWords {
  std::string offers;
  std::string out;
  std::optional<std::string> at = std::nullopt;
  std::optional<std::string> stamp = std::nullopt;
};

[[nodiscard]] OptionTable price_merge_option_rows(PriceMergeWords& words);

/// The words of `berth price event`, as typed: a price, or offers that agree on one.
struct PriceEventWords {
  OfferWords offers;
  std::optional<std::string> type = std::nullopt;
  std::optional<std::string> usd = std::nullopt;
  std::string sku;
  std::string from;
};

[[nodiscard]] OptionTable price_event_option_rows(PriceEventWords& words);

struct PriceEventRequest {
  std::optional<std::int64_t> micro_usd_per_gpu_hour;  ///< absent: that of the offers
  OfferRequest offers;
  std::string sku;
  std::int64_t from_us = 0;  ///< since 1970
};

struct PriceRequest {
  OfferRequest offers;
  OutputFormat format = OutputFormat::kTable;
};

struct PriceMergeRequest {
  OfferRequest offers;  ///< two files: the older and the newer
  std::string out;
};

/// Refuses whatever check_offer_words refuses, a price with more than six decimals or out of a ledger's range, a price
/// beside words about offers, neither of them, and a malformed time.
[[nodiscard]] Result<PriceEventRequest> check_price_event_words(const PriceEventWords& words, Date today);
/// Refuses whatever check_offer_words refuses, and an unknown format.
[[nodiscard]] Result<PriceRequest> check_price_words(const PriceWords& words, Date today);
[[nodiscard]] Result<PriceMergeRequest> check_price_merge_words(const PriceMergeWords& words, Date today);

}  // namespace berth::cli
