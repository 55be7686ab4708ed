#include "purchase/pricing/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/core/sort_stably.h"

namespace berth::pricing {
namespace {

bool overlaps(const Validity& a, const Validity& b) { return (!a.to || b.from < *a.to) && (!b.to || a.from < *b.to); }

/// Same shape and price: only dates and source may differ.
bool is_unchanged(const Offer& a, const Offer& b) {
  return a.shape == b.shape && a.micro_usd_per_hour == b.micro_usd_per_hour;
}

tl::unexpected<Error> refuse_pair(const OfferRow& first, const OfferRow& second) {
  const Date date = std::max(first.offer.validity.from, second.offer.validity.from);
  const OfferKey& key = second.offer.key;
  return invalid(fmt::format("{}: wanted one price and shape of {} {} {} ({}) on {}, found another at {}", second.place,
                             key.provider, key.instance_type, key.region, name_of(key.purchase), date.to_string(),
                             first.place));
}

/// The intervals without the days of `hole`.
std::vector<Validity> without(const std::vector<Validity>& pieces, const Validity& hole) {
  std::vector<Validity> rest;
  rest.reserve(pieces.size() + 1);
  for (const Validity& piece : pieces) {
    if (!overlaps(piece, hole)) {
      rest.push_back(piece);
      continue;
    }
    if (piece.from < hole.from) rest.push_back({piece.from, hole.from});
    if (hole.to && (!piece.to || *hole.to < *piece.to)) rest.push_back({*hole.to, piece.to});
  }
  return rest;
}

/// The rows of one product.
using Line = std::vector<OfferRow>;

/// Continues the line of a product with a newer row.
Result<void> continue_line(Line& line, const OfferRow& row) {
  std::vector<Validity> pieces = {row.offer.validity};
  for (OfferRow& known : line) {
    Validity& validity = known.offer.validity;
    if (!overlaps(validity, row.offer.validity)) continue;
    if (is_unchanged(known.offer, row.offer)) {
      pieces = without(pieces, validity);
      continue;
    }
    if (row.offer.validity.from <= validity.from) return refuse_pair(known, row);
    validity.to = row.offer.validity.from;
  }
  for (const Validity& piece : pieces) {
    line.push_back(row);
    line.back().offer.validity = piece;
  }
  return {};
}

using Lines = std::map<OfferKey, Line>;

std::vector<OfferRow> by_date(std::vector<OfferRow> rows) {
  sort_stably(rows, [](const OfferRow& row) { return row.offer.validity.from; });
  return rows;
}

}  // namespace

Result<std::vector<Offer>> combine(const std::vector<std::vector<OfferRow>>& files) {
  std::map<OfferKey, std::vector<const OfferRow*>> seen;
  std::vector<Offer> offers;
  for (const std::vector<OfferRow>& file : files) {
    for (const OfferRow& row : file) {
      std::vector<const OfferRow*>& line = seen[row.offer.key];
      for (const OfferRow* known : line) {
        const bool is_conflict =
            overlaps(known->offer.validity, row.offer.validity) && !is_unchanged(known->offer, row.offer);
        if (is_conflict) return refuse_pair(*known, row);
      }
      line.push_back(&row);
      offers.push_back(row.offer);
    }
  }
  return offers;
}

Result<std::vector<Offer>> merge(const std::vector<OfferRow>& older, const std::vector<OfferRow>& newer) {
  Lines lines;
  for (const OfferRow& row : older) lines[row.offer.key].push_back(row);
  for (const OfferRow& row : by_date(newer)) {
    if (Result<void> done = continue_line(lines[row.offer.key], row); !done) return pass_on(done.error());
  }
  std::vector<Offer> offers;
  offers.reserve(older.size() + newer.size());
  for (auto& [key, line] : lines) {
    for (OfferRow& row : by_date(std::move(line))) offers.push_back(std::move(row.offer));
  }
  return offers;
}

}  // namespace berth::pricing
