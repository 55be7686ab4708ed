#include "gpu/nvml_sim_program/nvidia_smi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "gpu/nvml_sim/compute_instances.h"
#include "gpu/nvml_sim/gpu_instances.h"
#include "gpu/nvml_sim/mig_devices.h"
#include "gpu/nvml_sim/processes.h"
#include "gpu/nvml_sim/testing/gpus.h"

namespace berth::nvml_sim_cli {
namespace {

using nvml_sim::MachineRecord;
using nvml_sim::testing::kRoot;

/// Two A100s in MIG mode with one instance each; those of GPU 0 are divided.
std::unique_ptr<MachineRecord> two_gpus() {
  auto machine = std::make_unique<MachineRecord>();
  machine->gpu_count = 2;
  for (std::uint32_t index : {0U, 1U}) {
    nvml_sim::GpuRecord& gpu = machine->gpus[index];
    gpu = nvml_sim::testing::gpu_of("A100-80GB", index);
    const auto instance =
        nvml_sim::create_gpu_instance(gpu, nvml_sim::testing::profile_id(gpu, "3g.40gb"), {}, kRoot).value();
    EXPECT_TRUE(nvml_sim::create_compute_instance(gpu, instance, index == 0 ? 0 : 2, {}, kRoot).has_value());
  }
  return machine;
}

TEST(NvidiaSmi, ListsGpusAndTheirMigDevices) {
  const auto machine = two_gpus();
  const auto uuid = [&](int index) {
    return nvml_sim::mig_uuid(machine->gpus[index], nvml_sim::mig_devices(machine->gpus[index]).front());
  };
  EXPECT_EQ(list_text(*machine), "GPU 0: NVIDIA A100-SXM4-80GB (UUID: " + std::string(machine->gpus[0].uuid) +
                                     ")\n  MIG 1c.3g.40gb  Device  0: (UUID: " + uuid(0) +
                                     ")\nGPU 1: NVIDIA A100-SXM4-80GB (UUID: " + machine->gpus[1].uuid +
                                     ")\n  MIG 3g.40gb     Device  0: (UUID: " + uuid(1) + ")\n");
}

TEST(NvidiaSmi, ResetsThoseThatAreListed) {
  struct Row {
    std::string list;
    bool has_reset_0 = false;
    bool has_reset_1 = false;
  };
  const std::string uuid = two_gpus()->gpus[1].uuid;
  for (const Row& row :
       {Row{"", true, true}, Row{"1", false, true}, Row{"0,1", true, true}, Row{uuid, false, true},
        Row{"0000:07:00.0", true, false}, Row{"00000000:0F:00.0", false, true}, Row{"0000:0f:00.0,0", true, true}}) {
    const auto machine = two_gpus();
    ASSERT_TRUE(reset_listed(*machine, row.list, 0).has_value()) << row.list;
    EXPECT_EQ(machine->gpus[0].resets, row.has_reset_0 ? 1U : 0U) << row.list;
    EXPECT_EQ(machine->gpus[1].resets, row.has_reset_1 ? 1U : 0U) << row.list;
    EXPECT_EQ(nvml_sim::has_instances(machine->gpus[1]), !row.has_reset_1) << row.list;
  }
}

TEST(NvidiaSmi, ResetsNothingIfOneIsUnknownOrInUse) {
  const auto machine = two_gpus();
  for (const std::string list : {"2", "0,", "0,GPU-x", "0000:08:00.0", ","}) {
    EXPECT_FALSE(reset_listed(*machine, list, 0).has_value()) << list;
  }
  const nvml_sim::MigDevice device = nvml_sim::mig_devices(machine->gpus[1]).front();
  ASSERT_TRUE(nvml_sim::add_process(machine->gpus[1],
                                    {.pid = 42,
                                     .gpu_instance = static_cast<std::uint32_t>(device.gpu_instance),
                                     .compute_instance = static_cast<std::uint32_t>(device.compute_instance)}));
  const auto refused = reset_listed(*machine, "", 0);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message, "GPU 00000000:0F:00.0 is in use by a process; nothing was reset");
  EXPECT_EQ(machine->gpus[0].resets, 0U);
  EXPECT_TRUE(reset_listed(*machine, "0", 0).has_value());
}

}  // namespace
}  // namespace berth::nvml_sim_cli
