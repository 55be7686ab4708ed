#include "gpu/nvml_sim_state/permission.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

namespace berth::edges {

bool may_change_devices() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> capabilities{};
  if (::syscall(SYS_capget, &header, capabilities.data()) != 0) return false;
  const bool has_admin = (capabilities[0].effective & (1U << CAP_SYS_ADMIN)) != 0;
  // Root in a container often has some capabilities without this one, and the driver's device files accept it.
  const bool has_any = capabilities[0].effective != 0 || capabilities[1].effective != 0;
  return has_admin || (::geteuid() == 0 && has_any);
}

}  // namespace berth::edges
