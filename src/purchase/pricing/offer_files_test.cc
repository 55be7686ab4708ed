#include "purchase/pricing/offer_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace berth::pricing {
namespace {

const std::string kHeader =
    "provider,instance_type,region,purchase,gpu_model,gpu_count,gpu_memory_mib,vcpu_milli,memory_mib,mig_instances_max,"
    "micro_usd_per_hour,valid_from,valid_to,source\n";
const std::string kRow = "us,rack-1,hall,on-demand,H100,8,81920,192000,2097152,7,20000000,2026-01-01,,our own\n";
const Date kStamp = *Date::parse("2026-07-20");

Result<std::vector<OfferRow>> read(const std::string& text) {
  return read_offers({.text = text, .file = "o.csv", .stamp = kStamp});
}

std::string refusal(const std::string& text) {
  const auto offers = read(text);
  return offers ? "" : offers.error().message;
}

TEST(OfferFiles, ReadsItsOwnFormat) {
  const auto offers = read(kHeader + kRow);
  ASSERT_TRUE(offers.has_value()) << offers.error().message;
  ASSERT_EQ(offers->size(), 1U);
  const Offer wanted{.key = {.provider = "us", .instance_type = "rack-1", .region = "hall"},
                     .shape = {.gpu_model = "h100",
                               .gpu_count = 8,
                               .gpu_memory_mib = 81'920,
                               .vcpu_milli = 192'000,
                               .memory_mib = 2'097'152,
                               .mig_instances_max = 7},
                     .micro_usd_per_hour = 20'000'000,
                     .validity = {.from = *Date::parse("2026-01-01"), .to = std::nullopt},
                     .source = "our own"};
  EXPECT_EQ((*offers)[0].offer, wanted);
  EXPECT_EQ((*offers)[0].place, "o.csv:2");
}

TEST(OfferFiles, ColumnsMayBeInAnyOrderBesideOthers) {
  const auto offers = read(
      "remark,valid_to,valid_from,source,provider,instance_type,region,purchase,gpu_model,gpu_count,gpu_memory_mib,"
      "vcpu_milli,memory_mib,mig_instances_max,micro_usd_per_hour\n"
      "x,2026-02-01,2026-01-01,s,us,t,r,spot,a30,1,,1000,2000,4,\n");
  ASSERT_TRUE(offers.has_value()) << offers.error().message;
  const Offer& offer = (*offers)[0].offer;
  EXPECT_EQ(offer.key.purchase, Purchase::kSpot);
  EXPECT_EQ(offer.micro_usd_per_hour, std::nullopt);
  EXPECT_EQ(offer.shape.gpu_memory_mib, 0);
  EXPECT_EQ(offer.validity.to, *Date::parse("2026-02-01"));
}

TEST(OfferFiles, ReadsCataloguesInMib) {
  const auto offers = read(
      "provider,instance_type,gpu_vendor,gpu_model,gpu_count,gpu_mem_mib_each,mig_max_per_gpu,vcpu,ram_mib,arch,region,"
      "price_od_usd_micro_hr,note\n"
      "aws,g6f.large,nvidia,L4,0.125,2861,0,2,8192,amd64,us-east-1,202000,\n"
      "aws,p5e.48xlarge,nvidia,h200,8,144384,7,192,2097152,amd64,us-east-1,,no price\n");
  ASSERT_TRUE(offers.has_value()) << offers.error().message;
  ASSERT_EQ(offers->size(), 2U);
  EXPECT_EQ((*offers)[0].offer.shape.gpu_count, 0);
  EXPECT_EQ((*offers)[0].offer.shape.vcpu_milli, 2000);
  EXPECT_FALSE(is_buyable((*offers)[0].offer));
  EXPECT_EQ((*offers)[0].offer.validity.from, kStamp);
  EXPECT_EQ((*offers)[1].offer.micro_usd_per_hour, std::nullopt);
  EXPECT_FALSE(is_buyable((*offers)[1].offer));
}

TEST(OfferFiles, ASpotColumnGivesASecondRowAndSoldOnlyAsSpotNoFirstOne) {
  const auto offers = read(
      "provider,instance_type,gpu_model,gpu_count,gpu_mem_gib_each,mig_max_per_gpu,vcpu,ram_gib,region,"
      "price_od_usd_micro_hr,price_spot_usd_micro_hr,note\n"
      "gcp,a2,a100,1,40,7,12,85,us,3673400,1928000,\n"
      "gcp,a3,h100,1,80,7,26,234,us,12794848,5999789,listed price exists but size is sold only as spot/flex-start\n");
  ASSERT_TRUE(offers.has_value()) << offers.error().message;
  ASSERT_EQ(offers->size(), 3U);
  EXPECT_EQ((*offers)[0].offer.key.purchase, Purchase::kOnDemand);
  EXPECT_EQ((*offers)[0].offer.shape.gpu_memory_mib, 40 * 1024);
  EXPECT_EQ((*offers)[0].offer.shape.memory_mib, 85 * 1024);
  EXPECT_EQ((*offers)[1].offer.key.purchase, Purchase::kSpot);
  EXPECT_EQ((*offers)[1].offer.micro_usd_per_hour, 1'928'000);
  EXPECT_EQ((*offers)[2].offer.key.instance_type, "a3");
  EXPECT_EQ((*offers)[2].offer.key.purchase, Purchase::kSpot);
}

TEST(OfferFiles, WhatIsNotNvidiasIsListedAndNeverBought) {
  for (const char* model :
       {"radeon-pro-v520", "mi300x", "inferentia2", "trainium1", "qualcomm-ai100", "gaudi-hl-205"}) {
    EXPECT_TRUE(is_other_accelerator(model)) << model;
  }
  for (const char* model : {"h100", "a100", "l4", "rtx-pro-6000", "v100", "t4", "m60", "b200"}) {
    EXPECT_FALSE(is_other_accelerator(model)) << model;
  }
}

TEST(OfferFiles, RefusalsSayWhereWhatWasWantedAndFound) {
  const auto with = [](std::string from, std::string to) {
    std::string row = kRow;
    row.replace(row.find(from), from.size(), to);
    return refusal(kHeader + row);
  };
  EXPECT_EQ(
      with("20000000", "20.5"),
      "o.csv:2:56: micro_usd_per_hour: wanted a whole number of micro-dollars up to 1000000000000, or nothing, found "
      "\"20.5\"");
  EXPECT_THAT(with("20000000", "-1"), ::testing::HasSubstr("micro_usd_per_hour: wanted a whole number"));
  EXPECT_THAT(with("on-demand", "rented"),
              ::testing::HasSubstr("o.csv:2:16: purchase: wanted on-demand, spot or committed, found \"rented\""));
  EXPECT_THAT(with("2026-01-01", "2026-02-30"), ::testing::HasSubstr("valid_from: wanted a date such as 2026-07-20"));
  EXPECT_THAT(with("01-01,,", "01-01,2026-01-01,"), ::testing::HasSubstr("valid_to: wanted a date after valid_from"));
  EXPECT_THAT(with("us,", ","), ::testing::HasSubstr("o.csv:2:1: provider: wanted"));
  EXPECT_THAT(with(",7,", ",8,"), ::testing::HasSubstr("mig_instances_max: wanted"));
  EXPECT_THAT(refusal(kHeader), ::testing::HasSubstr("wanted at least one offer, found none"));
  EXPECT_THAT(refusal("a,b\n1,2\n"), ::testing::HasSubstr("provider"));
  EXPECT_THAT(refusal(""), ::testing::Not(::testing::IsEmpty()));
}

TEST(OfferFiles, TwoRowsForOneThingAndDateAreAnError) {
  EXPECT_EQ(refusal(kHeader + kRow + kRow),
            "o.csv:3: wanted one row for us rack-1 hall (on-demand) on 2026-01-01, found another at o.csv:2");
  std::string later = kRow;
  later.replace(later.find("2026-01-01"), 10, "2026-03-01");
  EXPECT_THAT(refusal(kHeader + later + kRow), ::testing::HasSubstr("on 2026-03-01, found another at"));
}

}  // namespace
}  // namespace berth::pricing
