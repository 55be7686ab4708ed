#include "domain/mig/board.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "domain/mig/catalogue.h"

namespace berth::mig {
namespace {

Engines engines_of(std::string_view model_name, std::string_view profile) {
  const GpuModel model = *find_gpu_model(model_name);
  return profile_engines(model, *find_profile(model, profile));
}

Engines counts(int copy, int decoders, int encoders, int jpeg, int optical_flow) {
  return {.copy = copy, .decoders = decoders, .encoders = encoders, .jpeg = jpeg, .optical_flow = optical_flow};
}

TEST(Board, OfModels) {
  const Board a100 = board_of(*find_gpu_model("A100-80GB"));
  EXPECT_EQ(a100.name, "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(a100.pci_device_id, 0x20B2);
  EXPECT_EQ(a100.architecture, Architecture::kAmpere);
  EXPECT_EQ(a100.compute_capability_major, 8);
  EXPECT_EQ(a100.compute_capability_minor, 0);
  EXPECT_EQ(a100.memory_mib, 81920);
  EXPECT_TRUE(a100.needs_reset_for_mode);
  EXPECT_TRUE(a100.mode_survives_reboot);
  EXPECT_EQ(a100.unverified, std::vector<std::string>{"memory_mib"});

  const Board h100 = board_of(*find_gpu_model("H100-80GB-SXM5"));
  EXPECT_EQ(h100.name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(h100.pci_device_id, 0x2330);
  EXPECT_EQ(h100.memory_mib, 81559);
  EXPECT_FALSE(h100.needs_reset_for_mode);
  EXPECT_FALSE(h100.mode_survives_reboot);
  EXPECT_TRUE(h100.unverified.empty());

  const Board rtx = board_of(*find_gpu_model("RTX"));
  EXPECT_EQ(rtx.architecture, Architecture::kBlackwell);
  EXPECT_EQ(rtx.compute_capability_major, 12);
  EXPECT_FALSE(rtx.needs_reset_for_mode);
  EXPECT_EQ(rtx.unverified, (std::vector<std::string>{"memory_mib", "needs_reset_for_mode", "mode_survives_reboot"}));
}

TEST(Board, MemoryAndPowerLimitAreThoseOfTheModel) {
  const auto expect = [](std::string_view name, std::int64_t memory_mib, int limit_watts) {
    const Board board = board_of(*find_gpu_model(name));
    EXPECT_EQ(board.memory_mib, memory_mib) << name;
    EXPECT_EQ(board.power.limit_watts, limit_watts) << name;
  };
  expect("T4", 15'360, 70);
  expect("L4", 23'034, 72);
  expect("L40S", 46'068, 350);
  expect("A30", 24'576, 165);
  expect("H100-80GB-PCIe", 81'559, 350);
  expect("H100-94GB-NVL", 95'830, 400);
  expect("B200", 183'359, 1'000);
  expect("GB200", 189'471, 1'200);
}

TEST(Board, WithoutMigNoModeIsKept) {
  const Board a10 = board_of(*find_gpu_model("A10-24GB"));
  EXPECT_EQ(a10.architecture, Architecture::kAmpere);
  EXPECT_EQ(a10.compute_capability_minor, 6);
  EXPECT_FALSE(a10.needs_reset_for_mode);
  EXPECT_FALSE(a10.mode_survives_reboot);
  EXPECT_EQ(board_of(*find_gpu_model("V100-32GB")).unverified,
            (std::vector<std::string>{"name", "pci_device_id", "memory_mib"}));
}

TEST(Board, EveryModelHasOneOfItsOwn) {
  std::set<std::uint16_t> pci_ids;
  std::set<std::string> names;
  for (const GpuModel& model : gpu_models()) {
    const Board& board = board_of(model);
    EXPECT_TRUE(names.insert(board.name).second) << board.name;
    EXPECT_TRUE(pci_ids.insert(board.pci_device_id).second) << board.name;
    EXPECT_NE(board.architecture, Architecture::kUnknown) << board.name;
    EXPECT_LE(board.memory_mib, model.memory_mib) << board.name;
    EXPECT_LT(0, board.power.idle_watts) << board.name;
    EXPECT_LT(board.power.idle_watts, board.power.limit_min_watts) << board.name;
    EXPECT_LT(board.power.limit_min_watts, board.power.limit_watts) << board.name;
    EXPECT_LT(1'000, board.power.sm_clock_max_mhz) << board.name;
    EXPECT_LT(500, board.power.memory_clock_max_mhz) << board.name;
    const std::vector<std::uint16_t> filtered = pci_device_ids(model.name);
    EXPECT_TRUE(filtered.empty() || std::ranges::find(filtered, board.pci_device_id) != filtered.end()) << board.name;
  }
}

// Typed from the profile tables of NVIDIA's MIG User Guide and the transcripts that device_tables.h names.
TEST(ProfileEngines, OfModels) {
  EXPECT_EQ(engines_of("A100-40GB", "1g.5gb"), counts(1, 0, 0, 0, 0));
  EXPECT_EQ(engines_of("A100-40GB", "1g.5gb+me"), counts(1, 1, 0, 1, 1));
  EXPECT_EQ(engines_of("A100-80GB", "1g.20gb"), counts(1, 1, 0, 0, 0));
  EXPECT_EQ(engines_of("A100-80GB", "7g.80gb"), counts(7, 5, 0, 1, 1));
  EXPECT_EQ(engines_of("A30", "1g.6gb"), counts(1, 1, 0, 0, 0));
  EXPECT_EQ(engines_of("A30", "2g.12gb+me"), counts(2, 2, 0, 1, 1));
  EXPECT_EQ(engines_of("H100-80GB-PCIe", "3g.40gb"), counts(3, 3, 0, 3, 0));
  EXPECT_EQ(engines_of("H200", "7g.141gb"), counts(8, 7, 0, 7, 1));
  EXPECT_EQ(engines_of("B200", "2g.45gb"), counts(4, 2, 0, 2, 0));
  EXPECT_EQ(engines_of("B200", "7g.180gb").copy, 16);
  EXPECT_EQ(engines_of("GB200", "2g.47gb"), counts(4, 2, 0, 2, 0));
  EXPECT_EQ(engines_of("GB200", "7g.186gb").copy, std::nullopt);
  EXPECT_EQ(engines_of("GB200", "7g.186gb").optical_flow, 1);
  EXPECT_EQ(engines_of("RTX", "1g.24gb+me.all"), counts(1, 4, 4, 4, 1));
  EXPECT_EQ(engines_of("RTX", "2g.48gb-me"), counts(2, 0, 0, 0, 0));
  EXPECT_EQ(engines_of("RTX", "4g.96gb+gfx"), counts(4, 4, 4, 4, 1));
}

TEST(ProfileEngines, EveryProfileHasThem) {
  for (const GpuModel& model : gpu_models()) {
    for (const MigProfile& profile : model.profiles) {
      const Engines engines = profile_engines(model, *find_profile(model, profile.name));
      const auto is_marked = [&](std::string_view field) {
        return std::ranges::find(profile.unverified, field) != profile.unverified.end();
      };
      EXPECT_GE(engines.copy.value_or(profile.compute_slices), profile.compute_slices)
          << model.name << " " << profile.name;
      EXPECT_TRUE(engines.copy || is_marked("copy_engines")) << model.name << " " << profile.name;
      EXPECT_TRUE(engines.decoders || is_marked("decoders")) << model.name << " " << profile.name;
      EXPECT_TRUE(engines.jpeg || is_marked("jpeg")) << model.name << " " << profile.name;
    }
  }
}

}  // namespace
}  // namespace berth::mig
