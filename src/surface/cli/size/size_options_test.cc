#include "surface/cli/size/size_options.h"
#include "engine/policy/registry.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace berth::cli {
namespace {

SizeWords words(std::string attainment = "0.99") {
  SizeWords typed;
  typed.scenario = "s.yaml";
  typed.attainment = std::move(attainment);
  return typed;
}

std::string refusal(const SizeWords& typed) {
  const auto request = check_size_options(typed);
  return request ? "accepted" : request.error().message;
}

TEST(SizeOptions, Defaults) {
  const auto request = check_size_options(words());
  ASSERT_TRUE(request);
  EXPECT_EQ(request->policies, (std::vector<std::string>{"shared", "whole", "static-even", "berth"}));
  EXPECT_EQ(request->options.attainment, Decimal(99, 100));
  EXPECT_EQ(request->options.gpus_max, 64);
  EXPECT_EQ(request->options.seeds, std::vector<std::uint64_t>{1});
  EXPECT_EQ(request->format, OutputFormat::kTable);
  EXPECT_EQ(request->report_dir, std::nullopt);
}

TEST(SizeOptions, AttainmentIsAShare) {
  EXPECT_EQ(check_size_options(words("1"))->options.attainment, Decimal(1));
  EXPECT_EQ(check_size_options(words("1e-9"))->options.attainment, Decimal(1, 1'000'000'000));
  for (const char* wrong : {"0", "-0.5", "1.0000001", "99", "99%", "", "nan", "0.9 "}) {
    EXPECT_EQ(refusal(words(wrong)),
              std::string("--attainment: wanted a share above 0, at most 1, found \"") + wrong + "\"");
  }
}

TEST(SizeOptions, TooManyDigitsAreCalledThat) {
  for (const std::string& wrong : {std::string("1e-40"), "0." + std::string(60, '9'), std::string("1e-400")}) {
    EXPECT_TRUE(refusal(words(wrong)).starts_with("--attainment: wanted a share with fewer digits")) << wrong;
  }
}

TEST(SizeOptions, PoliciesAreThoseThatCanBeSized) {
  SizeWords typed = words();
  typed.policies = "paris,shared";
  EXPECT_EQ(check_size_options(typed)->policies, (std::vector<std::string>{"paris", "shared"}));
  EXPECT_EQ(check_size_options(typed)->options.seeds, (std::vector<std::uint64_t>{1, 2, 3}));
  typed.policies = "all";
  EXPECT_EQ(check_size_options(typed)->policies, policy::sizable_names());
  EXPECT_EQ(std::ranges::count(policy::sizable_names(), "fixed"), 0);
  typed.policies = "shared,fixed";
  EXPECT_EQ(refusal(typed),
            "--policies: fixed cannot be sized: its layout is written for the number of GPUs in the file");
  typed.policies = "shared,shared";
  EXPECT_EQ(refusal(typed), "--policies: wanted each policy once, found \"shared\" twice");
  typed.policies = "";
  EXPECT_EQ(refusal(typed),
            fmt::format("--policies: wanted some of {}, found \"\"", fmt::join(policy::sizable_names(), ",")));
}

TEST(SizeOptions, CountsHaveLimits) {
  SizeWords typed = words();
  for (const char* wrong : {"0", "100001", "-1", "1.5", "", "99999999999999999999"}) {
    typed.gpus_max = wrong;
    EXPECT_EQ(refusal(typed),
              std::string("--max-gpus: wanted a whole number from 1 to 100000, found \"") + wrong + "\"");
  }
  typed = words();
  typed.seed_count = "101";
  EXPECT_EQ(refusal(typed), "--seeds: wanted a whole number from 1 to 100, found \"101\"");
  typed.seed_count = "1";
  EXPECT_EQ(check_size_options(typed)->options.seeds, (std::vector<std::uint64_t>{1}));
}

TEST(SizeOptions, IdeasAndParameters) {
  SizeWords typed = words();
  EXPECT_FALSE(check_size_options(typed)->has_ideas);
  typed.has_ideas = true;
  typed.parameters = {"berth.recuts=0", "ekya.period_seconds=77"};
  const auto request = check_size_options(typed);
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->has_ideas);
  EXPECT_EQ(request->settings.berth.recuts, 0);
  EXPECT_EQ(request->settings.ekya.period_seconds, 77);
  typed.parameters = {"berth.recuts=-1"};
  EXPECT_TRUE(refusal(typed).starts_with("--set: berth.recuts: wanted a whole number")) << refusal(typed);
}

TEST(SizeOptions, FormatsAndPaths) {
  SizeWords typed = words();
  typed.format = "xml";
  EXPECT_EQ(refusal(typed), "--format: wanted table or json, found \"xml\"");
  typed = words();
  typed.report = "";
  EXPECT_EQ(refusal(typed), "--report: wanted a folder, found an empty path");
  typed = words();
  typed.scenario = "";
  EXPECT_EQ(refusal(typed), "SCENARIO: wanted a path, found an empty one");
}

}  // namespace
}  // namespace berth::cli
