#include "gpu/hands/capabilities.h"

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace berth::edges {
namespace {

using Sets = std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3>;

tl::unexpected<Error> trouble(const char* call) {
  return fail(ErrorCode::kUnavailable,
              fmt::format("capabilities cannot be dropped: {}: {}", call, std::strerror(errno)));
}

// libc has no wrapper, and libcap would be a dependency for two calls.
bool get_sets(Sets& sets) {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  return ::syscall(SYS_capget, &header, sets.data()) == 0;
}

bool set_sets(const Sets& sets) {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  return ::syscall(SYS_capset, &header, sets.data()) == 0;
}

/// A caller without CAP_SETPCAP cannot shrink its bounding set. That is harmless: without new privileges an executed
/// program has no more than its parent.
Result<void> drop_bounding_set() {
  constexpr int kNumbersMax = 64;  // the sets are 64 bits
  for (int number = 0; number < kNumbersMax; ++number) {
    if (::prctl(PR_CAPBSET_DROP, number, 0, 0, 0) == 0) continue;
    if (errno == EINVAL || errno == EPERM) return {};  // beyond the last one that the kernel knows
    return trouble("PR_CAPBSET_DROP");
  }
  return {};
}

}  // namespace

Result<void> drop_capabilities() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return trouble("PR_SET_NO_NEW_PRIVS");
  if (auto dropped = drop_bounding_set(); !dropped) return dropped;
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) return trouble("PR_CAP_AMBIENT");
  if (!set_sets({})) return trouble("capset");
  Sets left{};
  if (!get_sets(left)) return trouble("capget");
  for (const auto& word : left) {
    if ((word.effective | word.permitted | word.inheritable) == 0) continue;
    return fail(ErrorCode::kUnavailable, "capabilities cannot be dropped: the kernel left some");
  }
  return {};
}

bool may_change_gpus() {
  Sets sets{};
  if (!get_sets(sets)) return false;
  const bool has_admin = (sets[0].effective & (1U << CAP_SYS_ADMIN)) != 0;
  const bool has_any = (sets[0].effective | sets[1].effective) != 0;
  return has_admin || (::geteuid() == 0 && has_any);
}

}  // namespace berth::edges
