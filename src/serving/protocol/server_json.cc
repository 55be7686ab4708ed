#include "serving/protocol/server_json.h"

#include <array>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "base/json/writer.h"

namespace berth::serving::protocol {
namespace {

using json::Writer;

/// Those of Triton's that exist here; gRPC announces the same.
constexpr std::array kExtensions{"binary_tensor_data", "model_configuration", "model_repository", "schedule_policy",
                                 "statistics"};
// What Triton calls an ONNX model, and what runs it.
constexpr std::string_view kPlatform = "onnxruntime_onnx";
constexpr std::string_view kBackend = "onnxruntime";

void write_signature(Writer& json, const TensorSignature& tensor) {
  json.open_object().member("name", tensor.name).member("datatype", name_of(tensor.type));
  json.list("shape", tensor.shape).close_object();
}

void put_config_tensors(Writer& json, std::string_view key, std::span<const TensorSignature> tensors, bool is_batched) {
  json.list(key, tensors, [&](Writer& item, const TensorSignature& tensor) {
    item.open_object().member("name", tensor.name).member("data_type", config_name_of(tensor.type));
    item.list("dims", std::span(tensor.shape).subspan(is_batched && !tensor.shape.empty() ? 1 : 0)).close_object();
  });
}

void put_duration(Writer& json, std::string_view key, const DurationSum& duration) {
  constexpr std::int64_t kNanosPerMicro = 1000;
  json.open_object(key).member("count", duration.count);
  json.member("ns", Int128{duration.sum.count()} * kNanosPerMicro).close_object();
}

void write_batch(Writer& json, const BatchStatistics& batch) {
  json.open_object().member("batch_size", batch.rows);
  put_duration(json, "compute_input", {});
  put_duration(json, "compute_infer", batch.run);
  put_duration(json, "compute_output", {});
  json.close_object();
}

void write_statistics(Writer& json, const ModelStatistics& model) {
  json.open_object().member("name", model.name).member("version", model.version);
  json.member("last_inference", model.last_answer_ms);
  json.member("inference_count", model.rows).member("execution_count", model.batches);
  json.open_object("inference_stats");
  put_duration(json, "success", model.answered);
  put_duration(json, "fail", model.failed);
  put_duration(json, "queue", model.queued);
  put_duration(json, "compute_input", model.input);
  put_duration(json, "compute_infer", model.run);
  put_duration(json, "compute_output", model.output);
  // There is no cache of answers.
  put_duration(json, "cache_hit", {});
  put_duration(json, "cache_miss", {});
  json.close_object();
  json.list("batch_stats", model.batch_sizes, write_batch);
  json.close_object();
}

}  // namespace

std::string_view model_state_name(ModelState state) {
  switch (state) {
    case ModelState::kReady:
      return "READY";
    case ModelState::kLoading:
      return "LOADING";
    case ModelState::kUnloading:
      return "UNLOADING";
    case ModelState::kUnavailable:
      return "UNAVAILABLE";
  }
  ENSURE(false);
  return "";
}

std::string server_metadata_json(const ServerMetadata& server) {
  Writer json;
  json.open_object().member("name", server.name).member("version", server.version).list("extensions", kExtensions);
  return json.member("device", server.device).close_object().take();
}

std::string model_metadata_json(const ModelMetadata& model) {
  Writer json;
  json.open_object().member("name", model.name).list("versions", model.versions).member("platform", kPlatform);
  json.list("inputs", model.inputs, write_signature).list("outputs", model.outputs, write_signature);
  return json.close_object().take();
}

std::string model_config_json(const ModelMetadata& model) {
  const bool is_batched = model.rows_max > 0;
  Writer json;
  json.open_object().member("name", model.name).member("platform", kPlatform).member("backend", kBackend);
  json.member("max_batch_size", model.rows_max);
  put_config_tensors(json, "input", model.inputs, is_batched);
  put_config_tensors(json, "output", model.outputs, is_batched);
  // Clients look for this member to see whether requests are batched.
  if (is_batched) json.open_object("dynamic_batching").close_object();
  json.open_object("model_transaction_policy").member("decoupled", false).close_object();
  return json.close_object().take();
}

std::string statistics_json(std::span<const ModelStatistics> models) {
  Writer json;
  return json.open_object().list("model_stats", models, write_statistics).close_object().take();
}

std::string index_json(std::span<const IndexEntry> entries, bool is_ready_only) {
  Writer json;
  json.open_list();
  for (const IndexEntry& entry : entries) {
    if (is_ready_only && entry.state != ModelState::kReady) continue;
    json.open_object().member("name", entry.name).member("version", entry.version);
    json.member("state", model_state_name(entry.state)).member("reason", entry.reason).close_object();
  }
  return json.close_list().take();
}

}  // namespace berth::serving::protocol
