/// A service for tests: it knows the model "digits", version 1, and answers when the test says so.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "serving/service/inference_service.h"

namespace berth::model_api {

class FakeInferenceService final : public serving::InferenceService {
 public:
  /// Keys of tenants; empty: a request needs none.
  std::map<std::string, serving::TenantIndex, std::less<>> keys;
  bool ready = true;
  bool model_ready = true;
  /// What infer answers at once; nothing: the test calls `done`.
  std::optional<serving::ServeResult<serving::InferAnswer>> answer_now;
  std::function<void()> during_infer;  ///< called before infer returns its number, unless empty
  /// What load and unload answer at once.
  serving::ServeResult<bool> model_answer = true;

  std::vector<serving::InferRequest> requests;  ///< that infer got
  std::vector<AnswerDone> done;                 ///< of those that are not answered at once
  std::vector<RequestNumber> cancelled;
  std::vector<std::string> model_calls;  ///< "load digits 60000000", "unload digits"

  [[nodiscard]] serving::ServeResult<serving::TenantIndex> tenant_of(
      std::optional<std::string_view> authorization) const override;
  RequestNumber infer(serving::InferRequest request, AnswerDone when_done) override;
  void cancel(RequestNumber number) override { cancelled.push_back(number); }
  [[nodiscard]] bool is_ready() const override { return ready; }
  [[nodiscard]] serving::ServerMetadata metadata() const override;
  [[nodiscard]] serving::ServeResult<serving::ModelMetadata> model_metadata(std::string_view model,
                                                                            std::string_view version) const override;
  [[nodiscard]] serving::ServeResult<bool> is_model_ready(std::string_view model,
                                                          std::string_view version) const override;
  [[nodiscard]] std::vector<serving::IndexEntry> index() const override;
  [[nodiscard]] serving::ServeResult<std::vector<serving::ModelStatistics>> statistics(
      std::string_view model, std::string_view version) const override;
  void load(std::string_view model, Micros lease, ModelDone when_done) override;
  void unload(std::string_view model, ModelDone when_done) override;
};

}  // namespace berth::model_api
