#include "domain/migparted/import.h"

#include <gtest/gtest.h>

#include "domain/mig/catalogue.h"

namespace berth::migparted {
namespace {

/// "label: GPU state; GPU state | ..." for all entries, or the error.
std::string imported(std::string_view text, const ImportOptions& options) {
  const auto configs = import_config_file(text, "mig.yaml", options);
  if (!configs) return configs.error().message;
  std::string shown;
  for (const PlacedConfig& config : *configs) {
    shown += config.label + ":";
    for (const PlacedEntry& entry : config.entries) {
      if (entry.is_for_other_gpus) shown += " other";
      for (const PlacedLayout& layout : entry.layouts) {
        shown += " " + layout.gpu.name + " " + to_string(layout.gpu, layout.state);
      }
      shown += " |";
    }
  }
  return shown;
}

ImportOptions for_gpu(std::string_view name) {
  return {.gpu = *mig::find_gpu_model(name), .label = "", .skips_other_gpus = false, .skip_hint = ""};
}

std::string with_counts(std::string_view counts) {
  return "version: v1\nmig-configs:\n  one:\n    - {devices: all, mig-enabled: true, mig-devices: {" +
         std::string(counts) + "}}\n";
}

TEST(ImportConfigFile, PlacesTheInstances) {
  EXPECT_EQ(imported(with_counts("1g.10gb: 2, 2g.20gb: 1, 3g.40gb: 1"), for_gpu("A100-80GB")),
            "one: A100-80GB 1g.10gb@0,1g.10gb@1,2g.20gb@2,3g.40gb@4 |");
  EXPECT_EQ(imported(with_counts("3g.40gb: 1"), for_gpu("A100-80GB")), "one: A100-80GB 3g.40gb@4 |");
  EXPECT_EQ(imported(with_counts(""), for_gpu("A100-80GB")), "one: A100-80GB  |");
  EXPECT_EQ(imported(with_counts(""), {}), "one: |");
}

TEST(ImportConfigFile, WithoutAGpuTakesEveryOneThatFits) {
  EXPECT_EQ(imported(with_counts("1g.10gb: 7"), {}),
            "one: A100-80GB 1g.10gb@0,1g.10gb@1,1g.10gb@2,1g.10gb@3,1g.10gb@4,1g.10gb@5,1g.10gb@6"
            " H100-80GB-SXM5 1g.10gb@0,1g.10gb@1,1g.10gb@2,1g.10gb@3,1g.10gb@4,1g.10gb@5,1g.10gb@6"
            " H100-80GB-PCIe 1g.10gb@0,1g.10gb@1,1g.10gb@2,1g.10gb@3,1g.10gb@4,1g.10gb@5,1g.10gb@6 |");
}

TEST(ImportConfigFile, NamesWhatTheGpuDoesNotHave) {
  EXPECT_EQ(imported(with_counts("1g.5gb: 7"), for_gpu("A100-80GB")),
            "mig.yaml:4:63: mig-configs.one[0].mig-devices.1g.5gb: wanted a profile of A100-80GB, found \"1g.5gb\" of "
            "A100-40GB");
  EXPECT_EQ(
      imported(with_counts("1g.11gb: 7"), {}),
      "mig.yaml:4:64: mig-configs.one[0].mig-devices.1g.11gb: wanted a profile of a known GPU, found \"1g.11gb\"");
  EXPECT_EQ(imported(with_counts("1g.34gb: 7"), {}),
            "mig.yaml:4:64: mig-configs.one[0].mig-devices.1g.34gb: wanted a GPU whose placements are known, found "
            "\"1g.34gb\" of B300");
  EXPECT_EQ(
      imported(with_counts("1c.3g.40gb: 3"), for_gpu("A100-80GB")),
      "mig.yaml:4:67: mig-configs.one[0].mig-devices.1c.3g.40gb: wanted whole GPU instances, found \"1c.3g.40gb\", "
      "which is a compute instance");
  EXPECT_EQ(
      imported(with_counts("1g.5gb: 1, 3g.40gb: 1"), {}),
      "mig.yaml:4:54: mig-configs.one[0].mig-devices: wanted the profiles of one GPU, found profiles that no known "
      "GPU has together");
}

TEST(ImportConfigFile, RefusesWhatHasNoPlacement) {
  EXPECT_EQ(imported(with_counts("1g.20gb: 4, 1g.10gb: 3"), for_gpu("H100-80GB")),
            "mig.yaml:4:54: mig-configs.one[0].mig-devices: wanted instances that can exist together on a "
            "H100-80GB-SXM5, found a set that has no placement");
  EXPECT_EQ(imported(with_counts("1g.10gb: 8"), {}),
            "mig.yaml:4:54: mig-configs.one[0].mig-devices: wanted instances that can exist together on a known GPU, "
            "found a set that has no placement");
}

constexpr const char* kMixed = R"(version: v1
mig-configs:
  all-1g.5gb:
    - {devices: all, mig-enabled: true, mig-devices: {1g.5gb: 7}}
  all-1g.10gb:
    - {device-filter: ["0x233010DE", "0x20B210DE"], devices: all, mig-enabled: true, mig-devices: {1g.10gb: 7}}
    - {device-filter: "0x20B010DE", devices: all, mig-enabled: true, mig-devices: {1g.10gb: 4}}
)";

TEST(ImportConfigFile, ChoosesByLabelAndDeviceFilter) {
  ImportOptions options = for_gpu("A100-40GB");
  options.label = "all-1g.10gb";
  EXPECT_EQ(imported(kMixed, options), "all-1g.10gb: other | A100-40GB 1g.10gb@0,1g.10gb@2,1g.10gb@4,1g.10gb@6 |");
  options.label = "all-2g";
  EXPECT_EQ(imported(kMixed, options), "mig.yaml: wanted the label \"all-2g\", found all-1g.5gb, all-1g.10gb");
}

TEST(ImportConfigFile, SkipsOtherGpusWhenAsked) {
  ImportOptions options = for_gpu("A30");
  EXPECT_NE(imported(kMixed, options).find("wanted a profile of A30-24GB"), std::string::npos);
  options.skips_other_gpus = true;
  EXPECT_EQ(imported(kMixed, options), "all-1g.5gb: other |all-1g.10gb: other | other |");
  EXPECT_EQ(imported(with_counts("3g.95gb: 2"), options), "one: other |");  // a name that some GB200 have
  EXPECT_NE(imported(with_counts("1c.2g.12gb: 2"), options).find("which is a compute instance"), std::string::npos);
}

std::string with_filter(std::string_view filter, std::string_view counts) {
  return "version: v1\nmig-configs:\n  a:\n    - {device-filter: " + std::string(filter) +
         ", devices: all, mig-enabled: true, mig-devices: {" + std::string(counts) + "}}\n";
}

TEST(ImportConfigFile, RefusesAFilterOfUnknownGpus) {
  EXPECT_EQ(imported(with_filter("0x31C210DE", "1g.35gb: 7"), {}),
            "mig.yaml:4:81: mig-configs.a[0].mig-devices: the device filter names no GPU whose placements are known, "
            "only GB300");
  EXPECT_EQ(imported(with_filter("0x999910DE", "1g.35gb: 7"), {}),
            "mig.yaml:4:81: mig-configs.a[0].mig-devices: the device filter names no GPU whose placements are known");
  EXPECT_EQ(imported(with_filter("0x31C210DE", "1g.35gb: 7"),
                     {.gpu = std::nullopt, .label = "", .skips_other_gpus = true, .skip_hint = ""}),
            "a: other |");
}

constexpr const char* kSevenOnGb200 =
    "GB200-186GB 1g.23gb@0,1g.23gb@1,1g.23gb@2,1g.23gb@3,1g.23gb@4,1g.23gb@5,1g.23gb@6 |";

// NVIDIA's default file has these entries.
TEST(ImportConfigFile, TakesTheNamesOfOtherDrivers) {
  const std::string seven = with_filter("[\"0x294110DE\"]", "1g.24gb: 7");
  ImportOptions skipping = for_gpu("GB200");
  skipping.skips_other_gpus = true;
  EXPECT_EQ(imported(seven, {}), "a: " + std::string(kSevenOnGb200));
  EXPECT_EQ(imported(seven, for_gpu("GB200")), "a: " + std::string(kSevenOnGb200));
  EXPECT_EQ(imported(seven, skipping), "a: " + std::string(kSevenOnGb200));
  EXPECT_EQ(imported(with_filter("0x294110DE", "1g.24gb: 2, 2g.47gb: 1, 3g.95gb: 1"), {}),
            "a: GB200-186GB 1g.23gb@0,1g.23gb@1,2g.47gb@2,3g.93gb@4 |");
  // Both names of one profile.
  EXPECT_EQ(imported(with_filter("0x294110DE", "1g.24gb: 3, 1g.23gb: 4"), {}), "a: " + std::string(kSevenOnGb200));
}

// A filter that names the GPU leaves no doubt about whom the entry is for.
TEST(ImportConfigFile, SaysWhatIsWrongWithAnEntryForOneGpu) {
  const std::string entry = with_filter("0x20B210DE", "1g.24gb: 7");
  const std::string message =
      "mig.yaml:4:91: mig-configs.a[0].mig-devices.1g.24gb: wanted a profile of A100-80GB, which the device filter "
      "names (1g.10gb, 1g.10gb+me, 1g.20gb, 2g.20gb, 3g.40gb, 4g.40gb, 7g.80gb), found \"1g.24gb\" of H100-94GB-NVL, "
      "GH200-96GB, RTX-PRO-6000-Blackwell-96GB, RTX-PRO-5000-Blackwell, GB200-186GB";
  ImportOptions options = for_gpu("A100-80GB");
  EXPECT_EQ(imported(entry, {}), message);
  EXPECT_EQ(imported(entry, options), message);
  options.skips_other_gpus = true;
  options.skip_hint = "; skip it";
  EXPECT_EQ(imported(entry, options), message);
  options.gpu.reset();
  EXPECT_EQ(imported(entry, options), message);
  options = for_gpu("A30");
  EXPECT_EQ(imported(entry, options), "a: other |");
  EXPECT_EQ(imported(with_filter("[0x20B210DE, 0x20B710DE]", "1g.5gb: 1"), {}),
            "mig.yaml:4:104: mig-configs.a[0].mig-devices.1g.5gb: wanted a profile of A100-80GB, A30-24GB, which the "
            "device filter names, found \"1g.5gb\" of A100-40GB");
  EXPECT_EQ(imported(with_filter("0x20B210DE", "1g.20gb: 7"), {}),
            "mig.yaml:4:81: mig-configs.a[0].mig-devices: wanted instances that can exist together on a A100-80GB, "
            "found a set that has no placement");
}

TEST(ImportConfigFile, NamesTheOptionThatWouldHelp) {
  ImportOptions options = for_gpu("A30");
  options.skip_hint = "; skip it";
  const auto ends_with_hint = [&](const std::string& text) { return imported(text, options).ends_with("; skip it"); };
  EXPECT_TRUE(ends_with_hint(with_counts("1g.10gb: 7")));
  EXPECT_TRUE(ends_with_hint(with_counts("1g.6gb: 1, 1g.10gb: 7")));
  EXPECT_FALSE(ends_with_hint(with_counts("1c.2g.12gb: 2")));
  EXPECT_FALSE(ends_with_hint(with_counts("1g.6gb: 5")));
  EXPECT_FALSE(ends_with_hint(with_filter("0x20B710DE", "1g.10gb: 7")));
  options.gpu.reset();
  EXPECT_TRUE(ends_with_hint(with_counts("1g.34gb: 7")));
  EXPECT_TRUE(ends_with_hint(with_counts("1g.5gb: 1, 3g.40gb: 1")));
  EXPECT_TRUE(ends_with_hint(with_filter("0x31C210DE", "1g.35gb: 7")));
}

// A file written for a GPU reads back, and each generated label has a placement on it.
TEST(ImportConfigFile, ReadsWhatIsGenerated) {
  for (const GpuModel& model : mig::gpu_models()) {
    if (!model.is_mig_capable()) continue;
    const std::vector<Config> configs = generated_configs(model);
    const auto read = import_config_file(write_config_file(configs), "generated.yaml", for_gpu(model.name));
    ASSERT_TRUE(read.has_value()) << read.error().message;
    ASSERT_EQ(read->size(), configs.size());
    for (std::size_t i = 0; i < configs.size(); ++i) {
      EXPECT_EQ((*read)[i].label, configs[i].label);
      ASSERT_EQ((*read)[i].entries.size(), 1U);
      EXPECT_EQ((*read)[i].entries[0].entry, configs[i].entries[0]) << model.name << " " << configs[i].label;
    }
  }
}

TEST(IsSelected, ComparesTheDevicePart) {
  const GpuModel a30 = *mig::find_gpu_model("A30");
  EXPECT_TRUE(is_selected({}, a30));
  EXPECT_TRUE(is_selected({"0x20B710DE"}, a30));
  EXPECT_TRUE(is_selected({"0x20b210de", "0x20b710de:0x12345678"}, a30));
  EXPECT_FALSE(is_selected({"0x20B210DE"}, a30));
  EXPECT_FALSE(is_selected({"548868318"}, a30));
  EXPECT_FALSE(is_selected({"0x"}, a30));
}

}  // namespace
}  // namespace berth::migparted
