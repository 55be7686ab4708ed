#include "gpu/nvml/detail/gpu_reading.h"

#include <gtest/gtest.h>

#include "gpu/nvml/test_failures.h"

namespace berth::edges::detail {
namespace {

using nvml_abi::Code;
using nvml_abi::Device;
using nvml_abi::FieldValue;

/// A GPU without MIG whose driver is asked for one field. The answer is a template argument, as functions of C have no
/// other place for it.
template <Code kCode, Code kFieldCode = Code::kSuccess, std::uint32_t kValue = 0>
GpuAnswer<GpuReading> read_field() {
  Functions functions;
  functions.nvmlDeviceGetMigMode = [](Device, std::uint32_t*, std::uint32_t*) { return Code::kNotSupported; };
  functions.nvmlDeviceGetFieldValues = [](Device, std::int32_t count, FieldValue* field) {
    EXPECT_EQ(count, 1);
    EXPECT_EQ(field->field_id, 230U);
    field->code = kFieldCode;
    field->value.unsigned_int = kValue;
    return kCode;
  };
  KnownProfiles profiles;
  return read_gpu(functions, nullptr, profiles);
}

TEST(GpuReadingOfNvml, RecoveryActionsAreWords) {
  EXPECT_EQ(read_field<Code::kSuccess>()->recovery_action, "none");
  EXPECT_EQ((read_field<Code::kSuccess, Code::kSuccess, 1>()->recovery_action), "gpu_reset");
  EXPECT_EQ((read_field<Code::kSuccess, Code::kSuccess, 4>()->recovery_action), "drain_and_reset");
  EXPECT_EQ((read_field<Code::kSuccess, Code::kSuccess, 4711>()->recovery_action), "action_4711");
}

TEST(GpuReadingOfNvml, DriversWithoutRecoveryActionsHaveNone) {
  EXPECT_EQ((read_field<Code::kSuccess, Code::kNotSupported, 1>()->recovery_action), "none");
  EXPECT_EQ((read_field<Code::kSuccess, Code::kInvalidArgument, 1>()->recovery_action), "none");
  EXPECT_EQ((read_field<Code::kNotSupported, Code::kSuccess, 1>()->recovery_action), "none");
  EXPECT_TRUE(failure_of(read_field<Code::kSuccess, Code::kGpuIsLost>()).is_gpu_lost);
  EXPECT_TRUE(failure_of(read_field<Code::kGpuIsLost>()).is_gpu_lost);
}

TEST(GpuReadingOfNvml, OverlappingInstancesAreNoticed) {
  const auto instance = [](int start, int length) {
    return GpuInstanceSeen{.id = 0, .profile_id = 0, .start = start, .length = length, .compute_instances = {}};
  };
  GpuReading reading;
  EXPECT_FALSE(has_overlap(reading));
  reading.instances = {instance(0, 4), instance(4, 2), instance(7, 1)};
  EXPECT_FALSE(has_overlap(reading));
  reading.instances = {instance(0, 8), instance(6, 1)};
  EXPECT_TRUE(has_overlap(reading));
}

TEST(GpuReadingOfNvml, WithMigOnADriverThatNamesNoProfilesIsAFailure) {
  Functions functions;
  functions.nvmlDeviceGetMigMode = [](Device, std::uint32_t* current, std::uint32_t* pending) {
    *current = *pending = nvml_abi::kMigEnabled;
    return Code::kSuccess;
  };
  functions.nvmlDeviceGetGpuInstanceProfileInfo = [](Device, std::uint32_t, nvml_abi::GpuInstanceProfileV1*) {
    return Code::kInvalidArgument;
  };
  KnownProfiles profiles;
  const auto reading = read_gpu(functions, nullptr, profiles);
  ASSERT_FALSE(reading.has_value());  // not "the GPU is empty"
  EXPECT_TRUE(is_disturbed(reading.error()));
}

/// A GPU instance that is destroyed while the driver is asked for its compute instance profiles has no more of them.
TEST(GpuReadingOfNvml, ProfilesOfAVanishedInstanceAreNotRemembered) {
  Functions functions;
  functions.nvmlDeviceGetMigMode = [](Device, std::uint32_t* current, std::uint32_t* pending) {
    *current = *pending = nvml_abi::kMigEnabled;
    return Code::kSuccess;
  };
  functions.nvmlDeviceGetGpuInstances = [](Device, std::uint32_t, nvml_abi::GpuInstance*, std::uint32_t* count) {
    *count = 1;
    return Code::kSuccess;
  };
  static bool is_there = true;
  functions.nvmlGpuInstanceGetInfo = [](nvml_abi::GpuInstance, nvml_abi::GpuInstanceDescription*) {
    return is_there ? Code::kSuccess : Code::kInvalidArgument;
  };
  functions.nvmlGpuInstanceGetComputeInstanceProfileInfo =
      [](nvml_abi::GpuInstance, std::uint32_t number, std::uint32_t, nvml_abi::ComputeInstanceProfileV1* profile) {
        is_there = number == 0;
        profile->id = number;
        return is_there ? Code::kSuccess : Code::kInvalidArgument;
      };
  KnownProfiles profiles{.sizes = {{.id = 19, .slices = 1}}, .computes = {}};
  const GpuCallFailure failure = failure_of(read_gpu(functions, nullptr, profiles));
  EXPECT_EQ(failure.call, "nvmlGpuInstanceGetInfo");
  EXPECT_TRUE(is_disturbed(failure));
  EXPECT_TRUE(profiles.computes.empty());
}

}  // namespace
}  // namespace berth::edges::detail
