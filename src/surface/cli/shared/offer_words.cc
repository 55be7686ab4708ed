#include "surface/cli/shared/offer_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/core/text.h"
#include "purchase/pricing/catalogue.h"
#include "purchase/pricing/history.h"
#include "purchase/pricing/offer_files.h"
#include "surface/cli/shared/option_words.h"

namespace berth::cli {
namespace {

using pricing::Offer;
using pricing::OfferFilter;

Result<Date> parse_date(std::string_view option, const std::string& text) {
  auto date = Date::parse(text);
  if (!date) return invalid(fmt::format("{}: {}", option, date.error().message));
  return date;
}

Result<pricing::Purchase> parse_purchase(const std::string& text) {
  const auto purchase = pricing::purchase_named(text);
  if (!purchase) return invalid("--purchase: wanted on-demand, spot or committed, found " + in_quotes(text));
  return *purchase;
}

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

/// "wanted one of the known names, found ..": a few known names are listed; if there are many, only a near one is
/// named.
template <class NameOf>
tl::unexpected<Error> none_of(std::string_view option, std::string_view what, const std::string& found,
                              const std::vector<Offer>& offers, NameOf name_of) {
  std::set<std::string_view> names;
  for (const Offer& offer : offers) names.insert(name_of(offer));
  const std::vector<std::string_view> known(names.begin(), names.end());
  constexpr std::size_t kListedMax = 12;
  const std::string listed = known.size() > kListedMax ? fmt::format("one of {} known ones", known.size())
                                                       : fmt::format("{}", fmt::join(known, ", "));
  return invalid(fmt::format("{}: wanted {} ({}), found {}{}", option, what, listed, in_quotes(found),
                             spelling_hint(found, known)));
}

}  // namespace

Result<OfferRequest> check_offer_words(const OfferWords& words, Date today) {
  OfferRequest request;
  request.filter.at = today;
  if (words.at) {
    const auto at = parse_date("--at", *words.at);
    if (!at) return pass_on(at.error());
    request.filter.at = *at;
  }
  request.stamp = request.filter.at;
  if (words.stamp) {
    const auto stamp = parse_date("--stamp", *words.stamp);
    if (!stamp) return pass_on(stamp.error());
    request.stamp = *stamp;
  }
  if (words.offers) {
    auto files = split_words("--offers", *words.offers, "files");
    if (!files) return pass_on(files.error());
    request.files = std::move(*files);
  }
  if (words.regions) {
    auto regions = split_words("--regions", *words.regions, "regions");
    if (!regions) return pass_on(regions.error());
    request.filter.regions = std::move(*regions);
  }
  if (words.purchase) {
    const auto purchase = parse_purchase(*words.purchase);
    if (!purchase) return pass_on(purchase.error());
    request.filter.purchase = *purchase;
  }
  if (words.gpu) request.filter.gpu_model = lower_case(*words.gpu);
  return request;
}

Result<std::vector<Offer>> read_all_offers(const OfferRequest& request, const Files& files) {
  if (request.files.empty()) return pricing::built_in_offers();
  std::vector<std::vector<pricing::OfferRow>> rows;
  rows.reserve(request.files.size());
  for (const std::string& path : request.files) {
    const auto text = files.read(path);
    if (!text) return pass_on(text.error());
    auto read = pricing::read_offers({.text = *text, .file = path, .stamp = request.stamp});
    if (!read) return pass_on(read.error());
    rows.push_back(std::move(*read));
  }
  return pricing::combine(rows);
}

Result<std::vector<Offer>> select_offers(const std::vector<Offer>& offers, const OfferFilter& filter) {
  OfferFilter stage{.at = filter.at};
  std::vector<Offer> left = pricing::offers_at(offers, stage);
  if (left.empty()) {
    return invalid(fmt::format("--at: wanted a day on which an offer is in force, found {}", filter.at.to_string()));
  }
  // Each word narrows the result of the previous ones.
  const auto narrow = [&] {
    std::vector<Offer> before = std::exchange(left, pricing::offers_at(offers, stage));
    return before;
  };
  for (const std::string& region : filter.regions) {
    const bool is_known = std::ranges::any_of(left, [&](const Offer& offer) { return offer.key.region == region; });
    if (!is_known) {
      return none_of("--regions", "a region of an offer", region, left,
                     [](const Offer& offer) -> std::string_view { return offer.key.region; });
    }
  }
  stage.regions = filter.regions;
  static_cast<void>(narrow());
  if (filter.gpu_model) {
    stage.gpu_model = filter.gpu_model;
    if (const auto before = narrow(); left.empty()) {
      return none_of("--gpu", "the GPU of an offer", *filter.gpu_model, before,
                     [](const Offer& offer) -> std::string_view { return offer.shape.gpu_model; });
    }
  }
  if (filter.instance_type) {
    stage.instance_type = filter.instance_type;
    if (const auto before = narrow(); left.empty()) {
      return none_of("TYPE", "the type of an offer", *filter.instance_type, before,
                     [](const Offer& offer) -> std::string_view { return offer.key.instance_type; });
    }
  }
  if (filter.purchase) {
    stage.purchase = filter.purchase;
    if (const auto before = narrow(); left.empty()) {
      return none_of("--purchase", "what is offered", std::string(pricing::name_of(*filter.purchase)), before,
                     [](const Offer& offer) { return pricing::name_of(offer.key.purchase); });
    }
  }
  return left;
}

}  // namespace berth::cli
