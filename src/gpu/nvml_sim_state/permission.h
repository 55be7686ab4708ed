/// Whether this process may change devices.
#pragma once

namespace berth::edges {

/// By the driver's rule for MIG: root, or a process with CAP_SYS_ADMIN. A root process that has dropped all
/// capabilities has no special rights.
[[nodiscard]] bool may_change_devices();

}  // namespace berth::edges
