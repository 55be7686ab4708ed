/// Moves long tables of a service's spec into blobs: a request with all of their rows would be too large.
#pragma once

#include <string>
#include <vector>

#include "base/yaml/document.h"

namespace berth::cli {

/// Bytes for PUT /v1/blobs/SHA256.
struct Blob {
  std::string sha256;  ///< 64 lower-case hexadecimal digits
  std::string bytes;
};

/// Replaces `rows` whose JSON is longer than 256 KiB with `{blob: SHA256}`, and returns the blobs: arrivals as CSV,
/// which is shorter, profiles as JSON. Requires: `spec` is a map that the server would accept.
[[nodiscard]] std::vector<Blob> take_long_rows(yaml::Node& spec);

/// Whether some `rows` refer to a blob: only the server can check these.
[[nodiscard]] bool refers_to_blobs(const yaml::Node& spec);

}  // namespace berth::cli
