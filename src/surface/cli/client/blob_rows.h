/// Long tables of the spec of a service, put aside as blobs: a request with all of their rows would be too large.
#pragma once

#include <string>
#include <vector>

#include "base/yaml/document.h"

namespace berth::cli {

/// Bytes for PUT /v1/blobs/SHA256.
struct Blob {
  std::string sha256;  ///< 64 digits and small letters
  std::string bytes;
};

/// Replaces `rows` whose JSON is longer than 256 KiB by `{blob: SHA256}`, and returns the blobs: arrivals as CSV, which
/// is short, profiles as JSON. Requires: `spec` is a map that the server would accept.
[[nodiscard]] std::vector<Blob> take_long_rows(yaml::Node& spec);

/// Whether some `rows` refer to a blob: only the server knows whether they are right.
[[nodiscard]] bool refers_to_blobs(const yaml::Node& spec);

}  // namespace berth::cli
