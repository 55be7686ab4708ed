/// A client of a server of the Open Inference Protocol, for one model.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/core/result.h"
#include "domain/ports/http_client.h"
#include "domain/values/tensor.h"
#include "serving/protocol/metadata_reader.h"

namespace berth::profiler {

struct ServedModel {
  serving::protocol::ServerSaid server;
  serving::protocol::ModelSaid model;
};

class OipClient {
 public:
  /// `url`: of the server. Both are borrowed.
  OipClient(const HttpClient& http, std::string url, std::string model);

  /// Errors: those of the client; kInvalidInput if the server has no such model, or answers with something else.
  [[nodiscard]] Result<ServedModel> describe() const;
  /// The request for these inputs, which may be sent many times. Errors: kInvalidInput if JSON cannot carry them.
  [[nodiscard]] Result<HttpCall> call_for(std::span<const Tensor> inputs, bool is_binary) const;
  /// Sends it and checks that it was answered. Any thread. Errors: those of the client; kInvalidInput with the server's
  /// message.
  [[nodiscard]] Result<HttpReply> send(const HttpCall& call) const;
  /// The memory that the model takes there, of the version with the most: what `berth serve` says of it. Nothing: the
  /// server does not say. Any thread.
  [[nodiscard]] std::optional<std::int64_t> memory_bytes() const;
  /// Whether an answer has outputs, and numbers in them. Errors: those of serving::protocol::check_infer_answer.
  [[nodiscard]] Result<void> check_answer(const HttpCall& call, const HttpReply& reply) const;

 private:
  [[nodiscard]] Result<std::string> get(const std::string& url) const;

  const HttpClient& http_;
  std::string url_;
  std::string model_;
  std::string model_url_;
};

}  // namespace berth::profiler
