#include "apps/profile/oip_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "domain/profile_book/times_report.h"
#include "serving/protocol/answer_check.h"
#include "serving/protocol/infer_writer.h"

namespace berth::profiler {
namespace {

constexpr const char* kHeadLength = "Inference-Header-Content-Length";
constexpr Micros kAnswerTimeMax = Micros::seconds(300);
constexpr std::size_t kAnswerBytesMax = std::size_t{1} << 31U;
constexpr int kStatusOk = 200;

/// Where JSON ends and binary data begins; nothing: all of it is JSON.
std::optional<std::size_t> head_bytes_of(const HttpReply& reply) {
  const auto length = find_header(reply.headers, kHeadLength);
  if (!length) return std::nullopt;
  std::size_t bytes = 0;
  std::from_chars(length->data(), length->data() + length->size(), bytes);
  return bytes;
}

}  // namespace

OipClient::OipClient(const HttpClient& http, std::string url, std::string model)
    : http_(http),
      url_(std::move(url)),
      model_(std::move(model)),
      model_url_(fmt::format("{}/v2/models/{}", url_, model_)) {}

Result<std::string> OipClient::get(const std::string& url) const {
  auto reply = send({.method = "GET", .url = url, .headers = {}, .body = {}});
  if (!reply) return pass_on(reply.error());
  return std::move(reply->body);
}

Result<ServedModel> OipClient::describe() const {
  const std::string server_url = url_ + "/v2";
  const auto server_text = get(server_url);
  if (!server_text) return pass_on(server_text.error());
  auto server = serving::protocol::read_server_metadata(*server_text, server_url);
  if (!server) return pass_on(server.error());
  const auto model_text = get(model_url_);
  if (!model_text) return pass_on(model_text.error());
  auto model = serving::protocol::read_model_metadata(*model_text, model_url_);
  if (!model) return pass_on(model.error());
  return ServedModel{.server = *std::move(server), .model = *std::move(model)};
}

Result<HttpCall> OipClient::call_for(std::span<const Tensor> inputs, bool is_binary) const {
  auto written = serving::protocol::write_infer_call(inputs, is_binary);
  if (!written) return invalid(fmt::format("{}: {}", model_url_, written.error().message));
  HttpCall call{.method = "POST",
                .url = model_url_ + "/infer",
                .headers = {{"Content-Type", is_binary ? "application/octet-stream" : "application/json"}},
                .body = std::move(written->body),
                .timeout = kAnswerTimeMax,
                .bytes_max = kAnswerBytesMax};
  if (written->head_bytes) call.headers.push_back({kHeadLength, std::to_string(*written->head_bytes)});
  return call;
}

Result<HttpReply> OipClient::send(const HttpCall& call) const {
  auto reply = http_.send(call);
  if (!reply) return reply;
  if (reply->status == kStatusOk) return reply;
  return invalid(fmt::format("{}: wanted the status 200, found {}: {}", call.url, reply->status,
                             serving::protocol::read_error_message(reply->body)));
}

std::optional<std::int64_t> OipClient::memory_bytes() const {
  const auto reply = http_.send({.method = "GET", .url = url_ + "/berth/v1/memory", .headers = {}, .body = {}});
  if (!reply || reply->status != kStatusOk) return std::nullopt;
  const auto models = profile_book::read_memory_answer(url_, reply->body);
  if (!models) return std::nullopt;
  std::optional<std::int64_t> most;
  for (const ObservedMemory& memory : *models) {
    if (memory.model == model_) most = std::max(most.value_or(0), memory.bytes);
  }
  return most;
}

Result<void> OipClient::check_answer(const HttpCall& call, const HttpReply& reply) const {
  const std::string_view body = reply.body;
  const std::size_t head_bytes = std::min(head_bytes_of(reply).value_or(body.size()), body.size());
  return serving::protocol::check_infer_answer(body.substr(0, head_bytes), body.substr(head_bytes), call.url,
                                               kAnswerBytesMax);
}

}  // namespace berth::profiler
