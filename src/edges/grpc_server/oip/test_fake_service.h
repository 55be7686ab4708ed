/// An InferenceService without models: what it does with a request depends on the name of the model.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serving/service/inference_service.h"

namespace berth::edges {

/// `echo` answers at once with its inputs, `slow` when it is cancelled or `finish` is called; other models are unknown,
/// unless `fail_with` says otherwise.
class FakeService final : public serving::InferenceService {
 public:
  explicit FakeService(std::optional<std::string> key = std::nullopt) : key_(std::move(key)) {}

  serving::ServeResult<serving::TenantIndex> tenant_of(std::optional<std::string_view> authorization) const override {
    {
      const std::lock_guard lock(mutex_);
      ++arrived_;
    }
    changed_.notify_all();
    if (!key_) return serving::TenantIndex{0};
    if (authorization == "Bearer " + *key_) return serving::TenantIndex{7};
    return serving::refuse(serving::ServeFault::kNoKey, "wanted the key of a tenant");
  }

  RequestNumber infer(serving::InferRequest request, AnswerDone done) override {
    std::unique_lock lock(mutex_);
    const RequestNumber number = next_number_++;
    last_request_ = request;
    const auto failure = failures_.find(request.model);
    if (request.model == "slow") {
      waiting_.emplace(number, Waiting{std::move(request), std::move(done)});
      changed_.notify_all();
      return number;
    }
    lock.unlock();
    if (failure != failures_.end()) {
      done(tl::unexpected(failure->second));
    } else if (request.model != "echo") {
      done(serving::refuse(serving::ServeFault::kUnknown, "no model " + request.model));
    } else {
      done(answer_to(std::move(request)));
    }
    return number;
  }

  void cancel(RequestNumber number) override {
    std::unique_lock lock(mutex_);
    cancelled_.insert(number);
    changed_.notify_all();
    const auto found = waiting_.find(number);
    if (found == waiting_.end()) return;
    const AnswerDone done = std::move(found->second.done);
    waiting_.erase(found);
    lock.unlock();
    done(serving::refuse(serving::ServeFault::kCancelled, "cancelled"));
  }

  bool is_ready() const override {
    const std::lock_guard lock(mutex_);
    return is_ready_;
  }
  serving::ServerMetadata metadata() const override { return {.name = "berth", .version = "1.2", .device = "cpu"}; }
  serving::ServeResult<serving::ModelMetadata> model_metadata(std::string_view model,
                                                              std::string_view /*version*/) const override {
    if (model != "echo") return unknown(model);
    return serving::ModelMetadata{.name = "echo",
                                  .versions = {"1", "2"},
                                  .inputs = {{.name = "x", .type = TensorType::kFp32, .shape = {-1, 4}}},
                                  .outputs = {{.name = "x", .type = TensorType::kBytes, .shape = {-1}}},
                                  .rows_max = 64};
  }
  serving::ServeResult<bool> is_model_ready(std::string_view model, std::string_view /*version*/) const override {
    if (model != "echo") return unknown(model);
    return true;
  }
  std::vector<serving::IndexEntry> index() const override {
    return {{.name = "echo", .version = "2"},
            {.name = "torn", .version = "1", .state = serving::ModelState::kUnavailable, .reason = "not an ONNX file"}};
  }
  serving::ServeResult<std::vector<serving::ModelStatistics>> statistics(std::string_view model,
                                                                         std::string_view /*version*/) const override {
    if (!model.empty() && model != "echo") return unknown(model);
    serving::ModelStatistics statistics;
    statistics.name = "echo";
    statistics.version = "2";
    statistics.rows = 5;
    statistics.batches = 3;
    statistics.answered = {.count = 5, .sum = Micros(70)};
    statistics.batch_sizes = {{.rows = 2, .run = {.count = 3, .sum = Micros(11)}}};
    return std::vector{statistics};
  }
  void load(std::string_view model, Micros lease, ModelDone done) override {
    {
      const std::lock_guard lock(mutex_);
      last_lease_ = lease;
    }
    done(model == "echo" ? serving::ServeResult<bool>(true) : unknown(model));
  }
  void unload(std::string_view model, ModelDone done) override {
    done(model == "echo" ? serving::ServeResult<bool>(true) : unknown(model));
  }

  void fail_with(const std::string& model, serving::ServeError error) { failures_.emplace(model, std::move(error)); }
  void set_ready(bool is_ready) {
    const std::lock_guard lock(mutex_);
    is_ready_ = is_ready;
  }
  serving::InferRequest last_request() const {
    const std::lock_guard lock(mutex_);
    return last_request_;
  }
  Micros last_lease() const {
    const std::lock_guard lock(mutex_);
    return last_lease_;
  }
  /// Until so many calls have been asked for their tenant.
  void wait_for_arrived(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this, count] { return arrived_ >= count; });
  }
  void wait_for_waiting(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this, count] { return waiting_.size() >= count; });
  }
  void wait_for_cancelled(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this, count] { return cancelled_.size() >= count; });
  }
  /// Takes those that wait, for a caller that answers them later.
  std::vector<AnswerDone> keep_waiting() {
    const std::lock_guard lock(mutex_);
    std::vector<AnswerDone> kept;
    kept.reserve(waiting_.size());
    for (auto& [number, each] : waiting_) kept.push_back(std::move(each.done));
    waiting_.clear();
    return kept;
  }
  /// Answers all that wait.
  void finish() {
    std::unique_lock lock(mutex_);
    std::map<RequestNumber, Waiting> waiting = std::exchange(waiting_, {});
    lock.unlock();
    for (auto& [number, each] : waiting) each.done(answer_to(std::move(each.request)));
  }

 private:
  struct Waiting {
    serving::InferRequest request;
    AnswerDone done;
  };

  static tl::unexpected<serving::ServeError> unknown(std::string_view model) {
    return serving::refuse(serving::ServeFault::kUnknown, "no model " + std::string(model));
  }
  static serving::InferAnswer answer_to(serving::InferRequest request) {
    return {.model = std::move(request.model),
            .version = "2",
            .id = std::move(request.id),
            .outputs = std::move(request.inputs)};
  }

  const std::optional<std::string> key_;
  std::map<std::string, serving::ServeError> failures_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable std::size_t arrived_ = 0;
  std::map<RequestNumber, Waiting> waiting_;
  std::set<RequestNumber> cancelled_;
  RequestNumber next_number_ = 0;
  serving::InferRequest last_request_;
  Micros last_lease_;
  bool is_ready_ = true;
};

}  // namespace berth::edges
