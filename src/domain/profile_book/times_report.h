/// What `berth serve` answers to `/berth/v1/times` and `/berth/v1/memory`, as a report.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "domain/values/profile_run.h"

namespace berth::profile_book {

/// The texts of both answers, from one server.
struct ServerAnswers {
  std::string url;  ///< of the server, without a slash at its end
  std::string_view times;
  std::string_view memory;
};

/// Unknown keys are ignored, so are sizes without batches and models whose memory is not known. Errors, kInvalidInput:
/// not JSON, a key that is missing or has another kind, a negative or too large number, a sha256 that is not 64
/// hexadecimal digits, two items of the same model, version, content and batch: "URL/berth/v1/times:LINE:COLUMN: ..".
[[nodiscard]] Result<TimesReport> read_times_report(const ServerAnswers& answers);

/// What the models of the server with that URL take, by its answer to `/berth/v1/memory` alone. Errors: likewise.
[[nodiscard]] Result<std::vector<ObservedMemory>> read_memory_answer(const std::string& url, std::string_view text);

}  // namespace berth::profile_book
