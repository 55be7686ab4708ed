/// The words of verbs that work with offers: which files they are in, and which of them count.
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

/// `today` is the default of --at. Refuses what is no date or purchase, and empty or repeated words of a list.
[[nodiscard]] Result<OfferRequest> check_offer_words(const OfferWords& words, Date today);

/// The offers of all files together, whatever their date. Errors: those of the files; two prices for one thing and
/// date.
[[nodiscard]] Result<std::vector<pricing::Offer>> read_all_offers(const OfferRequest& request, const Files& files);

/// Those that the filter wants. Error: none is left; the message says which word excludes all that the ones before it
/// left, and what would be known.
[[nodiscard]] Result<std::vector<pricing::Offer>> select_offers(const std::vector<pricing::Offer>& offers,
                                                                const pricing::OfferFilter& filter);

}  // namespace berth::cli
