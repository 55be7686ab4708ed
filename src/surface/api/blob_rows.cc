#include "surface/api/blob_rows.h"

#include <string>
#include <utility>

#include "base/json/document.h"
#include "live/chain/field_hash.h"

namespace berth::api {
namespace {

/// Values of a tree take 200 bytes each; a CSV table may have as many rows.
constexpr json::Limits kLimits{.text_bytes_max = std::size_t{64} << 20U, .value_count_max = 1'000'000};

}  // namespace

bool may_refer_to_blobs(const HttpRequest& request) {
  // JSON may write the key with escapes.
  return request.body.find("\"blob\"") != std::string::npos || request.body.find('\\') != std::string::npos;
}

scenario::FindBlobRows BlobRowsReader::finder() {
  if (!blobs_.read) return {};
  return [this](const std::string& name) { return read(name); };
}

Result<std::optional<scenario::BlobRows>> BlobRowsReader::read(const std::string& name) {
  using Rows = std::optional<scenario::BlobRows>;
  const auto blob = chain::sha256_of_hex(name);
  if (!blob) return Rows();
  auto bytes = blobs_.read(*blob);
  if (!bytes) {
    failure_ = ApiError{.status = 500, .code = "internal", .message = bytes.error().message};
    return fail(ErrorCode::kUnavailable, bytes.error().message);
  }
  if (!*bytes) return Rows();
  const std::size_t first = (*bytes)->find_first_not_of(" \t\r\n");
  if (first == std::string::npos || (**bytes)[first] != '[') return Rows({.csv = std::move(**bytes)});
  auto list = json::parse_document(**bytes, "blob", kLimits);
  if (!list) return invalid(list.error().message);
  return Rows({.list = std::move(*list)});
}

}  // namespace berth::api
