/// Services that come through an API, not from a scenario file. The format: docs/reference/scenario.md.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/core/result.h"
#include "base/core/rows.h"
#include "base/yaml/reader.h"
#include "domain/values/rows_blobs.h"
#include "domain/values/scenario.h"

namespace berth::scenario {

/// Of one service of an API.
inline constexpr std::int64_t kVariantsMax = 64;
/// Of the tables of one service of an API together. The rows of a blob count each time that one refers to it, those of
/// other models, too: they are read.
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
/// are legal. Nothing is done on failure but to keep it in the value's report, with its field (`spec.slo.latency_ms`,
/// if `spec` was reached under that key), what was wanted and what was found. O(size of the value).
[[nodiscard]] ServiceSpec read_service_object(const yaml::Value& spec, const Scenario& scenario,
                                              std::span<const Pin> pins_of_others = {});

/// The same for a spec that was accepted before, perhaps by an earlier version: whatever its tables hold together.
[[nodiscard]] ServiceSpec read_accepted_service_object(const yaml::Value& spec, const Scenario& scenario);

/// The rows of a blob: `list`, as they would stand in place of the reference, or `csv`, as in a file of the format csv.
struct BlobRows {
  std::string csv = {};
  std::optional<yaml::Node> list = std::nullopt;
};
/// The rows of the blob with that SHA-256, 64 digits and small letters; nothing if it is not there. An error: it has no
/// rows, or cannot be read.
using FindBlobRows = std::function<Result<std::optional<BlobRows>>(const std::string& sha256)>;

/// A spec, and which of its tables came from blobs.
struct ServiceObject {
  ServiceSpec spec;
  RowsBlobs blobs;
};

/// The same, where `rows` may also be `{blob: SHA256}`. A blob that is not there or has no such rows is a failure at
/// `rows.blob`.
[[nodiscard]] ServiceObject read_service_object(const yaml::Value& spec, const Scenario& scenario,
                                                std::span<const Pin> pins_of_others, const FindBlobRows& find_rows);

}  // namespace berth::scenario
