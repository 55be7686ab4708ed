// Looking up devices. docs/reference/nvml.md has the behaviour of real libraries.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "gpu/nvml_sim/faults.h"
#include "gpu/nvml_sim_library/exports.h"
#include "gpu/nvml_sim_library/testing/simulated.h"

namespace berth::nvml_abi {
namespace {

using edges::testing::device;
using edges::testing::Simulated;
using edges::testing::uuid_of;
using nvml_sim::GpuRecord;

std::string upper_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char letter) { return std::toupper(letter); });
  return text;
}

class ExportsLookup : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(nvmlInit_v2(), Code::kSuccess); }
  Simulated machine_{{"H100-80GB-SXM5", "A100-40GB", "T4"}};
  Device found_ = nullptr;
};

TEST_F(ExportsLookup, AnIndexBeyondTheLastIsInvalid) {
  std::uint32_t count = 0;
  ASSERT_EQ(nvmlDeviceGetCount(&count), Code::kSuccess);
  EXPECT_EQ(count, 3U);
  EXPECT_EQ(nvmlDeviceGetHandleByIndex(2, &found_), Code::kSuccess);
  EXPECT_EQ(nvmlDeviceGetHandleByIndex(3, &found_), Code::kInvalidArgument);
  EXPECT_EQ(nvmlDeviceGetHandleByIndex_v2(0xFFFFFFFF, &found_), Code::kInvalidArgument);
}

TEST_F(ExportsLookup, UuidsAreWantedInLowerCase) {
  const std::string uuid = uuid_of(device(1));
  EXPECT_EQ(nvmlDeviceGetHandleByUUID(uuid.c_str(), &found_), Code::kSuccess);
  EXPECT_EQ(found_, device(1));
  for (const std::string& other :
       {upper_case(uuid), "GPU-" + upper_case(uuid.substr(4)), uuid.substr(4), uuid.substr(0, uuid.size() - 1),
        uuid + "0", std::string("nonsense"), std::string()}) {
    EXPECT_EQ(nvmlDeviceGetHandleByUUID(other.c_str(), &found_), Code::kNotFound) << other;
  }
}

TEST_F(ExportsLookup, UuidsAreFoundAsTextAndAsBytes) {
  const std::string uuid = uuid_of(device(1));
  UuidV1 wanted{.version = version_of<UuidV1>(1), .type = kUuidAscii};
  std::copy(uuid.begin(), uuid.end(), wanted.value.ascii);
  EXPECT_EQ(nvmlDeviceGetHandleByUUIDV(&wanted, &found_), Code::kSuccess);
  EXPECT_EQ(found_, device(1));
  std::fill(std::begin(wanted.value.ascii), std::end(wanted.value.ascii), 'x');  // without its zero
  EXPECT_EQ(nvmlDeviceGetHandleByUUIDV(&wanted, &found_), Code::kNotFound);

  std::string digits = uuid.substr(4);
  std::erase(digits, '-');
  wanted.type = kUuidBinary;
  for (std::size_t byte = 0; byte < kUuidBinaryBytes; ++byte) {
    wanted.value.binary[byte] = static_cast<unsigned char>(std::stoi(digits.substr(byte * 2, 2), nullptr, 16));
  }
  found_ = nullptr;
  EXPECT_EQ(nvmlDeviceGetHandleByUUIDV(&wanted, &found_), Code::kSuccess);
  EXPECT_EQ(found_, device(1));
  wanted.type = kUuidNone;
  EXPECT_EQ(nvmlDeviceGetHandleByUUIDV(&wanted, &found_), Code::kInvalidArgument);
  wanted.version = version_of<UuidV1>(2);
  EXPECT_EQ(nvmlDeviceGetHandleByUUIDV(&wanted, &found_), Code::kArgumentVersionMismatch);
}

TEST_F(ExportsLookup, PciAddressesComeInManyForms) {
  PciPlaceV3 place;
  ASSERT_EQ(nvmlDeviceGetPciInfo_v3(device(1), &place), Code::kSuccess);
  EXPECT_STREQ(place.bus_id, "00000000:0F:00.0");
  EXPECT_STREQ(place.bus_id_legacy, "0000:0F:00.0");
  for (const char* form : {"00000000:0F:00.0", "0000:0F:00.0", "0F:00.0", "0f:00.0", "0000:0f:00", "0f:00"}) {
    found_ = nullptr;
    EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2(form, &found_), Code::kSuccess) << form;
    EXPECT_EQ(found_, device(1)) << form;
    EXPECT_EQ(nvmlDeviceGetHandleByPciBusId(form, &found_), Code::kSuccess) << form;
  }
  for (const char* absent : {"0000:10:00.0", "0001:0F:00.0", "0000:0F:01.0", "FFFFFFFF:0F:00.0"}) {
    EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2(absent, &found_), Code::kNotFound) << absent;
  }
  for (const char* nonsense : {"", "nonsense", ":", "::", ".", "0F", "0F:", ":00", "0000:0F:", "0000::00.0", "0G:00.0",
                               "0000:0F:00.x", "000000000:0F:00.0", "0000:00F:00.0", "0000:0F:00.0.0", " 0F:00.0"}) {
    EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2(nonsense, &found_), Code::kInvalidArgument) << nonsense;
  }
}

TEST_F(ExportsLookup, SerialNumbersAreFound) {
  char serial[kSerialBytes] = {};
  ASSERT_EQ(nvmlDeviceGetSerial(device(2), serial, sizeof(serial)), Code::kSuccess);
  EXPECT_EQ(nvmlDeviceGetHandleBySerial(serial, &found_), Code::kSuccess);
  EXPECT_EQ(found_, device(2));
  EXPECT_EQ(nvmlDeviceGetHandleBySerial("1", &found_), Code::kNotFound);
}

TEST_F(ExportsLookup, ALostGpuIsNotFoundByAnything) {
  const std::string uuid = uuid_of(device(1));
  const Device lost = device(1);
  machine_.change(1, [](GpuRecord& gpu) { nvml_sim::lose(gpu); });
  EXPECT_EQ(nvmlDeviceGetHandleByIndex_v2(1, &found_), Code::kGpuIsLost);
  EXPECT_EQ(nvmlDeviceGetHandleByUUID(uuid.c_str(), &found_), Code::kGpuIsLost);
  EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2("0F:00.0", &found_), Code::kGpuIsLost);
  EXPECT_EQ(nvmlDeviceGetHandleByIndex_v2(2, &found_), Code::kSuccess);
  char uuid_read[kUuidV2Bytes] = {};
  EXPECT_EQ(nvmlDeviceGetUUID(lost, uuid_read, sizeof(uuid_read)), Code::kGpuIsLost);
  EXPECT_EQ(nvmlDeviceGetUUID(lost, nullptr, 10), Code::kInvalidArgument) << "arguments come first";
  std::uint32_t count = 0;
  EXPECT_EQ(nvmlDeviceGetCount_v2(&count), Code::kSuccess);
  EXPECT_EQ(count, 3U);
}

TEST_F(ExportsLookup, MigDevicesAreFoundByTheirUuidWhileTheyExist) {
  GpuInstance instance = nullptr;
  ComputeInstance compute = nullptr;
  const auto create = [&] {
    ASSERT_EQ(nvmlDeviceCreateGpuInstance(device(1), 19, &instance), Code::kSuccess);
    ASSERT_EQ(nvmlGpuInstanceCreateComputeInstance(instance, 0, &compute), Code::kSuccess);
  };
  create();
  Device mig_device = nullptr;
  ASSERT_EQ(nvmlDeviceGetMigDeviceHandleByIndex(device(1), 0, &mig_device), Code::kSuccess);
  const std::string uuid = uuid_of(mig_device);
  EXPECT_EQ(uuid.substr(0, 4), "MIG-");
  EXPECT_EQ(nvmlDeviceGetHandleByUUID(uuid.c_str(), &found_), Code::kSuccess);
  EXPECT_EQ(found_, mig_device);
  ASSERT_EQ(nvmlComputeInstanceDestroy(compute), Code::kSuccess);
  EXPECT_EQ(nvmlDeviceGetHandleByUUID(uuid.c_str(), &found_), Code::kNotFound);
  ASSERT_EQ(nvmlGpuInstanceDestroy(instance), Code::kSuccess);
  create();
  EXPECT_EQ(nvmlDeviceGetHandleByUUID(uuid.c_str(), &found_), Code::kSuccess) << "UUIDs come back with the ids";
  EXPECT_NE(found_, mig_device) << "handles do not";
}

}  // namespace
}  // namespace berth::nvml_abi
