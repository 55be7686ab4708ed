#include "surface/model_api/testing/fake_inference_service.h"

#include <fmt/format.h>

#include <utility>

namespace berth::model_api {
namespace {

using serving::ServeFault;
using serving::ServeResult;

ServeResult<void> find_model(std::string_view model, std::string_view version) {
  if (model == "digits" && (version.empty() || version == "1")) return {};
  return serving::refuse(ServeFault::kUnknown, fmt::format("no model \"{}\" of version \"{}\"", model, version));
}

}  // namespace

ServeResult<serving::TenantIndex> FakeInferenceService::tenant_of(std::optional<std::string_view> authorization) const {
  if (keys.empty()) return serving::TenantIndex();
  constexpr std::string_view kScheme = "Bearer ";
  if (authorization && authorization->starts_with(kScheme)) {
    const auto key = keys.find(authorization->substr(kScheme.size()));
    if (key != keys.end()) return key->second;
  }
  return serving::refuse(ServeFault::kNoKey, "wanted the key of a tenant");
}

FakeInferenceService::RequestNumber FakeInferenceService::infer(serving::InferRequest request, AnswerDone when_done) {
  requests.push_back(std::move(request));
  if (answer_now) {
    when_done(*answer_now);
  } else {
    done.push_back(std::move(when_done));
  }
  if (during_infer) during_infer();
  return static_cast<RequestNumber>(requests.size());
}

serving::ServerMetadata FakeInferenceService::metadata() const {
  return {.name = "berth", .version = "0.1.0", .device = "cpu"};
}

ServeResult<serving::ModelMetadata> FakeInferenceService::model_metadata(std::string_view model,
                                                                         std::string_view version) const {
  if (const auto found = find_model(model, version); !found) return tl::unexpected(found.error());
  if (!model_ready) return serving::refuse(ServeFault::kUnavailable, "its file is not ONNX");
  return serving::ModelMetadata{.name = "digits",
                                .versions = {"1"},
                                .inputs = {{.name = "X", .type = TensorType::kFp32, .shape = {-1, 64}}},
                                .outputs = {{.name = "Y", .type = TensorType::kInt64, .shape = {-1}}},
                                .rows_max = 64};
}

ServeResult<bool> FakeInferenceService::is_model_ready(std::string_view model, std::string_view version) const {
  if (const auto found = find_model(model, version); !found) return tl::unexpected(found.error());
  return model_ready;
}

std::vector<serving::IndexEntry> FakeInferenceService::index() const {
  using serving::ModelState;
  return {{.name = "digits", .version = "1", .state = ModelState::kReady, .reason = "loads on request"},
          {.name = "other", .version = "", .state = ModelState::kUnavailable, .reason = "no version"}};
}

ServeResult<std::vector<serving::ModelStatistics>> FakeInferenceService::statistics(std::string_view model,
                                                                                    std::string_view version) const {
  if (!model.empty()) {
    if (const auto found = find_model(model, version); !found) return tl::unexpected(found.error());
  }
  serving::ModelStatistics statistics;
  statistics.name = "digits";
  statistics.version = "1";
  return std::vector{statistics};
}

void FakeInferenceService::load(std::string_view model, Micros lease, ModelDone when_done) {
  model_calls.push_back(fmt::format("load {} {}", model, lease.count()));
  when_done(model_answer);
}

void FakeInferenceService::unload(std::string_view model, ModelDone when_done) {
  model_calls.push_back(fmt::format("unload {}", model));
  when_done(model_answer);
}

}  // namespace berth::model_api
