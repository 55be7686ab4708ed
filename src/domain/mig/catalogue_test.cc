#include "domain/mig/catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace berth::mig {
namespace {

std::string name_found(std::string_view name) {
  const auto model = find_gpu_model(name);
  return model ? model->name : "error: " + model.error().message;
}

const MigProfile& profile_of(const GpuModel& model, std::string_view name) {
  return model.profiles[find_profile(model, name)->index];
}

TEST(Catalogue, EveryModelIsThereOnce) {
  std::set<std::string> names;
  for (const GpuModel& model : gpu_models()) EXPECT_TRUE(names.insert(model.name).second) << model.name;
  const std::set<std::string> expected = {
      "A100-40GB",  "A100-80GB",   "A30-24GB",   "H100-80GB-SXM5", "H100-80GB-PCIe", "H100-94GB-NVL",
      "GH200-96GB", "GH200-144GB", "H200-141GB", "B200-180GB",     "GB200-186GB",    "RTX-PRO-6000-Blackwell-96GB",
      "T4-16GB",    "V100-16GB",   "V100-32GB",  "A10-24GB",       "L4-24GB",        "L40S-48GB"};
  EXPECT_EQ(names, expected);
}

TEST(Catalogue, EveryProfileIsWellFormed) {
  for (const GpuModel& model : gpu_models()) {
    EXPECT_GT(model.sms, 0) << model.name;
    EXPECT_EQ(model.is_mig_capable(), model.units > 0) << model.name;
    std::set<std::string> names;
    std::set<int> ids;
    for (const MigProfile& profile : model.profiles) {
      EXPECT_TRUE(names.insert(profile.name).second) << profile.name;
      EXPECT_TRUE(ids.insert(profile.device_profile_id).second) << profile.name;
      EXPECT_EQ(profile.name.substr(0, 2), std::to_string(profile.compute_slices) + "g");
      EXPECT_TRUE(std::ranges::is_sorted(profile.starts));
      EXPECT_GE(profile.starts.front(), 0);
      EXPECT_LE(profile.starts.back() + profile.length, model.units) << model.name << " " << profile.name;
      EXPECT_LE(profile.instances_max, static_cast<int>(profile.starts.size())) << model.name << " " << profile.name;
      EXPECT_LE(profile.sms.value_or(0), model.sms) << model.name << " " << profile.name;
      EXPECT_LE(profile.memory_mib.value_or(0), model.memory_mib) << model.name << " " << profile.name;
    }
  }
}

TEST(Catalogue, AbsentValuesAreMarkedUnverified) {
  for (const GpuModel& model : gpu_models()) {
    for (const MigProfile& profile : model.profiles) {
      const auto is_marked = [&](std::string_view field) {
        return std::ranges::find(profile.unverified, field) != profile.unverified.end();
      };
      EXPECT_TRUE(profile.sms || is_marked("sms")) << model.name << " " << profile.name;
      EXPECT_TRUE(profile.memory_mib || is_marked("memory_mib")) << model.name << " " << profile.name;
    }
  }
  EXPECT_TRUE(find_gpu_model("B200")->is_sms_unverified);
  EXPECT_TRUE(find_gpu_model("GB200")->is_sms_unverified);
  EXPECT_FALSE(find_gpu_model("H200")->is_sms_unverified);
}

TEST(Catalogue, MemoryIsRoundedHalfUp) {
  const GpuModel a100 = *find_gpu_model("A100-40GB");
  EXPECT_EQ(profile_of(a100, "1g.5gb").memory_mib, 4864);   // 4.75 GiB
  EXPECT_EQ(profile_of(a100, "1g.10gb").memory_mib, 9851);  // 9.62 GiB = 9850.88 MiB
  EXPECT_EQ(profile_of(a100, "7g.40gb").memory_mib, 40192);
  EXPECT_EQ(profile_of(*find_gpu_model("GH200-96GB"), "1g.12gb").memory_mib, std::nullopt);
}

TEST(Catalogue, KnowsSmsThatDoNotFollowTheSlices) {
  const GpuModel h100 = *find_gpu_model("H100-80GB");
  EXPECT_EQ(profile_of(h100, "1g.20gb").sms, 26);
  EXPECT_EQ(profile_of(h100, "3g.40gb").sms, 60);
  EXPECT_EQ(profile_of(*find_gpu_model("A100-80GB"), "7g.80gb").sms, 98);
  EXPECT_EQ(profile_of(*find_gpu_model("B200"), "3g.90gb").sms, std::nullopt);
}

TEST(Catalogue, ReadsVariantsFromTheirNames) {
  const GpuModel rtx = *find_gpu_model("RTX");
  EXPECT_EQ(profile_of(rtx, "1g.24gb+me").media, MediaEngines::kExtended);
  EXPECT_EQ(profile_of(rtx, "1g.24gb+me.all").media, MediaEngines::kAll);
  EXPECT_EQ(profile_of(rtx, "1g.24gb-me").media, MediaEngines::kNone);
  EXPECT_TRUE(profile_of(rtx, "2g.48gb+gfx").is_graphics);
  EXPECT_FALSE(profile_of(rtx, "2g.48gb+gfx").is_plain());
  EXPECT_TRUE(profile_of(rtx, "2g.48gb").is_plain());
  EXPECT_TRUE(profile_of(*find_gpu_model("A100-40GB"), "1g.10gb").is_double_memory);
  EXPECT_TRUE(profile_of(*find_gpu_model("A100-80GB"), "1g.10gb").is_plain());
}

TEST(FindGpuModel, TakesNamesAndUniquePrefixes) {
  EXPECT_EQ(name_found("A100-80GB"), "A100-80GB");
  EXPECT_EQ(name_found("A30"), "A30-24GB");
  EXPECT_EQ(name_found("GB200"), "GB200-186GB");
  EXPECT_EQ(name_found("H100-80GB"), "H100-80GB-SXM5");
  EXPECT_EQ(name_found("H100-80GB-P"), "H100-80GB-PCIe");
  EXPECT_EQ(name_found("H200"), "H200-141GB");
  EXPECT_EQ(name_found("T4"), "T4-16GB");
  EXPECT_EQ(name_found("L4-"), "L4-24GB");
  EXPECT_EQ(name_found("L4"), "L4-24GB");
  EXPECT_EQ(name_found("A10"), "A10-24GB");
}

TEST(FindGpuModel, ListsTheCandidates) {
  EXPECT_EQ(name_found("A100"),
            "error: wanted one GPU, found \"A100\", which begins the names of A100-40GB, A100-80GB");
  EXPECT_EQ(name_found("H100-8"),
            "error: wanted one GPU, found \"H100-8\", which begins the names of H100-80GB-SXM5, H100-80GB-PCIe");
  EXPECT_EQ(name_found("A1"),
            "error: wanted one GPU, found \"A1\", which begins the names of A100-40GB, A100-80GB, A10-24GB");
  for (const char* unknown : {"", "a100-80gb", "A100-80GB ", "K80"}) {
    EXPECT_NE(name_found(unknown).find("known are A100-40GB, "), std::string::npos) << unknown;
  }
}

TEST(FindGpuModel, SaysWhichGpusAreKnownByNameOnly) {
  for (const char* name : {"B300", "GB300", "H20", "RTX-PRO-5000", "RTX-PRO-4500-Blackwell"}) {
    EXPECT_NE(name_found(name).find("is known by name only"), std::string::npos) << name_found(name);
  }
}

TEST(FindProfile, KnowsFullOnEveryModel) {
  for (const GpuModel& model : gpu_models()) EXPECT_EQ(find_profile(model, "full"), ProfileId::full());
  EXPECT_EQ(find_profile(*find_gpu_model("A100-80GB"), "1g.10gb+me"), ProfileId{1});
  EXPECT_EQ(find_profile(*find_gpu_model("A100-80GB"), "1g.5gb"), std::nullopt);
}

TEST(PciDeviceIds, AreThoseOfMigParted) {
  EXPECT_EQ(pci_device_ids("A30-24GB"), std::vector<std::uint16_t>{0x20B7});
  EXPECT_TRUE(pci_device_ids("T4-16GB").empty());
  EXPECT_TRUE(pci_device_ids("K80").empty());
}

TEST(GpusWithProfile, IncludesThoseKnownByName) {
  EXPECT_EQ(gpus_with_profile("1g.5gb"), std::vector<std::string>{"A100-40GB"});
  EXPECT_EQ(gpus_with_profile("1g.34gb"), std::vector<std::string>{"B300"});
  EXPECT_TRUE(gpus_with_profile("full").empty());
  EXPECT_EQ(gpus_with_profile("1g.35gb"), (std::vector<std::string>{"H200-141GB", "GB300"}));
}

}  // namespace
}  // namespace berth::mig
