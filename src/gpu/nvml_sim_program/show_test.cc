#include "gpu/nvml_sim_program/show.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "gpu/nvml_sim/compute_instances.h"
#include "gpu/nvml_sim/faults.h"
#include "gpu/nvml_sim/gpu_instances.h"
#include "gpu/nvml_sim/mig_devices.h"
#include "gpu/nvml_sim/processes.h"
#include "gpu/nvml_sim/testing/gpus.h"

namespace berth::nvml_sim_cli {
namespace {

using nlohmann::json;
using nvml_sim::MachineRecord;
using nvml_sim::testing::kRoot;
using testing::HasSubstr;

/// An A100 with a 3g.40gb that has a compute instance of one slice, with a process; a lost T4 with a process and
/// faults.
std::unique_ptr<MachineRecord> machine() {
  auto machine = std::make_unique<MachineRecord>();
  nvml_sim::put_text(machine->driver, "580.95");
  nvml_sim::put_text(machine->boot_id, "the-boot");
  machine->gpu_count = 2;
  nvml_sim::GpuRecord& a100 = machine->gpus[0] = nvml_sim::testing::gpu_of("A100-80GB", 0);
  nvml_sim::GpuRecord& t4 = machine->gpus[1] = nvml_sim::testing::gpu_of("T4-16GB", 1);
  const int instance =
      nvml_sim::create_gpu_instance(a100, nvml_sim::testing::profile_id(a100, "3g.40gb"), {}, kRoot).value();
  const int compute = nvml_sim::create_compute_instance(a100, instance, 0, {}, kRoot).value();
  EXPECT_TRUE(nvml_sim::add_process(a100, {.pid = 41,
                                           .gpu_instance = static_cast<std::uint32_t>(instance),
                                           .compute_instance = static_cast<std::uint32_t>(compute),
                                           .memory_mib = 100}));
  a100.changing_calls = 2;
  a100.is_mig_pending_on = 0;
  EXPECT_TRUE(nvml_sim::add_process(t4, {.pid = 42, .memory_mib = 7}));
  nvml_sim::FaultRecord slow;
  slow.kind = nvml_sim::FaultRecord::kAnswer;
  nvml_sim::put_text(slow.call, "read");
  slow.times = 5;
  slow.delay_ms = 20;
  nvml_sim::FaultRecord refused = slow;
  refused.error = 19;
  refused.is_done = 1;
  refused.after = 3;
  nvml_sim::FaultRecord xid;
  xid.kind = nvml_sim::FaultRecord::kXid;
  xid.error = 31;
  xid.times = 9;
  xid.interval_us = 250'000;
  for (const auto& fault : {slow, refused, xid}) EXPECT_TRUE(nvml_sim::add_fault(t4, fault));
  nvml_sim::lose(t4);
  return machine;
}

TEST(Show, JsonHasEverything) {
  const auto simulated = machine();
  const nvml_sim::GpuRecord& a100 = simulated->gpus[0];
  const std::string mig_uuid = nvml_sim::mig_uuid(a100, nvml_sim::mig_devices(a100).front());
  const json expected = {
      {"driver", "580.95"},
      {"boot_id", "the-boot"},
      {"devices",
       {{{"index", 0},
         {"uuid", a100.uuid},
         {"model", "A100-80GB"},
         {"pci", "00000000:07:00.0"},
         {"changing_calls", 2},
         {"lost", false},
         {"mig", {{"current", true}, {"pending", false}}},
         {"gpu_instances",
          {{{"id", 2},
            {"profile", "3g.40gb"},
            {"start", 4},
            {"length", 4},
            {"memory_mib", 40192},
            {"generation", 1},
            {"compute_instances",
             {{{"id", 0},
               {"profile", "1c.3g.40gb"},
               {"start", 0},
               {"uuid", mig_uuid},
               {"generation", 2},
               {"processes", {{{"pid", 41}, {"memory_mib", 100}}}},
               {"unverified", {"profile", "start"}}}}},
            {"unverified", json::array()}}}},
         {"processes", json::array()},
         {"faults", json::array()},
         {"unverified", {"memory_mib"}}},
        {{"index", 1},
         {"uuid", simulated->gpus[1].uuid},
         {"model", "T4-16GB"},
         {"pci", "00000000:0F:00.0"},
         {"changing_calls", 0},
         {"lost", true},
         {"mig", {{"current", false}, {"pending", false}}},
         {"gpu_instances", json::array()},
         {"processes", {{{"pid", 42}, {"memory_mib", 7}}}},
         {"faults",
          {{{"call", "read"}, {"error", nullptr}, {"done", false}, {"after", 0}, {"times", 5}, {"ms", 20}},
           {{"call", "read"}, {"error", "NVML_ERROR_IN_USE"}, {"done", true}, {"after", 3}, {"times", 5}, {"ms", 20}},
           {{"xid", 31}, {"times", 9}, {"rate", 4.0}}}},
         {"unverified", {"memory_mib"}}}}}};
  EXPECT_EQ(json::parse(show_json(*simulated)), expected);
}

TEST(Show, TextIsForPeople) {
  const auto simulated = machine();
  const nvml_sim::GpuRecord& a100 = simulated->gpus[0];
  const std::string mig_uuid = nvml_sim::mig_uuid(a100, nvml_sim::mig_devices(a100).front());
  EXPECT_EQ(show_text(*simulated),
            "driver 580.95, boot the-boot (1)\n\nGPU 0  A100-80GB  " + std::string(a100.uuid) +
                "  00000000:07:00.0  MIG on (off after a reset), 2 changing calls\n"
                "  GI 2  3g.40gb@4        units 4 to 7, 40192 MiB, generation 1\n"
                "    CI 0  1c.3g.40gb@0?    " +
                mig_uuid +
                "  pid 41 (100 MiB)\n"
                "  unverified: memory_mib\n"
                "\nGPU 1  T4-16GB  " +
                simulated->gpus[1].uuid +
                "  00000000:0F:00.0  no MIG, 0 changing calls, LOST  pid 42 (7 MiB)\n"
                "  fault: read, 20 ms, 5 times\n"
                "  fault: read NVML_ERROR_IN_USE, although it is done, 20 ms, 5 times, after 3 calls\n"
                "  fault: XID 31, 9 more, 4 per second\n"
                "  unverified: memory_mib\n"
                "\n? marks what no primary source confirms.\n");
}

TEST(Show, MarksFiguresOfModelsWithoutASource) {
  auto simulated = std::make_unique<MachineRecord>();
  simulated->gpu_count = 1;
  nvml_sim::GpuRecord& gpu = simulated->gpus[0] = nvml_sim::testing::gpu_of("B200-180GB");
  const auto& profiles = nvml_sim::model_of(gpu).profiles;
  for (const MigProfile& profile : profiles) {
    if (profile.unverified.empty()) continue;
    ASSERT_TRUE(nvml_sim::create_gpu_instance(gpu, static_cast<std::uint32_t>(profile.device_profile_id), {}, kRoot)
                    .has_value());
    const json instance = json::parse(show_json(*simulated))["devices"][0]["gpu_instances"][0];
    for (const std::string& name : profile.unverified) {
      EXPECT_THAT(instance["unverified"].get<std::vector<std::string>>(), testing::Contains(name));
    }
    EXPECT_THAT(show_text(*simulated), HasSubstr("? "));
    return;
  }
  FAIL() << "every profile of the model has a source now: take another model";
}

}  // namespace
}  // namespace berth::nvml_sim_cli
