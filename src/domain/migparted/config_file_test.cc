#include "domain/migparted/config_file.h"

#include <gtest/gtest.h>

#include "domain/mig/catalogue.h"

namespace berth::migparted {
namespace {

constexpr const char* kCustom = R"(version: v1
mig-configs:
  all-disabled:
    - devices: all
      mig-enabled: false
  all-enabled:
    - devices: all
      mig-enabled: true
      mig-devices: {}
  custom:
    - device-filter: ["0x20B210DE", "0x20B510DE"]
      devices: [0,1,2,3]
      mig-enabled: true
      mig-devices:
        "1g.10gb+me": 1
        "2g.20gb": 0
        "3g.40gb": 1
    - device-filter: "0x20B710DE"
      devices: [4]
      mig-enabled: false
)";

std::string error_of(std::string_view text) {
  const auto configs = parse_config_file(text, "mig.yaml");
  return configs ? "no error" : configs.error().message;
}

/// A file with one entry, indented by six blanks; the first line of `entry` is line 4.
std::string with_entry(std::string_view entry) {
  return "version: v1\nmig-configs:\n  one:\n    - " + std::string(entry) + "\n";
}

TEST(ParseConfigFile, ReadsEveryKind) {
  const auto configs = parse_config_file(kCustom, "mig.yaml");
  ASSERT_TRUE(configs.has_value()) << configs.error().message;
  const std::vector<Config> expected = {
      {"all-disabled", {ConfigEntry{}}},
      {"all-enabled", {{{}, std::nullopt, true, {}}}},
      {"custom",
       {{{"0x20B210DE", "0x20B510DE"}, std::vector<int>{0, 1, 2, 3}, true, {{"1g.10gb+me", 1}, {"3g.40gb", 1}}},
        {{"0x20B710DE"}, std::vector<int>{4}, false, {}}}},
  };
  EXPECT_EQ(*configs, expected);
}

TEST(ParseConfigFile, RefusesFilesThatAreNotOfVersion1) {
  EXPECT_EQ(error_of("mig-configs: {a: [{devices: all, mig-enabled: false}]}\n"),
            "mig.yaml:1:1: version: wanted v1, found nothing");
  EXPECT_EQ(error_of("version: v2\nmig-configs: {}\n"), "mig.yaml:1:10: version: wanted v1, found \"v2\"");
  EXPECT_EQ(error_of("version: v1\n"),
            "mig.yaml:1:1: mig-configs: wanted a map with at least one label, found nothing");
  EXPECT_EQ(error_of("version: v1\nmig-configs: {}\n"),
            "mig.yaml:2:14: mig-configs: wanted a map with at least one label, found a map");
  EXPECT_EQ(error_of("version: v1\nmig-configs: {a: []}\n"),
            "mig.yaml:2:18: mig-configs.a: wanted a list of at least one entry, found an empty list");
  EXPECT_NE(error_of("version: v1\nmig-config: {}\n").find("mig.yaml:2:1: unknown key \"mig-config\""),
            std::string::npos);
}

TEST(ParseConfigFile, NamesThePlaceAndTheKeyPath) {
  const struct {
    const char* entry;
    const char* message;
  } cases[] = {
      {"mig-enabled: true",
       "mig.yaml:4:7: mig-configs.one[0].devices: wanted all, or a list of GPU indices, found nothing"},
      {"devices: all", "mig.yaml:4:7: mig-configs.one[0].mig-enabled: wanted false or true, found nothing"},
      {"devices: some\n      mig-enabled: true",
       "mig.yaml:4:16: mig-configs.one[0].devices: wanted all, or a list of GPU indices, found \"some\""},
      {"devices: [0, x]\n      mig-enabled: true",
       "mig.yaml:4:20: mig-configs.one[0].devices[1]: wanted a whole number from 0 to 1023, found \"x\""},
      {"devices: all\n      mig-enabled: yes",
       "mig.yaml:5:20: mig-configs.one[0].mig-enabled: wanted false or true, found \"yes\""},
      {"devices: all\n      mig-enabled: true",
       "mig.yaml:4:7: mig-configs.one[0].mig-devices: wanted a map from profiles to counts, found nothing"},
      {"devices: all\n      mig-enabled: false\n      mig-devices: {1g.10gb: 7}",
       "mig.yaml:6:20: mig-configs.one[0].mig-devices: wanted no instances, as mig-enabled is false"},
      {"devices: all\n      mig-enabled: true\n      mig-devices: {1g.10gb: -1}",
       "mig.yaml:6:30: mig-configs.one[0].mig-devices.1g.10gb: wanted a whole number from 0 to 1000, found \"-1\""},
      {"devices: all\n      mig-enabled: true\n      mig-devices: {1g.10gb: 0}",
       "mig.yaml:6:20: mig-configs.one[0].mig-devices: wanted at least one instance, found counts of 0 only"},
      {"devices: all\n      mig-enabled: true\n      mig-devices: {big: 1}",
       "mig.yaml:6:26: mig-configs.one[0].mig-devices.big: wanted a profile such as 1g.10gb, found \"big\""},
      {"devices: all\n      device-filter: [zz]\n      mig-enabled: false",
       "mig.yaml:5:23: mig-configs.one[0].device-filter[0]: wanted a PCI id such as 0x20B210DE, found \"zz\""},
  };
  for (const auto& [entry, message] : cases) EXPECT_EQ(error_of(with_entry(entry)), message);
  EXPECT_NE(error_of(with_entry("devices: all\n      mig-enabled: false\n      hooks: x")).find("mig.yaml:6:7: "),
            std::string::npos);
}

TEST(ParseConfigFile, BoundsTheNumberOfEntries) {
  std::string text = "version: v1\nmig-configs:\n  many:\n";
  for (std::size_t i = 0; i <= kEntryCountMax; ++i) text += "    - {devices: all, mig-enabled: false}\n";
  EXPECT_EQ(error_of(text), "mig.yaml:4:5: mig-configs.many: wanted at most 1000 entries in the file");
}

TEST(WriteConfigFile, ReadsBack) {
  const auto configs = parse_config_file(kCustom, "mig.yaml");
  const auto again = parse_config_file(write_config_file(*configs), "again.yaml");
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(*again, *configs);
}

TEST(WriteConfigFile, QuotesLabelsThatAreNotPlain) {
  for (const char* label : {"null", "123", "a: b", "\"x\\\n", "- x", "all-\x7F", "~", "mit Äpfeln"}) {
    const std::vector<Config> configs = {{label, {ConfigEntry{}}}};
    const auto again = parse_config_file(write_config_file(configs), "again.yaml");
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_EQ(*again, configs);
  }
}

TEST(WriteConfigFile, LooksLikeMigParted) {
  const GpuModel a100 = *mig::find_gpu_model("A100-80GB");
  const auto state = mig::parse_state(a100, "1g.10gb+me@0,1g.10gb@1,3g.40gb@4");
  const std::vector<Config> configs = {{"current", {entry_of(a100, mig::multiset_of(*state))}}};
  EXPECT_EQ(write_config_file(configs), R"(version: v1
mig-configs:
  current:
    - devices: all
      mig-enabled: true
      mig-devices:
        "1g.10gb": 1
        "1g.10gb+me": 1
        "3g.40gb": 1
)");
}

TEST(EntryOf, AWholeGpuMeansThatMigIsOff) {
  const GpuModel a100 = *mig::find_gpu_model("A100-80GB");
  EXPECT_EQ(entry_of(a100, mig::multiset_of({{0, ProfileId::full()}})), ConfigEntry{});
  EXPECT_TRUE(entry_of(a100, {}).is_mig_enabled);
}

// The labels and counts of NVIDIA's own default file.
TEST(GeneratedConfigs, AreThoseOfMigParted) {
  const auto find = [](const char* gpu, std::string_view label) {
    for (const Config& config : generated_configs(*mig::find_gpu_model(gpu))) {
      if (config.label == label) return config.entries.front().instances;
    }
    return std::vector<InstanceCount>{{"absent", 1}};
  };
  using Counts = std::vector<InstanceCount>;
  EXPECT_EQ(find("A100-80GB", "all-disabled"), Counts{});
  EXPECT_EQ(find("A100-40GB", "all-1g.10gb"), (Counts{{"1g.10gb", 4}}));
  EXPECT_EQ(find("A100-80GB", "all-1g.10gb"), (Counts{{"1g.10gb", 7}}));
  EXPECT_EQ(find("A100-80GB", "all-1g.10gb.me"), (Counts{{"1g.10gb+me", 1}}));
  EXPECT_EQ(find("RTX", "all-2g.48gb.me.all"), (Counts{{"2g.48gb+me.all", 1}}));
  EXPECT_EQ(find("RTX", "all-1g.24gb-me"), (Counts{{"1g.24gb-me", 4}}));
  EXPECT_EQ(find("H200", "all-balanced"), (Counts{{"1g.18gb", 2}, {"2g.35gb", 1}, {"3g.71gb", 1}}));
  EXPECT_EQ(find("A30", "all-balanced"), (Counts{{"1g.6gb", 2}, {"2g.12gb", 1}}));
}

}  // namespace
}  // namespace berth::migparted
