// Any bytes give offers that can be written and read again, or an error with the file's name.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/core/ensure.h"
#include "purchase/pricing/offer_files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto rows = pricing::read_offers({.text = text, .file = "fuzz", .stamp = Date(20'000)});
  if (!rows) {
    ENSURE(rows.error().message.starts_with("fuzz"));
    return 0;
  }
  std::vector<pricing::Offer> offers;
  offers.reserve(rows->size());
  for (const pricing::OfferRow& row : *rows) offers.push_back(row.offer);
  const std::string written = pricing::write_offers(offers);
  const auto again = pricing::read_offers({.text = written, .file = "again", .stamp = Date()});
  ENSURE(again.has_value() && again->size() == offers.size());
  for (std::size_t i = 0; i < offers.size(); ++i) ENSURE((*again)[i].offer == offers[i]);
  return 0;
}
