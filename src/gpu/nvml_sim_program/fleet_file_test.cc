#include "gpu/nvml_sim_program/fleet_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gpu/nvml_abi/codes.h"

namespace berth::nvml_sim_cli {
namespace {

using nvml_sim::FaultRecord;
using nvml_sim::Latency;
using nvml_sim::MachineRecord;
using testing::HasSubstr;

Fleet parsed(const std::string& text, const std::string& path = "f.yaml") {
  auto fleet = parse_fleet(text, path);
  EXPECT_TRUE(fleet.has_value()) << (fleet ? "" : fleet.error().message);
  return fleet ? std::move(*fleet) : Fleet{.machine = std::make_unique<MachineRecord>(), .state = {}};
}

TEST(FleetFile, LeavesOutWhatHasADefault) {
  const Fleet fleet = parsed("fleet: [{gpu: A30}, {gpu: T4}]");
  const MachineRecord& machine = *fleet.machine;
  EXPECT_EQ(machine.gpu_count, 2U);
  EXPECT_STREQ(machine.gpus[0].model, "A30-24GB");
  EXPECT_EQ(machine.gpus[0].is_mig_on, 1U);
  EXPECT_STREQ(machine.gpus[1].model, "T4-16GB");
  EXPECT_EQ(machine.gpus[1].is_mig_on, 0U);
  EXPECT_EQ(machine.gpus[1].index, 1U);
  EXPECT_STREQ(machine.driver, "580.95.05");
  EXPECT_EQ(machine.gpus[0].is_before_r510, 0U);
  for (const std::int64_t latency : machine.latency_us) EXPECT_EQ(latency, 0);
  EXPECT_EQ(machine.gpus[0].faults[0].kind, FaultRecord::kNone);
  EXPECT_EQ(fleet.state, "");
  EXPECT_EQ(describe_fleet(machine), "1 A30-24GB, 1 T4-16GB, driver 580.95.05");
}

TEST(FleetFile, ReadsEverything) {
  const Fleet fleet = parsed(R"(
fleet: [{gpu: A100-80GB, count: 2, mig: false}, {gpu: H200}]
driver: 470.57.02
latency_ms: {create_gpu_instance: 200, read: 0.5}
faults:
  - {gpu: 2, call: nvmlDeviceCreateGpuInstance, error: IN_USE, done: true, after: 3, times: 2, ms: 10}
  - {gpu: 2, call: destroy_gpu_instance, ms: 60000}
state: folder/machine
)",
                             "/some/where/f.yaml");
  const MachineRecord& machine = *fleet.machine;
  EXPECT_EQ(machine.gpu_count, 3U);
  EXPECT_EQ(machine.gpus[1].is_mig_on, 0U);
  EXPECT_EQ(machine.gpus[2].is_mig_on, 1U);
  EXPECT_EQ(machine.gpus[0].is_before_r510, 1U);
  EXPECT_EQ(machine.latency_us[static_cast<int>(Latency::kCreateGpuInstance)], 200'000);
  EXPECT_EQ(machine.latency_us[static_cast<int>(Latency::kRead)], 500);
  EXPECT_EQ(machine.latency_us[static_cast<int>(Latency::kInit)], 0);
  const FaultRecord& fault = machine.gpus[2].faults[0];
  EXPECT_EQ(fault.kind, FaultRecord::kAnswer);
  EXPECT_STREQ(fault.call, "nvmlDeviceCreateGpuInstance");
  EXPECT_EQ(fault.error, static_cast<int>(nvml_abi::Code::kInUse));
  EXPECT_EQ(fault.is_done, 1);
  EXPECT_EQ(fault.after, 3);
  EXPECT_EQ(fault.times, 2);
  EXPECT_EQ(fault.delay_ms, 10);
  EXPECT_EQ(machine.gpus[2].faults[1].error, 0);
  EXPECT_EQ(machine.gpus[2].faults[1].times, 1);
  EXPECT_EQ(machine.gpus[2].faults[2].kind, FaultRecord::kNone);
  EXPECT_EQ(fleet.state, "/some/where/folder/machine");
  EXPECT_EQ(describe_fleet(machine), "2 A100-80GB, 1 H200-141GB, driver 470.57.02");
}

TEST(FleetFile, AnAbsoluteStateStays) {
  EXPECT_EQ(parsed("{fleet: [{gpu: T4}], state: /run/s}", "a/f.yaml").state, "/run/s");
  EXPECT_EQ(parsed("{fleet: [{gpu: T4}], state: s}", "f.yaml").state, "s");
}

TEST(FleetFile, TheDriverDecidesAboutFourPlusThree) {
  struct Row {
    std::string driver;
    bool is_before = false;
  };
  for (const Row& row : {Row{"509.99", true}, Row{"510", false}, Row{"580.95", false}, Row{"99", true},
                         Row{"1000", false}, Row{"0470.1", true}, Row{"0", true}, Row{"510.47.03-server", false}}) {
    const Fleet fleet = parsed("{fleet: [{gpu: A100-40GB}], driver: \"" + row.driver + "\"}");
    EXPECT_EQ(fleet.machine->gpus[0].is_before_r510 != 0, row.is_before) << row.driver;
  }
}

std::string with_fault(const std::string& fault) { return "fleet: [{gpu: T4, count: 2}]\nfaults:\n  - " + fault; }

TEST(FleetFile, SaysWhatIsWrongAndWhere) {
  struct Row {
    std::string text;
    std::vector<std::string> parts;
  };
  const std::vector<Row> rows = {
      {"", {"f.yaml:"}},
      {"[]", {"f.yaml:1:1: wanted a map, found an empty list"}},
      {"{}", {"fleet: wanted a list of at least one GPU, found nothing"}},
      {"fleet: []", {"fleet: wanted a list of at least one GPU, found an empty list"}},
      {"fleet: A30", {"fleet: wanted a list of at least one GPU, found \"A30\""}},
      {"flet: []", {"unknown key \"flet\"; did you mean fleet?", "known: fleet, driver, latency_ms, faults, state"}},
      {"fleet:\n  - A30", {"f.yaml:2:5: fleet[0]: wanted a map, found \"A30\""}},
      {"fleet: [{gpu: A30, cuont: 2}]", {"fleet[0]: unknown key \"cuont\"; did you mean count?"}},
      {"fleet: [{count: 2}]", {"fleet[0].gpu: wanted a name of 1 to 200 printable bytes, found nothing"}},
      {"fleet:\n- gpu: A30\n- gpu: A99", {"f.yaml:3:8: fleet[1].gpu: wanted a GPU, found \"A99\"; known are "}},
      {"fleet: [{gpu: A100}]",
       {"fleet[0].gpu: wanted one GPU, found \"A100\", which begins the names of A100-40GB, A100-80GB"}},
      {"fleet: [{gpu: A30, count: 0}]", {"fleet[0].count: wanted a whole number from 1 to 64, found \"0\""}},
      {"fleet: [{gpu: A30, count: -1}]", {"fleet[0].count: wanted a whole number from 1 to 64, found \"-1\""}},
      {"fleet: [{gpu: A30, count: 1.5}]", {"fleet[0].count: wanted a whole number from 1 to 64, found \"1.5\""}},
      {"fleet: [{gpu: A30, count: 65}]", {"fleet[0].count: wanted a whole number from 1 to 64, found \"65\""}},
      {"fleet: [{gpu: A30, count: two}]", {"fleet[0].count: wanted a whole number from 1 to 64, found \"two\""}},
      {"fleet: [{gpu: A30, count: 60}, {gpu: T4, count: 5}]", {"fleet[1]: wanted at most 64 GPUs in all, found 65"}},
      {"fleet: [{gpu: A30, mig: 1}]", {"fleet[0].mig: wanted true or false, found \"1\""}},
      {"fleet: [{gpu: T4, mig: true}]", {"fleet[0].mig: wanted false, as T4-16GB has no MIG, found \"true\""}},
      {"{fleet: [{gpu: T4}], driver: R580}",
       {"driver: wanted a version that begins with digits, such as 580.95.05, found \"R580\""}},
      {"{fleet: [{gpu: T4}], driver: }", {"driver: wanted a version that begins with digits", "found nothing"}},
      {"{fleet: [{gpu: T4}], driver: \"1\\n2\"}",
       {"driver: wanted a version that begins with digits", "found \"1\\x0a2\""}},
      {"{fleet: [{gpu: T4}], driver: " + std::string(80, '1') + "}",
       {"driver: wanted a version that begins with digits"}},
      {"{fleet: [{gpu: T4}], latency_ms: 5}", {"latency_ms: wanted a map, found \"5\""}},
      {"{fleet: [{gpu: T4}], latency_ms: {create_gi: 5}}",
       {"latency_ms: unknown key \"create_gi\"", "create_gpu_instance"}},
      {"{fleet: [{gpu: T4}], latency_ms: {read: -1}}",
       {"latency_ms.read: wanted a number from 0 to 600000, found \"-1\""}},
      {"{fleet: [{gpu: T4}], latency_ms: {read: 600001}}",
       {"latency_ms.read: wanted a number from 0 to 600000, found \"600001\""}},
      {"{fleet: [{gpu: T4}], faults: {}}", {"faults: wanted a list of faults, found a map"}},
      {"{fleet: [{gpu: T4}], state: }", {"state: wanted a name", "found nothing"}},
      {with_fault("{gpu: 0, cal: read}"), {"f.yaml:3:14: faults[0]: unknown key \"cal\"; did you mean call?"}},
      {with_fault("{gpu: 2, call: read, ms: 1}"), {"faults[0].gpu: wanted a whole number from 0 to 1, found \"2\""}},
      {with_fault("{call: read, ms: 1}"), {"faults[0].gpu: wanted a whole number from 0 to 1, found nothing"}},
      {with_fault("{gpu: 0, ms: 1}"), {"faults[0].call: wanted a function or a key of latency_ms, found nothing"}},
      {with_fault("{gpu: 0, call: nvmlDeviceCreateGpuInstanc, ms: 1}"),
       {"faults[0].call: wanted a simulated function", "did you mean nvmlDeviceCreateGpuInstance?"}},
      {with_fault("{gpu: 0, call: nvmlDeviceSetFanSpeed_v2, ms: 1}"),
       {"faults[0].call: ", "which is exported but not simulated: it always answers NOT_SUPPORTED"}},
      {with_fault("{gpu: 0, call: nvmlDeviceSetFanSpeed, ms: 1}"), {"which is exported but not simulated"}},
      {with_fault("{gpu: 0, call: create_gpu_instances, ms: 1}"), {"did you mean create_gpu_instance?"}},
      {with_fault("{gpu: 0, call: read, error: IN_USED}"),
       {"faults[0].error: wanted an error code of NVML", "found \"IN_USED\"; did you mean IN_USE?"}},
      {with_fault("{gpu: 0, call: read, error: SUCCESS}"), {"faults[0].error: wanted an error code of NVML"}},
      {with_fault("{gpu: 0, call: read, error: IN_USE, done: yes}"),
       {"faults[0].done: wanted true or false, found \"yes\""}},
      {with_fault("{gpu: 0, call: read, error: IN_USE, after: -1}"), {"faults[0].after: wanted a whole number from 0"}},
      {with_fault("{gpu: 0, call: read, error: IN_USE, times: 0}"), {"faults[0].times: wanted a whole number from 1"}},
      {with_fault("{gpu: 0, call: read, ms: 86400001}"), {"faults[0].ms: wanted a whole number from 0 to 86400000"}},
      {with_fault("{gpu: 0, call: read}"), {"f.yaml:3:5: faults[0]: wanted an error or a delay (ms), found neither"}},
      {with_fault("{gpu: 0, call: read, ms: 5, done: true}"),
       {"faults[0]: wanted an error for a call that is done, found none"}},
  };
  for (const Row& row : rows) {
    const auto fleet = parse_fleet(row.text, "f.yaml");
    ASSERT_FALSE(fleet.has_value()) << row.text;
    EXPECT_EQ(fleet.error().code, ErrorCode::kInvalidInput);
    for (const std::string& part : row.parts) EXPECT_THAT(fleet.error().message, HasSubstr(part)) << row.text;
  }
}

TEST(FleetFile, AGpuHasRoomForSoManyFaults) {
  std::string text = "fleet: [{gpu: T4}]\nfaults:\n";
  for (int i = 0; i < nvml_sim::kFaultsMax; ++i) text += "- {gpu: 0, call: read, ms: 1}\n";
  EXPECT_TRUE(parse_fleet(text, "f.yaml").has_value());
  const auto fleet = parse_fleet(text + "- {gpu: 0, call: read, ms: 1}\n", "f.yaml");
  ASSERT_FALSE(fleet.has_value());
  EXPECT_THAT(fleet.error().message, HasSubstr("faults[32]: wanted at most 32 faults of one GPU, found more on GPU 0"));
}

}  // namespace
}  // namespace berth::nvml_sim_cli
