/// What a pod waits for, in words for people.
#pragma once

#include <string>
#include <vector>

#include "base/core/result.h"
#include "kube/placing/action.h"
#include "kube/placing/placing.h"

namespace berth::kube {

/// Lines that say where the pod stands: bound, about to get devices, or what it is short of. `actions` is what the
/// placing has just decided. Error: kNotFound, there is no such pod.
[[nodiscard]] Result<std::string> explain_pod(const Placing& placing, const std::vector<Action>& actions,
                                              const ObjectName& pod);

}  // namespace berth::kube
