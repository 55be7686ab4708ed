#include "serving/protocol/http_fault.h"

#include "base/core/ensure.h"
#include "base/json/writer.h"

namespace berth::serving::protocol {

int http_status(ServeFault fault) {
  switch (fault) {
    case ServeFault::kMalformed:
      return 400;
    case ServeFault::kNoKey:
      return 401;
    case ServeFault::kUnknown:
      return 404;
    case ServeFault::kTooLarge:
      return 413;
    case ServeFault::kRejected:
      return 429;
    case ServeFault::kEngineFailed:
      return 500;
    case ServeFault::kNotOffered:
      return 501;
    case ServeFault::kUnavailable:
      return 503;
    case ServeFault::kExpired:
      return 504;
    case ServeFault::kCancelled:
      return 499;
  }
  ENSURE(false);
  return 500;
}

std::string error_json(std::string_view message) {
  return json::Writer().open_object().member("error", message).close_object().take();
}

}  // namespace berth::serving::protocol
