/// Writes the journal of a replay: one JSON object per line, as docs/reference/replay.md says. Fast enough for millions
/// of lines.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "domain/values/scenario.h"
#include "sim/world/journal.h"
#include "world/slices/slice_records.h"

namespace berth::edges {

/// Receives the next bytes of the journal.
using ByteSink = std::function<Result<void>(std::string_view)>;

/// Turns records into lines and passes them to the sink in large blocks. After a failure of the sink it keeps the error
/// and writes nothing more, so that the caller need not check after every line.
class RunJournalWriter {
 public:
  /// `scenario` is borrowed and must outlive the writer.
  RunJournalWriter(const Scenario& scenario, ByteSink sink);

  /// Appends one line.
  void write(std::string_view policy, const sim::JournalRecord& record);
  /// Updates the name of the service with this id, which is at most one beyond the known ones.
  void read_name(ServiceId service);
  /// Passes the rest to the sink. Returns the sink's first error, if any.
  [[nodiscard]] Result<void> finish();
  [[nodiscard]] bool has_failed() const { return error_.has_value(); }

 private:
  void begin_policy(std::string_view policy);
  void write_slice(const world::SliceRecord& record);
  void write_second(const sim::SecondRecord& record);
  void write_gpu(const sim::GpuRecord& record);
  void write_tier(const sim::TierRecord& record);
  void write_warm(const sim::WarmRecord& record);
  void hand_on();

  const Scenario& scenario_;
  ByteSink sink_;
  std::vector<std::string> service_names_;  ///< as JSON, by ServiceId
  std::string policy_;
  std::string policy_part_;                ///< ,"policy":"..","type":"
  std::vector<std::string> second_parts_;  ///< ,"policy":..,"service":"..","second": by ServiceId
  std::string buffer_;
  std::optional<Error> error_;
};

}  // namespace berth::edges
