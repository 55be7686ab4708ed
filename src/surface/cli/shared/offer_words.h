/// The words of verbs that work with offers: their files, and which offers count.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/core/date.h"
#include "base/core/result.h"
#include "domain/ports/files.h"
#include "purchase/pricing/offer.h"
#include "purchase/pricing/selection.h"

namespace berth::cli {

/// As typed.
struct OfferWords {
  std::optional<std::string> offers = std::nullopt;  ///< files, joined by commas
  std::optional<std::string> at = std::nullopt;
  std::optional<std::string> stamp = std::nullopt;
  std::optional<std::string> regions = std::nullopt;  ///< joined by commas
  std::optional<std::string> purchase = std::nullopt;
  std::optional<std::string> gpu = std::nullopt;
};

/// Checked, as far as possible without the files.
struct OfferRequest {
  std::vector<std::string> files;  ///< empty: the built-in catalogue
  Date stamp;                      ///< of rows of catalogues without dates
  pricing::OfferFilter filter;
};

/// `today` is the default of --at. Refuses malformed dates, unknown purchases, and empty or repeated words of a list.
[[nodiscard]] Result<OfferRequest> check_offer_words(const OfferWords& words, Date today);

/// The offers of all files together, of any date. Errors: those of the files; two prices for one offer and date.
[[nodiscard]] Result<std::vector<pricing::Offer>> read_all_offers(const OfferRequest& request, const Files& files);

/// The offers that match the filter. Error: none matches; the message names the word that excluded the last ones, and
/// the values that would match.
[[nodiscard]] Result<std::vector<pricing::Offer>> select_offers(const std::vector<pricing::Offer>& offers,
                                                                const pricing::OfferFilter& filter);

}  // namespace berth::cli
