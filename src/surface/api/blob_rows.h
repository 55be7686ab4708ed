/// Rows that a service's spec gives by reference to a blob.
#pragma once

#include <optional>
#include <string>

#include "domain/ports/http_server.h"
#include "domain/scenario/service_object.h"
#include "surface/api/api_context.h"
#include "surface/api/api_error.h"

namespace berth::api {

/// Whether the body may have such references. May be true for a body without any, never false for one that has them.
[[nodiscard]] bool may_refer_to_blobs(const HttpRequest& request);

/// Reads blobs as rows: JSON if they begin with `[`, else CSV.
class BlobRowsReader {
 public:
  explicit BlobRowsReader(const BlobStore& blobs) : blobs_(blobs) {}

  [[nodiscard]] scenario::FindBlobRows finder();
  /// Why a blob that exists could not be read; absent if none failed.
  [[nodiscard]] const std::optional<ApiError>& failure() const { return failure_; }

 private:
  [[nodiscard]] Result<std::optional<scenario::BlobRows>> read(const std::string& name);

  const BlobStore& blobs_;
  std::optional<ApiError> failure_;
};

}  // namespace berth::api
