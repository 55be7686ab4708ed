#include "surface/cli/price/price_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "edges/files/file_sink.h"
#include "purchase/pricing/history.h"
#include "purchase/pricing/offer_files.h"
#include "surface/cli/price/price_json.h"
#include "surface/cli/price/price_table.h"
#include "surface/cli/shared/unwritable.h"

namespace berth::cli {
namespace {

using pricing::Offer;
using pricing::OfferRow;

Result<std::vector<OfferRow>> read_rows(const std::string& path, Date stamp, const Files& files) {
  const auto text = files.read(path);
  if (!text) return pass_on(text.error());
  return pricing::read_offers({.text = *text, .file = path, .stamp = stamp});
}

/// The result of a merge in words.
std::string merged_words(const std::vector<OfferRow>& older, const std::vector<Offer>& merged, const std::string& out) {
  const auto is_open = [](const Offer& offer) { return !offer.validity.to; };
  const auto open_before = std::ranges::count_if(older, [&](const OfferRow& row) { return is_open(row.offer); });
  const auto open_now = std::ranges::count_if(merged, is_open);
  return fmt::format("{}: {} rows, {} more than before; {} prices are still in force, {} were\n", out, merged.size(),
                     merged.size() - std::min(merged.size(), older.size()), open_now, open_before);
}

}  // namespace

Result<std::string> run_price_list(const PriceRequest& request, const VerbContext& context) {
  const auto offers = read_all_offers(request.offers, *context.files);
  if (!offers) return pass_on(offers.error());
  auto selected = select_offers(*offers, request.offers.filter);
  if (!selected) return pass_on(selected.error());
  pricing::sort_by_gpu_price(*selected);
  const Date at = request.offers.filter.at;
  return request.format == OutputFormat::kJson ? offers_json(*selected, at)
                                               : offers_table(*selected, at, context.has_colour());
}

Result<std::string> run_price_show(const PriceRequest& request, const VerbContext& context) {
  const auto offers = read_all_offers(request.offers, *context.files);
  if (!offers) return pass_on(offers.error());
  auto selected = select_offers(*offers, request.offers.filter);
  if (!selected) return pass_on(selected.error());
  pricing::sort_by_gpu_price(*selected);
  const Date at = request.offers.filter.at;
  if (request.format == OutputFormat::kJson) return offers_json(*selected, at);
  std::vector<Offer> past;
  for (const Offer& offer : *offers) {
    const bool is_listed = std::ranges::any_of(*selected, [&](const Offer& each) { return each.key == offer.key; });
    if (is_listed && !offer.validity.contains(at)) past.push_back(offer);
  }
  return offer_text(*selected, past, at, context.has_colour());
}

Result<std::string> run_price_merge(const PriceMergeRequest& request, const VerbContext& context) {
  const auto older = read_rows(request.offers.files[0], request.offers.stamp, *context.files);
  if (!older) return pass_on(older.error());
  const auto newer = read_rows(request.offers.files[1], request.offers.stamp, *context.files);
  if (!newer) return pass_on(newer.error());
  const auto merged = pricing::merge(*older, *newer);
  if (!merged) return pass_on(merged.error());
  if (auto written = edges::write_file_whole(request.out, pricing::write_offers(*merged)); !written) {
    return unwritable(written.error());
  }
  return merged_words(*older, *merged, request.out);
}

}  // namespace berth::cli
