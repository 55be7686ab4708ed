#include "kube/services/spec_write.h"

#include <fmt/format.h>

#include "base/json/document.h"
#include "base/json/node_text.h"
#include "kube/client/status.h"

namespace berth::kube {
namespace {

constexpr int kNoSuchObject = 404;
constexpr int kTooMany = 429;
constexpr int kServerErrors = 500;

bool is_deletion(SpecWriteKind kind) {
  return kind == SpecWriteKind::kDeleteService || kind == SpecWriteKind::kDeleteTenant;
}

}  // namespace

std::string SpecWrite::path() const {
  std::string path = "/v1/tenants/" + percent_encoded(tenant);
  if (!service.empty()) path += "/services/" + percent_encoded(service);
  return path;
}

std::string_view SpecWrite::method() const { return is_deletion(kind) ? "DELETE" : "PUT"; }

SpecAnswer answer_of_api(const SpecWrite& write, int status, std::string_view body) {
  if (is_success(status) || (is_deletion(write.kind) && status == kNoSuchObject)) return {};
  SpecAnswer answer;
  answer.verdict = status >= kServerErrors || status == kTooMany ? SpecVerdict::kFailed : SpecVerdict::kRefused;
  const auto error = json::parse_document(body, "answer");
  if (!error) {
    answer.message = fmt::format("status {}", status);
    return answer;
  }
  const auto part = [&](std::string_view key) { return std::string(json::text_at(*error, {"error", key})); };
  answer.field = part("field");
  answer.wanted = part("wanted");
  answer.found = part("found");
  answer.message = part("message");
  // The API names the source of what it reads, which is always the same here.
  constexpr std::string_view kSource = "body: ";
  if (answer.message.starts_with(kSource)) answer.message.erase(0, kSource.size());
  return answer;
}

}  // namespace berth::kube
