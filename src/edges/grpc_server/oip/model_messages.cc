#include "edges/grpc_server/oip/model_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "serving/service/tensor_wire.h"

namespace berth::edges {
namespace {

using serving::DurationSum;
using serving::IndexEntry;
using serving::ModelState;
using serving::refuse;
using serving::ServeFault;
using serving::ServeResult;

constexpr const char* kPlatform = "onnxruntime_onnx";
constexpr const char* kBackend = "onnxruntime";
constexpr std::int64_t kLeaseSecondsMax = 3600;
constexpr std::uint64_t kNanosPerMicro = 1000;

/// Triton's names of what this server also does.
constexpr auto kExtensions = std::to_array<const char*>(
    {"binary_tensor_data", "model_configuration", "model_repository", "schedule_policy", "statistics"});

void write_tensor(const TensorSignature& tensor, inference::ModelMetadataResponse::TensorMetadata& message) {
  message.set_name(tensor.name);
  message.set_datatype(std::string(name_of(tensor.type)));
  message.mutable_shape()->Assign(tensor.shape.begin(), tensor.shape.end());
}

inference::DataType config_type(TensorType type) {
  switch (type) {
    case TensorType::kBool:
      return inference::TYPE_BOOL;
    case TensorType::kUint8:
      return inference::TYPE_UINT8;
    case TensorType::kUint16:
      return inference::TYPE_UINT16;
    case TensorType::kUint32:
      return inference::TYPE_UINT32;
    case TensorType::kUint64:
      return inference::TYPE_UINT64;
    case TensorType::kInt8:
      return inference::TYPE_INT8;
    case TensorType::kInt16:
      return inference::TYPE_INT16;
    case TensorType::kInt32:
      return inference::TYPE_INT32;
    case TensorType::kInt64:
      return inference::TYPE_INT64;
    case TensorType::kFp16:
      return inference::TYPE_FP16;
    case TensorType::kBf16:
      return inference::TYPE_BF16;
    case TensorType::kFp32:
      return inference::TYPE_FP32;
    case TensorType::kFp64:
      return inference::TYPE_FP64;
    case TensorType::kBytes:
      return inference::TYPE_STRING;
  }
  return inference::TYPE_INVALID;
}

template <class Message>
void write_config_tensor(const TensorSignature& tensor, bool is_batched, Message& message) {
  message.set_name(tensor.name);
  message.set_data_type(config_type(tensor.type));
  const std::span<const std::int64_t> shape = tensor.shape;
  const auto dims = shape.subspan(is_batched && !shape.empty() ? 1 : 0);
  message.mutable_dims()->Assign(dims.begin(), dims.end());
}

void write_duration(const DurationSum& duration, inference::StatisticDuration& message) {
  message.set_count(duration.count);
  message.set_ns(static_cast<std::uint64_t>(std::max<std::int64_t>(duration.sum.count(), 0)) * kNanosPerMicro);
}

void write_statistics(const serving::ModelStatistics& model, inference::ModelStatistics& message) {
  message.set_name(model.name);
  message.set_version(model.version);
  message.set_last_inference(static_cast<std::uint64_t>(std::max<std::int64_t>(model.last_answer_ms, 0)));
  message.set_inference_count(model.rows);
  message.set_execution_count(model.batches);
  inference::InferStatistics& durations = *message.mutable_inference_stats();
  write_duration(model.answered, *durations.mutable_success());
  write_duration(model.failed, *durations.mutable_fail());
  write_duration(model.queued, *durations.mutable_queue());
  write_duration(model.input, *durations.mutable_compute_input());
  write_duration(model.run, *durations.mutable_compute_infer());
  write_duration(model.output, *durations.mutable_compute_output());
  for (const serving::BatchStatistics& size : model.batch_sizes) {
    inference::InferBatchStatistics& batch = *message.add_batch_stats();
    batch.set_batch_size(static_cast<std::uint64_t>(size.rows));
    write_duration(size.run, *batch.mutable_compute_infer());
  }
}

const char* state_name(ModelState state) {
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
  return "UNAVAILABLE";
}

tl::unexpected<serving::ServeError> several_repositories(std::string_view name) {
  return refuse(ServeFault::kNotOffered,
                fmt::format("wanted an empty repository_name, as this server has one repository, found \"{}\"", name));
}

}  // namespace

inference::ServerMetadataResponse metadata_message(const serving::ServerMetadata& metadata) {
  inference::ServerMetadataResponse message;
  message.set_name(metadata.name);
  message.set_version(metadata.version);
  for (const char* extension : kExtensions) message.add_extensions(extension);
  return message;
}

inference::ModelMetadataResponse metadata_message(const serving::ModelMetadata& metadata) {
  inference::ModelMetadataResponse message;
  message.set_name(metadata.name);
  for (const std::string& version : metadata.versions) message.add_versions(version);
  message.set_platform(kPlatform);
  for (const TensorSignature& input : metadata.inputs) write_tensor(input, *message.add_inputs());
  for (const TensorSignature& output : metadata.outputs) write_tensor(output, *message.add_outputs());
  return message;
}

inference::ModelConfigResponse config_message(const serving::ModelMetadata& metadata) {
  const bool is_batched = metadata.rows_max > 0;
  inference::ModelConfigResponse message;
  inference::ModelConfig& config = *message.mutable_config();
  config.set_name(metadata.name);
  config.set_platform(kPlatform);
  config.set_backend(kBackend);
  config.set_max_batch_size(static_cast<std::int32_t>(std::min<std::int64_t>(metadata.rows_max, INT32_MAX)));
  if (is_batched) config.mutable_dynamic_batching();
  for (const TensorSignature& input : metadata.inputs) write_config_tensor(input, is_batched, *config.add_input());
  for (const TensorSignature& output : metadata.outputs) write_config_tensor(output, is_batched, *config.add_output());
  return message;
}

inference::ModelStatisticsResponse statistics_message(const std::vector<serving::ModelStatistics>& models) {
  inference::ModelStatisticsResponse message;
  for (const serving::ModelStatistics& model : models) write_statistics(model, *message.add_model_stats());
  return message;
}

ServeResult<inference::RepositoryIndexResponse> index_message(const std::vector<IndexEntry>& entries,
                                                              const inference::RepositoryIndexRequest& request) {
  if (!request.repository_name().empty()) return several_repositories(request.repository_name());
  inference::RepositoryIndexResponse message;
  for (const IndexEntry& entry : entries) {
    if (request.ready() && entry.state != ModelState::kReady) continue;
    inference::RepositoryIndexResponse::ModelIndex& model = *message.add_models();
    model.set_name(entry.name);
    model.set_version(entry.version);
    model.set_state(state_name(entry.state));
    model.set_reason(entry.reason);
  }
  return message;
}

ServeResult<Micros> lease_of(const inference::RepositoryModelLoadRequest& request) {
  if (!request.repository_name().empty()) return several_repositories(request.repository_name());
  Micros lease;
  for (const auto& [name, parameter] : request.parameters()) {
    if (name == "config" || name.starts_with("file:")) {
      return refuse(ServeFault::kNotOffered,
                    fmt::format("parameter {}: this server loads models as they are in its repository", name));
    }
    if (name != "lease_seconds") {
      return refuse(ServeFault::kMalformed, fmt::format("wanted the parameter lease_seconds, found {}", name));
    }
    const std::int64_t seconds = parameter.int64_param();
    if (!parameter.has_int64_param() || seconds < 0 || seconds > kLeaseSecondsMax) {
      return refuse(ServeFault::kMalformed,
                    fmt::format("parameter lease_seconds: wanted a whole number from 0 to {}, found another value",
                                kLeaseSecondsMax));
    }
    lease = Micros::seconds(seconds);
  }
  return lease;
}

ServeResult<bool> check_unload(const inference::RepositoryModelUnloadRequest& request) {
  if (!request.repository_name().empty()) return several_repositories(request.repository_name());
  for (const auto& [name, parameter] : request.parameters()) {
    if (name != "unload_dependents" || !parameter.has_bool_param()) {
      return refuse(ServeFault::kMalformed,
                    fmt::format("wanted the parameter unload_dependents as a bool, found {}", name));
    }
  }
  return true;
}

}  // namespace berth::edges
