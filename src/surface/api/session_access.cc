#include "surface/api/session_access.h"

#include "live/session/session.h"

namespace berth::api {

void SessionAccess::refresh() const { session_.refresh(); }

}  // namespace berth::api
