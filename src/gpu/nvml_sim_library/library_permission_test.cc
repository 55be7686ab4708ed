// Who may change devices, and that every process may read them.
#include <grp.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "gpu/nvml_sim_library/exports.h"
#include "gpu/nvml_sim_library/testing/simulated.h"
#include "gpu/nvml_sim_state/testing/child.h"

namespace berth::nvml_abi {
namespace {

using edges::testing::device;
using edges::testing::run_in_child;
using edges::testing::Simulated;

constexpr uid_t kNobody = 65534;
constexpr std::uint32_t kAdmin = 1U << CAP_SYS_ADMIN;
constexpr std::uint32_t kChown = 1U << CAP_CHOWN;

/// Leaves only these of the capabilities 0 to 31 to this process.
bool keep(std::uint32_t capabilities) {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> data{};
  data[0].effective = data[0].permitted = capabilities;
  return ::syscall(SYS_capset, &header, data.data()) == 0;
}

/// Whether this process may make changes with its capabilities: 0 refused, 1 allowed, more: the test is broken.
int answer_after(bool is_prepared) {
  if (!is_prepared) return 9;
  std::uint32_t current = 0;
  std::uint32_t pending = 0;
  if (nvmlInit_v2() != Code::kSuccess) return 8;
  const Device gpu = device();
  if (nvmlDeviceGetMigMode(gpu, &current, &pending) != Code::kSuccess) return 7;  // every process may read
  Code activation = Code::kSuccess;
  GpuInstance instance = nullptr;
  const Code mode = nvmlDeviceSetMigMode(gpu, kMigEnabled, &activation);
  const Code created = nvmlDeviceCreateGpuInstance(gpu, 19, &instance);
  if (mode == Code::kNoPermission && created == Code::kNoPermission) return 0;
  return mode == Code::kSuccess && created == Code::kSuccess ? 1 : 6;
}

class Permission : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become others";
    std::filesystem::permissions(std::filesystem::path(machine_.path()).parent_path(), std::filesystem::perms::all);
  }
  Simulated machine_{{"H100-80GB-SXM5"}};
};

TEST_F(Permission, RootMayChangeUnlessItDroppedEverything) {
  EXPECT_EQ(run_in_child([] { return answer_after(true); }), 1);
  EXPECT_EQ(run_in_child([] { return answer_after(keep(kChown)); }), 1) << "as the root of a container";
  EXPECT_EQ(run_in_child([] { return answer_after(keep(0)); }), 0);
  EXPECT_EQ(machine_.gpu(0).changing_calls, 6U) << "those that were refused are counted, too";
}

TEST_F(Permission, OthersMayChangeWithTheCapabilityOnly) {
  // Some test machines let only root into their folders.
  const auto become_nobody = [] {
    return ::setgroups(0, nullptr) == 0 && ::setresgid(kNobody, kNobody, kNobody) == 0 &&
           ::setresuid(kNobody, kNobody, kNobody) == 0;
  };
  const int can_open = run_in_child([&] {
    if (!become_nobody()) return 1;
    return ::access(machine_.path().c_str(), R_OK | W_OK) == 0 ? 0 : 2;
  });
  if (can_open != 0) GTEST_SKIP() << "another user cannot come to " << machine_.path();
  EXPECT_EQ(run_in_child([&] { return answer_after(become_nobody()); }), 0);
  const auto become_admin = [&] {
    return ::prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0 && become_nobody() && keep(kAdmin);
  };
  const int can_keep = run_in_child([&] { return become_admin() ? 0 : 1; });
  if (can_keep != 0) GTEST_SKIP() << "this root has no CAP_SYS_ADMIN to keep";
  EXPECT_EQ(run_in_child([&] { return answer_after(become_admin()); }), 1);
}

}  // namespace
}  // namespace berth::nvml_abi
