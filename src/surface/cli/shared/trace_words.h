/// The words of verbs that read a recorded trace: its format, and the seconds that count.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/files.h"

namespace berth::cli {

/// As typed. `app`, `function` and `seed` are for azure-functions only.
struct TraceWords {
  std::string path;
  std::string format;
  std::optional<std::string> app = std::nullopt;
  std::optional<std::string> function = std::nullopt;
  std::string from_second = "0";
  std::optional<std::string> seconds = std::nullopt;
  std::string seed = "1";
};

enum class TraceFormat { kRpsText, kCsv, kAzureLlm, kAzureFunctions };

/// Checked, as far as possible without the trace.
struct TraceRequest {
  std::string path;
  TraceFormat format = TraceFormat::kRpsText;
  std::optional<std::string> app;       ///< of azure-functions: at most one of these two; neither: all functions summed
  std::optional<std::string> function;  ///< likewise
  std::int64_t from_second = 0;
  std::optional<std::int64_t> seconds;  ///< absent: to the trace's end
  std::uint64_t seed = 1;               ///< of the arrivals within a minute
};

/// Refuses an empty path, formats that are not `known`, --app and --function together or with another format than
/// azure-functions, and numbers out of range.
[[nodiscard]] Result<TraceRequest> check_trace_words(const TraceWords& words, std::span<const TraceFormat> known);

/// The requests of each second of the trace up to the end of the window, which ends with the trace at the latest; those
/// before from_second are history. Errors: those of the file; a window that begins after the trace.
[[nodiscard]] Result<std::vector<std::uint32_t>> read_trace_counts(const TraceRequest& request, const Files& files);

}  // namespace berth::cli
