#include "surface/cli/price/price_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/core/decimal.h"
#include "base/json/writer.h"
#include "edges/files/file_sink.h"
#include "ledger/events/event_reader.h"
#include "purchase/pricing/history.h"
#include "purchase/pricing/offer_files.h"
#include "surface/cli/price/price_json.h"
#include "surface/cli/price/price_table.h"
#include "surface/cli/shared/money_text.h"
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

namespace {

/// The price of a GPU that all selected offers have, in micro-dollars per hour, rounded half to even.
Result<std::int64_t> common_gpu_price(const std::vector<Offer>& offers) {
  std::set<std::int64_t> prices;
  for (const Offer& offer : offers) {
    if (!offer.micro_usd_per_hour || offer.shape.gpu_count == 0) continue;
    prices.insert(Decimal(*offer.micro_usd_per_hour, offer.shape.gpu_count).round_half_even());
  }
  if (prices.size() == 1) return *prices.begin();
  if (prices.empty()) return invalid("wanted an offer of whole GPUs with a price, found none");
  const auto dollars = [](std::int64_t micro_usd) { return exact_dollars_text(micro_usd); };
  return invalid(
      fmt::format("wanted offers that have one price of a GPU, found {} prices from ${} to ${} per hour: add "
                  "--type, --regions or --purchase (berth price list shows them)",
                  prices.size(), dollars(*prices.begin()), dollars(*prices.rbegin())));
}

}  // namespace

Result<std::string> run_price_event(const PriceEventRequest& request, const VerbContext& context) {
  std::optional<std::int64_t> price = request.micro_usd_per_gpu_hour;
  if (!price) {
    const auto offers = read_all_offers(request.offers, *context.files);
    if (!offers) return pass_on(offers.error());
    const auto selected = select_offers(*offers, request.offers.filter);
    if (!selected) return pass_on(selected.error());
    const auto common = common_gpu_price(*selected);
    if (!common) return pass_on(common.error());
    price = *common;
  }
  json::Writer json;
  json.open_object().member("type", "price");
  json.member("id", fmt::format("price/{}@{}", request.sku, request.from_us)).member("sku", request.sku);
  json.member("from_us", request.from_us).member("micro_usd_per_gpu_hour", *price);
  std::string line = json.close_object().take();
  if (const auto event = ledger::EventReader().read(line); !event) return invalid(event.error().message);
  return line + '\n';
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
