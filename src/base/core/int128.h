/// Whole numbers of up to 127 bits.
#pragma once

namespace berth {

/// For exact work on scaled decimals, and money over long times.
__extension__ using Int128 = __int128;

}  // namespace berth
