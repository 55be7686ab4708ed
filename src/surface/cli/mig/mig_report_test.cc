#include "surface/cli/mig/mig_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace berth::cli {
namespace {

using nlohmann::ordered_json;
using ::testing::HasSubstr;

constexpr auto kJson = OutputFormat::kJson;

ordered_json parsed(const Result<std::string>& text) {
  EXPECT_TRUE(text.has_value()) << text.error().message;
  return text ? ordered_json::parse(*text) : ordered_json();
}

std::string error_of(const Result<std::string>& text) { return text ? "no error" : text.error().message; }

MigRulesOptions before_r510() {
  MigRulesOptions rules;
  rules.is_before_r510 = true;
  return rules;
}

MigRulesOptions all_profiles() {
  MigRulesOptions rules;
  rules.has_all_profiles = true;
  return rules;
}

MigRulesOptions only(std::vector<std::string> profiles) {
  MigRulesOptions rules;
  rules.profiles = std::move(profiles);
  return rules;
}

std::vector<std::string> keys_of(const ordered_json& json) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  return keys;
}

void expect_first_keys(const ordered_json& json, const std::vector<std::string>& expected) {
  std::vector<std::string> keys = keys_of(json);
  ASSERT_GE(keys.size(), expected.size());
  keys.resize(expected.size());
  EXPECT_EQ(keys, expected);
}

TEST(MigProfilesReport, JsonHasTheAgreedKeysInOrder) {
  const ordered_json json = parsed(mig_profiles_report({.gpu = "H100-80GB", .format = kJson}));
  expect_first_keys(json, {"gpu", "units", "profiles"});
  EXPECT_EQ(json["gpu"], "H100-80GB-SXM5");
  EXPECT_EQ(json["units"], 8);
  EXPECT_EQ(json["profiles"].size(), 7U);
  const ordered_json& first = json["profiles"][0];
  expect_first_keys(first, {"profile", "length", "starts", "max", "sms", "memory_mib", "unverified"});
  EXPECT_EQ(first["profile"], "1g.10gb");
  EXPECT_EQ(first["starts"], ordered_json({0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(first["max"], 7);
  EXPECT_EQ(first["sms"], 16);
  EXPECT_EQ(first["memory_mib"], 9984);
  EXPECT_EQ(first["unverified"], ordered_json::array());
}

TEST(MigProfilesReport, WhatIsNotKnownIsNullAndMarked) {
  const ordered_json json = parsed(mig_profiles_report({.gpu = "GB200", .format = kJson}));
  const ordered_json& three = json["profiles"][4];
  EXPECT_EQ(three["profile"], "3g.93gb");
  EXPECT_TRUE(three["sms"].is_null());
  EXPECT_TRUE(three["memory_mib"].is_null());
  EXPECT_EQ(three["sms_estimate"], 54);
  EXPECT_EQ(three["unverified"],
            ordered_json({"starts", "length", "sms", "memory_mib", "copy_engines", "decoders", "jpeg"}));
  EXPECT_EQ(json["full"]["unverified"], ordered_json({"sms"}));
  const std::string table = *mig_profiles_report({.gpu = "GB200"});
  EXPECT_THAT(table, HasSubstr("152? SMs"));
  EXPECT_THAT(table, HasSubstr("3g.93gb        4?            0,4?    2   ~54?           ?  1c x3? 2c x1?\n"));
  EXPECT_THAT(table, HasSubstr("? marks what no primary source confirms"));
}

TEST(MigProfilesReport, SaysThatAGpuCannotBeCut) {
  const ordered_json json = parsed(mig_profiles_report({.gpu = "T4", .format = kJson}));
  EXPECT_EQ(json["units"], 0);
  EXPECT_EQ(json["profiles"], ordered_json::array());
  EXPECT_EQ(json["full"]["sms"], 40);
  EXPECT_THAT(*mig_profiles_report({.gpu = "T4"}), HasSubstr("does not support MIG: its only profile is full"));
}

TEST(MigProfilesReport, NamesTheOption) {
  EXPECT_EQ(error_of(mig_profiles_report({.gpu = "A100"})),
            "--gpu: wanted one GPU, found \"A100\", which begins the names of A100-40GB, A100-80GB");
}

TEST(MigLayoutsReport, JsonHasTheAgreedKeysInOrder) {
  const ordered_json json = parsed(mig_layouts_report({.gpu = "A30", .format = kJson}));
  expect_first_keys(json, {"gpu", "units", "profiles", "states", "maximal"});
  EXPECT_EQ(json["units"], 4);
  EXPECT_EQ(json["profiles"], ordered_json({"1g.6gb", "2g.12gb", "4g.24gb"}));
  EXPECT_EQ(json["states"], 26);
  EXPECT_EQ(json["maximal"].dump(),
            R"([[{"profile":"4g.24gb","start":0}],)"
            R"([{"profile":"2g.12gb","start":0},{"profile":"2g.12gb","start":2}],)"
            R"([{"profile":"2g.12gb","start":0},{"profile":"1g.6gb","start":2},{"profile":"1g.6gb","start":3}],)"
            R"([{"profile":"1g.6gb","start":0},{"profile":"1g.6gb","start":1},{"profile":"2g.12gb","start":2}],)"
            R"([{"profile":"1g.6gb","start":0},{"profile":"1g.6gb","start":1},)"
            R"({"profile":"1g.6gb","start":2},{"profile":"1g.6gb","start":3}]])");
}

TEST(MigLayoutsReport, CountsByRules) {
  const auto counts = [](const MigRulesOptions& rules) {
    const ordered_json json = parsed(mig_layouts_report({.gpu = "A100-40GB", .rules = rules, .format = kJson}));
    return std::pair(json["states"].get<int>(), json["maximal"].size());
  };
  EXPECT_EQ(counts({}), std::pair(298, std::size_t{19}));
  EXPECT_EQ(counts(before_r510()), std::pair(297, std::size_t{18}));
  EXPECT_EQ(counts(all_profiles()), std::pair(2319, std::size_t{239}));
  const std::vector<std::string> with_double = {"1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"};
  EXPECT_EQ(counts(only(with_double)), std::pair(723, std::size_t{78}));
}

TEST(MigLayoutsReport, RefusesRulesThatDoNotApply) {
  EXPECT_EQ(error_of(mig_layouts_report({.gpu = "A30", .rules = only({"full"})})),
            "--profiles: wanted profiles of A30-24GB (see berth mig profiles), found \"full\"");
  EXPECT_THAT(error_of(mig_layouts_report({.gpu = "H200", .rules = before_r510()})),
              HasSubstr("--before-r510: wanted an A100, found H200-141GB"));
}

TEST(MigLayoutsReport, TableDrawsEachLayout) {
  EXPECT_EQ(*mig_layouts_report({.gpu = "A30"}),
            "A30-24GB: 26 legal states (10 multisets, 16 sets of busy units), 5 maximal layouts (4 multisets)\n"
            "\n"
            "#  units  SMs  layout\n"
            "1   4---   56  4g.24gb@0\n"
            "2   2-2-   56  2g.12gb@0,2g.12gb@2\n"
            "3   2-11   56  2g.12gb@0,1g.6gb@2,1g.6gb@3\n"
            "4   112-   56  1g.6gb@0,1g.6gb@1,2g.12gb@2\n"
            "5   1111   56  1g.6gb@0,1g.6gb@1,1g.6gb@2,1g.6gb@3\n"
            "\n"
            "units: compute slices where an instance begins, - where it continues, . where nothing can be placed\n");
  EXPECT_THAT(*mig_layouts_report({.gpu = "H200"}), HasSubstr("places not confirmed: 1g.18gb, 2g.35gb"));
  EXPECT_THAT(*mig_layouts_report({.gpu = "T4"}), HasSubstr("does not support MIG"));
}

TEST(MigFitsReport, JsonHasTheAgreedKeysInOrder) {
  const ordered_json json =
      parsed(mig_fits_report({.gpu = "A100-80GB", .state = "3g.40gb@4,1g.10gb@0", .format = kJson}));
  expect_first_keys(json, {"gpu", "state", "fits"});
  EXPECT_EQ(json["state"].dump(), R"([{"profile":"1g.10gb","start":0},{"profile":"3g.40gb","start":4}])");
  EXPECT_EQ(json["fits"].dump(), R"([{"profile":"1g.10gb","starts":[1,2,3]},{"profile":"2g.20gb","starts":[2]}])");
  EXPECT_EQ(json["free_units"], 3);
}

TEST(MigFitsReport, ReportsWhatFitsOrThatNothingDoes) {
  const MigFitsOptions all = {.gpu = "RTX", .state = "1g.24gb+me@0,2g.48gb@6", .rules = all_profiles()};
  EXPECT_EQ(*mig_fits_report(all),
            "RTX-PRO-6000-Blackwell-96GB, 1g.24gb+me@0,2g.48gb@6: units 1--...2-----, 3 free, fragmentation 0.75\n"
            "\n"
            "profile      starts\n"
            "1g.24gb      3\n"
            "1g.24gb+gfx  3\n"
            "1g.24gb-me   3\n");
  EXPECT_THAT(*mig_fits_report({.gpu = "A30", .state = "4g.24gb@0"}), HasSubstr("Nothing fits."));
  EXPECT_THAT(*mig_fits_report({.gpu = "A30", .state = "full@0"}), HasSubstr("units full, 0 free"));
  EXPECT_THAT(*mig_fits_report({.gpu = "L40S", .state = ""}), HasSubstr("does not support MIG"));
}

TEST(MigFitsReport, RefusesIllegalStates) {
  EXPECT_EQ(error_of(mig_fits_report({.gpu = "A100-80GB", .state = "3g.40gb@4,1g.10gb@6"})),
            "--state: 3g.40gb@4 (units 4 to 7) and 1g.10gb@6 (unit 6) overlap");
  EXPECT_EQ(error_of(mig_fits_report({.gpu = "A100-80GB", .state = "1g.10gb@7"})),
            "--state, column 9: 1g.10gb can start at 0, 1, 2, 3, 4, 5, 6 on A100-80GB, found 7");
  EXPECT_EQ(error_of(mig_fits_report({.gpu = "A100-40GB", .state = "4g.20gb@0,3g.20gb@4", .rules = before_r510()})),
            "--state: 4g.20gb@0 and 3g.20gb@4 clash: drivers before R510 refuse 4g next to 3g");
}

}  // namespace
}  // namespace berth::cli
