#include "surface/cli/pack/pack_options.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace berth::cli {
namespace {

PackArguments least() {
  PackArguments arguments;
  arguments.gpu = "A30";
  arguments.profiles = "p";
  arguments.profile_format = "csv";
  arguments.demand = "d.csv";
  return arguments;
}

TEST(PackOptions, DefaultsAreThoseOfTheRules) {
  const auto request = check_pack_options(least());
  ASSERT_TRUE(request.has_value()) << request.error().message;
  EXPECT_EQ(request->rules, PackingRules{});
  EXPECT_EQ(request->search.nodes_max, packing::PackOptions{}.nodes_max);
  EXPECT_EQ(request->profile_format, scenario::ProfileFormat::kCsv);
  EXPECT_EQ(request->format, OutputFormat::kTable);
  EXPECT_FALSE(request->is_verifying || request->report_dir || request->check_path || request->fleet_path);
}

TEST(PackOptions, AllAreTaken) {
  PackArguments arguments = least();
  arguments.gpu.reset();
  arguments.fleet = "f.csv";
  arguments.processes_max = "5";
  arguments.slo_factor = "0.5";
  arguments.headroom = "1.25";
  arguments.no_share = "tenant";
  arguments.nodes = "1000";
  arguments.is_verifying = true;
  arguments.seed = "9";
  arguments.format = "json";
  arguments.report = "out";
  const auto request = check_pack_options(arguments);
  ASSERT_TRUE(request.has_value()) << request.error().message;
  const PackingRules rules = {
      .slo_factor = Decimal(1, 2), .headroom = Decimal(5, 4), .processes_max = 5, .keeps_tenants_apart = true};
  EXPECT_EQ(request->rules, rules);
  EXPECT_EQ(request->search.nodes_max, 1000);
  EXPECT_EQ(request->seed, 9U);
  EXPECT_EQ(request->format, OutputFormat::kJson);
  EXPECT_EQ(request->report_dir, "out");
}

struct BadOption {
  std::function<void(PackArguments&)> change;
  std::string message;
};

TEST(PackOptions, WrongOnesAreNamed) {
  const std::vector<BadOption> cases = {
      {[](auto& a) { a.gpu.reset(); }, "--gpu or --fleet: wanted one of them, found neither"},
      {[](auto& a) { a.fleet = "f"; }, "--gpu or --fleet: wanted one of them, found both"},
      {[](auto& a) { a.demand = ""; }, "--demand: wanted a file, found an empty path"},
      {[](auto& a) { a.profiles = ""; }, "--profiles: wanted a folder or file, found an empty path"},
      {[](auto& a) { a.profile_format = "miso"; }, "--profile-format: wanted parvagpu or csv, found \"miso\""},
      {[](auto& a) { a.processes_max = "0"; }, "--max-processes: wanted a whole number from 1 to 1024, found \"0\""},
      {[](auto& a) { a.slo_factor = "0"; }, "--slo-factor: wanted a number above 0, at most 1000, found \"0\""},
      {[](auto& a) { a.headroom = "-1"; }, "--headroom: wanted a number above 0, at most 1000, found \"-1\""},
      {[](auto& a) { a.headroom = "nan"; }, "--headroom: wanted a number above 0, at most 1000, found \"nan\""},
      {[](auto& a) { a.no_share = "model"; }, "--no-share: wanted tenant, found \"model\""},
      {[](auto& a) { a.nodes = "0"; }, "--nodes: wanted a whole number from 1 to 1000000000000000, found \"0\""},
      {[](auto& a) { a.seed = "x"; }, "--seed: wanted a whole number from 0 to 9223372036854775805, found \"x\""},
      {[](auto& a) { a.format = "yaml"; }, "--format: wanted table or json, found \"yaml\""},
      {[](auto& a) { a.report = ""; }, "--report: wanted a folder, found an empty path"},
      {[](auto& a) { a.check = ""; }, "--check: wanted a file, found an empty path"},
      {[](auto& a) {
         a.check = "p";
         a.is_verifying = true;
       },
       "--check: cannot be combined with --verify or --cure, as it neither searches nor replays"},
      {[](auto& a) {
         a.check = "p";
         a.report = "out";
       },
       "--check: cannot be combined with --report, as it draws no page"},
  };
  for (const BadOption& bad : cases) {
    PackArguments arguments = least();
    bad.change(arguments);
    const auto request = check_pack_options(arguments);
    ASSERT_FALSE(request.has_value()) << bad.message;
    EXPECT_EQ(request.error().message, bad.message);
    EXPECT_EQ(request.error().code, ErrorCode::kInvalidInput);
  }
}

}  // namespace
}  // namespace berth::cli
