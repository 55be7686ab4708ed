#include "live/session/entry.h"

namespace berth::live {

bool operator==(const Entry&, const Entry&) = default;

}  // namespace berth::live
