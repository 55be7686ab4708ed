/// What a process may do beyond an ordinary one (capabilities(7)).
#pragma once

#include "base/core/result.h"

namespace berth::edges {

/// Gives up every capability of the calling thread for good: bounding, ambient, inheritable, permitted and effective
/// set, and nothing that it executes can get one back (PR_SET_NO_NEW_PRIVS). It keeps its user, root included. To be
/// called before any other thread exists. Error (kUnavailable): one is left.
[[nodiscard]] Result<void> drop_capabilities();

/// Whether the driver lets this process change GPUs: CAP_SYS_ADMIN is effective, or root has any capability (a
/// container's root often has some without that one, and the driver's device files let it pass).
[[nodiscard]] bool may_change_gpus();

}  // namespace berth::edges
