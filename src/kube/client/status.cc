#include "kube/client/status.h"

#include <fmt/format.h>

#include "base/json/document.h"
#include "base/json/node_text.h"
#include "base/json/tree.h"

namespace berth::kube {
namespace {

constexpr int kNoSuchPath = 404;

}  // namespace

Refusal refusal_in(const yaml::Node& status) {
  Refusal refusal;
  refusal.reason = json::text_at(status, {"reason"});
  refusal.message = json::text_at(status, {"message"});
  if (const yaml::Node* code = json::find_member(status, "code")) {
    refusal.code = json::integer_in<int>(*code).value_or(0);
  }
  return refusal;
}

Refusal refusal_of(const KubeAnswer& answer) {
  Refusal refusal;
  if (const auto body = json::parse_document(answer.body, "answer")) {
    if (json::text_at(*body, {"kind"}) == "Status") refusal = refusal_in(*body);
  }
  refusal.code = answer.status;
  return refusal;
}

Error error_of(const KubeCall& call, const KubeAnswer& answer) {
  const Refusal refusal = refusal_of(answer);
  const bool is_of_caller = answer.status >= 400 && answer.status < 500;
  ErrorCode code = is_of_caller ? ErrorCode::kInvalidInput : ErrorCode::kUnavailable;
  if (answer.status == kNoSuchPath) code = ErrorCode::kNotFound;
  return {code,
          fmt::format("{} {}: {}{}{}{}{}", call.method, call.target, answer.status, refusal.reason.empty() ? "" : " ",
                      refusal.reason, refusal.message.empty() ? "" : ": ", refusal.message)};
}

}  // namespace berth::kube
