/// Which plans wait for approval.
#pragma once

#include <cstdint>

namespace berth {

/// A first layout that stands at once never does.
enum class Approval : std::uint8_t {
  kNever,
  kFirst,  ///< those that change a GPU which no plan has changed since the first layout; they wait as a whole
  kAlways,
};

}  // namespace berth
