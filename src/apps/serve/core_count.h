/// The processor cores of this process.
#pragma once

namespace berth::serve {

/// Those that it may use, which can be fewer than the machine has; at least 1.
[[nodiscard]] int core_count();

}  // namespace berth::serve
