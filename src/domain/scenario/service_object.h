/// Services given through an API, not in a scenario file. The format: docs/reference/scenario.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "base/core/rows.h"
#include "base/yaml/reader.h"
#include "domain/values/rows_blobs.h"
#include "domain/values/scenario.h"

namespace berth::scenario {

/// The most variants of one service of an API.
inline constexpr std::int64_t kVariantsMax = 64;
/// The most rows in all tables of one service of an API together. The rows of a blob, including those of other models,
/// count for each reference to it, because they are read each time.
inline constexpr std::int64_t kTableRowsMax = kRowCountMax;

/// The `spec` of a service: the fields of a service in a scenario file, by the same readers, but
/// - without `name` and `tenant`, which stay empty;
/// - with at most kVariantsMax variants and, in the profile and all variants together, kTableRowsMax rows;
/// - `profile`, also of variants, is `{format: csv, model, rows: [{model, gpu, profile, batch, processes,
///   requests_per_second, latency_ms}]}`, `arrivals` a generator or `{format: csv, rows: [{second, requests}]}` with
///   the other keys as in a file (30 days at most), `retraining.seconds_on` a map; a `path` is refused;
/// - `arrivals` may be absent: then no requests come, and `Arrivals::is_given()` is false.
///
/// Pins are resolved in the fleet of `scenario`; they must not clash with each other or with `pins_of_others`, which
/// are legal. A failure is only kept in the value's report, with its field (`spec.slo.latency_ms`, if `spec` was
/// reached under that key), what was wanted and what was found. O(size of the value).
[[nodiscard]] ServiceSpec read_service_object(const yaml::Value& spec, const Scenario& scenario,
                                              std::span<const Pin> pins_of_others = {});

/// A table with a row whose columns contradict each other above 1.05 (domain/profile/contradiction.h).
struct ExcessiveTable {
  std::size_t number = 0;  ///< 0 is the profile, then the variants in their order
  yaml::Failure failure;   ///< at the worst row
};

/// The same for a spec that was accepted before, perhaps by an earlier version: without the limit on rows.
[[nodiscard]] ServiceSpec read_accepted_service_object(const yaml::Value& spec, const Scenario& scenario);

/// `tier` and `known_on` of such a spec, whose other fields are known: the bytes of a spec do not have them.
[[nodiscard]] TierRule read_accepted_tier_rule(const yaml::Value& spec, const Scenario& scenario,
                                               const ServiceSpec& rest);

/// `run` and `replicas`, and `warm_pool`, `answer_seconds` and the model's part of `start_seconds`, likewise.
[[nodiscard]] Running read_accepted_running(const yaml::Value& spec);
[[nodiscard]] Readiness read_accepted_readiness(const yaml::Value& spec, const Scenario& scenario,
                                                const ServiceSpec& rest);

/// The rows of a blob: `list`, in the form that could replace the reference, or `csv`, as in a file of the format csv.
struct BlobRows {
  std::string csv = {};
  std::optional<yaml::Node> list = std::nullopt;
};
/// The rows of the blob with that SHA-256 (64 lower-case hexadecimal digits); nothing if there is no such blob. An
/// error if it has no rows or cannot be read.
using FindBlobRows = std::function<Result<std::optional<BlobRows>>(const std::string& sha256)>;

/// A spec, which of its tables came from blobs, and which of them are to be refused if they are new.
struct ServiceObject {
  ServiceSpec spec;
  RowsBlobs blobs;
  std::vector<ExcessiveTable> excessive;
};

/// The same, where `rows` may also be `{blob: SHA256}`, unless `find_rows` is empty. A missing blob, or one without
/// such rows, is a failure at `rows.blob`. Contradicting columns are no failure here: the report gets a warning of each
/// table with such rows.
[[nodiscard]] ServiceObject read_service_object(const yaml::Value& spec, const Scenario& scenario,
                                                std::span<const Pin> pins_of_others, const FindBlobRows& find_rows);

}  // namespace berth::scenario
