/// Watches the nodes that a search uses.
#pragma once

#include <cstdint>
#include <functional>

namespace berth::purchase::advise {

/// Called with the nodes that a part of the search has used so far; returns whether it may continue. Absent: it may.
using NodeWatch = std::function<bool(std::int64_t nodes)>;

[[nodiscard]] inline bool may_go_on(const NodeWatch& watch, std::int64_t nodes) { return !watch || watch(nodes); }

}  // namespace berth::purchase::advise
