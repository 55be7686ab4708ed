/// What `berth up` and `berth gateway` send to each other, as JSON.
///
/// Readers ignore unknown keys. Their errors are kInvalidInput: "SOURCE:LINE:COLUMN: PATH: wanted .., found ..", for a
/// text that is not JSON or too large, a key that is missing or of another kind, a value outside its bounds, and what
/// is stated at each reader. O(bytes).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/core/result.h"
#include "domain/values/endpoints.h"
#include "domain/values/request_record.h"

namespace berth::serving {

inline constexpr std::size_t kTableBytesMax = std::size_t{4} << 20U;
inline constexpr std::size_t kReportBytesMax = std::size_t{512} << 10U;
inline constexpr std::size_t kTableServiceCountMax = 10'000;
inline constexpr std::size_t kTableReplicaCountMax = 1'000;  ///< of a service
inline constexpr std::size_t kReplicaLatencyCountMax = 64;
inline constexpr std::size_t kReplicaKeyBytesMax = 256;
inline constexpr std::size_t kReportRecordCountMax = 2'000;
inline constexpr std::int64_t kReplicaBatchMax = 65'536;
inline constexpr std::int64_t kReplicaInFlightMax = 100'000;
inline constexpr Micros kAnswerMax = Micros::seconds(86'400);

/// In one line, without its end.
[[nodiscard]] std::string endpoint_table_json(const EndpointTable& table);
/// Also refused: two services of one name and tenant, two replicas of a service with one slice and generation, a URL
/// other than http://127.0.0.1:PORT, a key or slice with other than visible characters of ASCII, `answer` before
/// `target`, sizes of batches that do not ascend.
[[nodiscard]] Result<EndpointTable> read_endpoint_table(std::string_view text, std::string_view source);

[[nodiscard]] std::string request_report_json(const RequestReport& report);
/// At least the bytes of a record in the JSON of a report. O(1).
[[nodiscard]] std::size_t request_record_bytes_max(const RequestRecord& record);
/// Also refused: records whose numbers are not consecutive, buckets that do not ascend, counts of buckets whose sum is
/// not that of the answers.
[[nodiscard]] Result<RequestReport> read_request_report(std::string_view text, std::string_view source);

/// The answer to a report: records of its gateway up to this number are stored durably.
[[nodiscard]] std::string records_answer_json(std::uint64_t until);
[[nodiscard]] Result<std::uint64_t> read_records_answer(std::string_view text, std::string_view source);

}  // namespace berth::serving
