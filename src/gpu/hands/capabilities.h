/// The privileges of a process (capabilities(7)).
#pragma once

#include "base/core/result.h"

namespace berth::edges {

/// Permanently drops every capability of the calling thread: bounding, ambient, inheritable, permitted and effective
/// set; programs that it executes cannot regain one (PR_SET_NO_NEW_PRIVS). It keeps its user, root included. Requires:
/// no other thread exists. Error (kUnavailable): a capability is left.
[[nodiscard]] Result<void> drop_capabilities();

/// Whether the driver lets this process change GPUs: CAP_SYS_ADMIN is effective, or root has any capability (a
/// container's root often has some without that one, and the driver's device files accept it).
[[nodiscard]] bool may_change_gpus();

}  // namespace berth::edges
