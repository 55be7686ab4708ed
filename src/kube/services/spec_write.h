/// A write of a tenant or a service to the session, in the form of the API, and its answer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kube/client/resource.h"

namespace berth::kube {

enum class SpecWriteKind : std::uint8_t { kPutTenant, kPutService, kDeleteService, kDeleteTenant };

struct SpecWrite {
  SpecWriteKind kind = SpecWriteKind::kPutTenant;
  std::string tenant;
  std::string service = {};  ///< empty for tenants
  std::string body = {};     ///< JSON of a PUT: `metadata.labels`, and `spec` as the object has it; empty for deletions
  std::string uid = {};      ///< of the object; empty: the tenant has none, or the object is gone
  std::int64_t generation = 0;

  /// "/v1/tenants/vision/services/detector".
  [[nodiscard]] std::string path() const;
  /// "PUT" or "DELETE".
  [[nodiscard]] std::string_view method() const;
};

enum class SpecVerdict : std::uint8_t {
  kAccepted,
  kRefused,  ///< for what it says; it may be accepted when something else has changed
  kFailed,   ///< it could not be carried out now
};

struct SpecAnswer {
  SpecVerdict verdict = SpecVerdict::kAccepted;
  std::string field = {};  ///< "spec.slo.latency_ms"; may be empty, as the other two
  std::string wanted = {};
  std::string found = {};
  std::string message = {};  ///< of a refusal or failure
};

/// The answer of the API: its status, and the body of an error. 2xx is accepted, so is 404 to a deletion; 5xx and 429
/// have failed.
[[nodiscard]] SpecAnswer answer_of_api(const SpecWrite& write, int status, std::string_view body);

}  // namespace berth::kube
