/// Watches what a search spends.
#pragma once

#include <cstdint>
#include <functional>

namespace berth::purchase::advise {

/// Learns how many nodes a part of the search has used so far, and says whether it may go on. Absent: it may.
using NodeWatch = std::function<bool(std::int64_t nodes)>;

[[nodiscard]] inline bool may_go_on(const NodeWatch& watch, std::int64_t nodes) { return !watch || watch(nodes); }

}  // namespace berth::purchase::advise
