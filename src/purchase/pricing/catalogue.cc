#include "purchase/pricing/catalogue.h"

#include <string_view>

#include "base/core/ensure.h"
#include "purchase/pricing/history.h"
#include "purchase/pricing/offer_files.h"

// From catalogue.csv, by berth_embed.
extern "C" const char catalogue_csv_begin[];
extern "C" const char catalogue_csv_end[];

namespace berth::pricing {

const std::vector<Offer>& built_in_offers() {
  static const std::vector<Offer> offers = [] {
    const std::string_view text(catalogue_csv_begin, static_cast<std::size_t>(catalogue_csv_end - catalogue_csv_begin));
    const auto rows = read_offers({.text = text, .file = "catalogue.csv", .stamp = Date()});
    ENSURE(rows.has_value());
    auto combined = combine({*rows});
    ENSURE(combined.has_value());
    return std::move(*combined);
  }();
  return offers;
}

}  // namespace berth::pricing
