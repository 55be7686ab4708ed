#include "purchase/pricing/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace berth::pricing {
namespace {

using ::testing::ElementsAre;

Date day(const char* text) { return *Date::parse(text); }

OfferRow row(std::int64_t micro_usd, const char* from, const char* to = nullptr, const char* type = "a") {
  Offer offer{.key = {.provider = "p", .instance_type = type, .region = "r"},
              .shape = {.gpu_model = "h100", .gpu_count = 1},
              .micro_usd_per_hour = micro_usd,
              .validity = {.from = day(from), .to = std::nullopt},
              .source = "s"};
  if (to != nullptr) offer.validity.to = day(to);
  return {.offer = std::move(offer), .place = std::string("f:") + from};
}

/// "price from..to" of each offer.
std::vector<std::string> lines(const std::vector<Offer>& offers) {
  std::vector<std::string> found;
  for (const Offer& offer : offers) {
    found.push_back(offer.key.instance_type + " " + std::to_string(*offer.micro_usd_per_hour) + " " +
                    offer.validity.from.to_string() + ".." + (offer.validity.to ? offer.validity.to->to_string() : ""));
  }
  return found;
}

std::vector<std::string> merged(const std::vector<OfferRow>& older, const std::vector<OfferRow>& newer) {
  const auto offers = merge(older, newer);
  return offers ? lines(*offers) : std::vector<std::string>{offers.error().message};
}

TEST(History, AChangedPriceClosesTheOldOnesInterval) {
  EXPECT_THAT(merged({row(10, "2026-01-01")}, {row(8, "2026-03-01")}),
              ElementsAre("a 10 2026-01-01..2026-03-01", "a 8 2026-03-01.."));
}

TEST(History, EqualRowsChangeNothing) {
  const std::vector<OfferRow> older = {row(10, "2026-01-01")};
  EXPECT_THAT(merged(older, {row(10, "2026-03-01")}), ElementsAre("a 10 2026-01-01.."));
  EXPECT_THAT(merged(older, {row(10, "2026-01-01")}), ElementsAre("a 10 2026-01-01.."));
}

TEST(History, NoRowIsDeletedAndOthersStay) {
  EXPECT_THAT(
      merged({row(10, "2026-01-01", "2026-02-01"), row(9, "2026-02-01"), row(5, "2026-01-01", nullptr, "b")},
             {row(8, "2026-03-01")}),
      ElementsAre("a 10 2026-01-01..2026-02-01", "a 9 2026-02-01..2026-03-01", "a 8 2026-03-01..", "b 5 2026-01-01.."));
}

TEST(History, AThingThatIsNewIsAdded) {
  EXPECT_THAT(merged({row(10, "2026-01-01")}, {row(3, "2026-03-01", nullptr, "c")}),
              ElementsAre("a 10 2026-01-01..", "c 3 2026-03-01.."));
}

TEST(History, TwoPricesForOneDateAreAnError) {
  EXPECT_THAT(
      merged({row(10, "2026-01-01")}, {row(8, "2026-01-01")}),
      ElementsAre("f:2026-01-01: wanted one price and shape of p a r (on-demand) on 2026-01-01, found another at "
                  "f:2026-01-01"));
  EXPECT_THAT(merged({row(10, "2026-03-01")}, {row(8, "2026-01-01")}).front(),
              ::testing::HasSubstr("wanted one price"));
}

TEST(History, MergedAgainItIsTheSame) {
  const std::vector<OfferRow> newer = {row(8, "2026-03-01"), row(3, "2026-03-01", nullptr, "c")};
  const auto once = merge({row(10, "2026-01-01")}, newer);
  ASSERT_TRUE(once.has_value());
  std::vector<OfferRow> rows;
  for (const Offer& offer : *once) rows.push_back({.offer = offer, .place = "m"});
  EXPECT_EQ(merge(rows, newer).value(), *once);
}

TEST(History, FilesMayRepeatEachOtherButNotContradict) {
  EXPECT_TRUE(combine({{row(10, "2026-01-01")}, {row(10, "2026-02-01")}}).has_value());
  EXPECT_TRUE(combine({{row(10, "2026-01-01", "2026-02-01")}, {row(9, "2026-02-01")}}).has_value());
  const auto refused = combine({{row(10, "2026-01-01")}, {row(9, "2026-02-01")}});
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("on 2026-02-01, found another at f:2026-01-01"));
}

}  // namespace
}  // namespace berth::pricing
