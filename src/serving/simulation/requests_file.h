/// The file of recorded requests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "serving/dispatch/request.h"

namespace berth::serving {

/// Requests by arrival; their numbers are their rows, from 0, and their indices places in the names.
struct RecordedRequests {
  std::vector<std::string> models;   ///< in byte order, each that some request names
  std::vector<std::string> tenants;  ///< likewise
  std::vector<Request> requests;
};

/// CSV, `time_us,model,tenant,target_us,priority`. Errors, as FILE:LINE:COLUMN: unreadable fields, a target or a time
/// out of range, names of more than 63 bytes, rows that are not sorted by time, no row.
[[nodiscard]] Result<RecordedRequests> read_requests(std::string_view text, std::string_view file);

}  // namespace berth::serving
