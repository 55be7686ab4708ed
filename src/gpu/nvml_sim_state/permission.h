/// Whether this process may change devices.
#pragma once

namespace berth::edges {

/// As the driver decides it for MIG: root, or who has CAP_SYS_ADMIN. A root that has dropped all its capabilities is
/// nobody special.
[[nodiscard]] bool may_change_devices();

}  // namespace berth::edges
