/// How an API server refuses: an object of kind Status.
#pragma once

#include <string>
#include <string_view>

#include "base/core/result.h"
#include "base/yaml/document.h"
#include "domain/ports/kube_api.h"

namespace berth::kube {

struct Refusal {
  int code = 0;         ///< as the status of HTTP
  std::string reason;   ///< "Expired", "Conflict"; may be empty
  std::string message;  ///< may be empty
};

/// What a Status says; the code is 0 where it has none.
[[nodiscard]] Refusal refusal_in(const yaml::Node& status);
/// That of an answer, whose body may be something else.
[[nodiscard]] Refusal refusal_of(const KubeAnswer& answer);
/// "METHOD TARGET: 403 Forbidden: message". kNotFound for 404, kInvalidInput for other 4xx, else kUnavailable.
[[nodiscard]] Error error_of(const KubeCall& call, const KubeAnswer& answer);

[[nodiscard]] inline bool is_success(int status) { return status >= 200 && status < 300; }

}  // namespace berth::kube
