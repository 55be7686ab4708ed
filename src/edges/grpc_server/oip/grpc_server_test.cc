#include "edges/grpc_server/grpc_server.h"

#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <health.pb.h>
#include <inference.pb.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "edges/grpc_server/oip/grpc_status.h"
#include "edges/grpc_server/oip/test_fake_service.h"
#include "edges/grpc_server/oip/test_grpc_client.h"

namespace berth::edges {
namespace {

using grpc::StatusCode;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using inference::ModelInferRequest;
using inference::ModelInferResponse;
using serving::ServeFault;
using testing::HasSubstr;
using namespace std::chrono_literals;

/// A server with a fake service, and a client of it.
struct Served {
  explicit Served(std::optional<std::string> key = std::nullopt, const GrpcServerOptions& options = {})
      : service(std::move(key)), server(start_grpc_server(options, service).value()), client(server->port()) {}

  FakeService service;
  std::unique_ptr<GrpcServer> server;
  TestGrpcClient client;
};

ModelInferRequest request_for(const std::string& model, std::size_t bytes = 16) {
  ModelInferRequest message;
  message.set_model_name(model);
  message.set_id("17");
  auto& input = *message.add_inputs();
  input.set_name("x");
  input.set_datatype("UINT8");
  input.add_shape(static_cast<std::int64_t>(bytes));
  message.add_raw_input_contents(std::string(bytes, '\5'));
  return message;
}

std::size_t thread_count() {
  std::size_t count = 0;
  DIR* const folder = opendir("/proc/self/task");
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count - 2;
}

TEST(GrpcServer, Infers) {
  Served served;
  // From what fits into a slice of the library to what is sent without a copy.
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{16}, std::size_t{5000}, std::size_t{20'000}, std::size_t{5'000'000}}) {
    const TestReply reply = served.client.call("ModelInfer", request_for("echo", bytes));
    ASSERT_TRUE(reply.status.ok()) << reply.status.error_message();
    const auto response = reply.as<ModelInferResponse>();
    EXPECT_EQ(response.model_name(), "echo");
    EXPECT_EQ(response.model_version(), "2");
    EXPECT_EQ(response.id(), "17");
    ASSERT_EQ(response.outputs_size(), 1);
    EXPECT_EQ(response.outputs(0).datatype(), "UINT8");
    ASSERT_EQ(response.raw_output_contents_size(), 1);
    EXPECT_EQ(response.raw_output_contents(0), std::string(bytes, '\5'));
  }
  EXPECT_EQ(served.service.last_request().priority, 1);
}

TEST(GrpcServer, InfersWithLargeAndSmallOutputsMixed) {
  Served served;
  ModelInferRequest message;
  message.set_model_name("echo");
  const std::vector<std::size_t> sizes = {30'000, 3, 0, 16'384, 16'383, 40'000};
  for (const std::size_t size : sizes) {
    auto& input = *message.add_inputs();
    input.set_datatype("INT8");
    input.add_shape(static_cast<std::int64_t>(size));
    message.add_raw_input_contents(std::string(size, static_cast<char>(size % 100)));
  }
  const auto response = served.client.call("ModelInfer", message).as<ModelInferResponse>();
  ASSERT_EQ(response.raw_output_contents_size(), message.raw_input_contents_size());
  for (int i = 0; i < response.raw_output_contents_size(); ++i) {
    EXPECT_EQ(response.raw_output_contents(i), message.raw_input_contents(i)) << i;
  }
}

TEST(GrpcServer, ServerCalls) {
  Served served;
  EXPECT_TRUE(served.client.call("ServerLive", "").as<inference::ServerLiveResponse>().live());
  EXPECT_TRUE(served.client.call("ServerReady", "").as<inference::ServerReadyResponse>().ready());
  const auto metadata = served.client.call("ServerMetadata", "").as<inference::ServerMetadataResponse>();
  EXPECT_EQ(metadata.name(), "berth");
  EXPECT_EQ(metadata.version(), "1.2");
  EXPECT_EQ(metadata.extensions_size(), 5);
  served.service.set_ready(false);
  EXPECT_FALSE(served.client.call("ServerReady", "").as<inference::ServerReadyResponse>().ready());
  EXPECT_TRUE(served.client.call("ServerLive", "").as<inference::ServerLiveResponse>().live());
}

TEST(GrpcServer, ModelCalls) {
  Served served;
  inference::ModelMetadataRequest request;
  request.set_name("echo");
  const auto metadata = served.client.call("ModelMetadata", request).as<inference::ModelMetadataResponse>();
  EXPECT_EQ(metadata.platform(), "onnxruntime_onnx");
  EXPECT_EQ(metadata.versions_size(), 2);
  ASSERT_EQ(metadata.inputs_size(), 1);
  EXPECT_EQ(metadata.inputs(0).datatype(), "FP32");
  EXPECT_EQ(metadata.inputs(0).shape(0), -1);
  EXPECT_EQ(metadata.outputs(0).datatype(), "BYTES");
  const auto config = served.client.call("ModelConfig", request).as<inference::ModelConfigResponse>().config();
  EXPECT_EQ(config.max_batch_size(), 64);
  EXPECT_TRUE(config.has_dynamic_batching());
  ASSERT_EQ(config.input_size(), 1);
  ASSERT_EQ(config.input(0).dims_size(), 1);
  EXPECT_EQ(config.input(0).dims(0), 4);
  EXPECT_EQ(config.output(0).data_type(), inference::TYPE_STRING);
  EXPECT_TRUE(served.client.call("ModelReady", request).as<inference::ModelReadyResponse>().ready());
  const auto statistics = served.client.call("ModelStatistics", "").as<inference::ModelStatisticsResponse>();
  ASSERT_EQ(statistics.model_stats_size(), 1);
  EXPECT_EQ(statistics.model_stats(0).inference_count(), 5U);
  EXPECT_EQ(statistics.model_stats(0).inference_stats().success().ns(), 70'000U);
  EXPECT_EQ(statistics.model_stats(0).batch_stats(0).compute_infer().count(), 3U);

  request.set_name("absent");
  for (const char* method : {"ModelMetadata", "ModelConfig", "ModelReady", "ModelStatistics"}) {
    EXPECT_EQ(served.client.call(method, request).status.error_code(), StatusCode::NOT_FOUND) << method;
  }
}

TEST(GrpcServer, RepositoryCalls) {
  Served served;
  const auto index = served.client.call("RepositoryIndex", "").as<inference::RepositoryIndexResponse>();
  ASSERT_EQ(index.models_size(), 2);
  EXPECT_EQ(index.models(0).state(), "READY");
  EXPECT_EQ(index.models(1).state(), "UNAVAILABLE");
  EXPECT_EQ(index.models(1).reason(), "not an ONNX file");
  inference::RepositoryIndexRequest ready;
  ready.set_ready(true);
  EXPECT_EQ(served.client.call("RepositoryIndex", ready).as<inference::RepositoryIndexResponse>().models_size(), 1);

  inference::RepositoryModelLoadRequest load;
  load.set_model_name("echo");
  auto& lease = (*load.mutable_parameters())["lease_seconds"];
  for (const std::int64_t seconds : {0, 3600}) {
    lease.set_int64_param(seconds);
    EXPECT_TRUE(served.client.call("RepositoryModelLoad", load).status.ok());
    EXPECT_EQ(served.service.last_lease(), Micros::seconds(seconds));
  }
  for (const std::int64_t seconds : {std::int64_t{-1}, std::int64_t{3601}, INT64_MAX}) {
    lease.set_int64_param(seconds);
    EXPECT_EQ(served.client.call("RepositoryModelLoad", load).status.error_code(), StatusCode::INVALID_ARGUMENT);
  }
  lease.set_string_param("5");
  EXPECT_EQ(served.client.call("RepositoryModelLoad", load).status.error_code(), StatusCode::INVALID_ARGUMENT);
  load.clear_parameters();
  (*load.mutable_parameters())["config"].set_string_param("{}");
  EXPECT_EQ(served.client.call("RepositoryModelLoad", load).status.error_code(), StatusCode::UNIMPLEMENTED);
  load.clear_parameters();
  load.set_model_name("absent");
  EXPECT_EQ(served.client.call("RepositoryModelLoad", load).status.error_code(), StatusCode::NOT_FOUND);

  inference::RepositoryModelUnloadRequest unload;
  unload.set_model_name("echo");
  (*unload.mutable_parameters())["unload_dependents"].set_bool_param(false);
  EXPECT_TRUE(served.client.call("RepositoryModelUnload", unload).status.ok());
  unload.set_model_name("absent");
  EXPECT_EQ(served.client.call("RepositoryModelUnload", unload).status.error_code(), StatusCode::NOT_FOUND);
}

TEST(GrpcServer, WhatIsNotOffered) {
  Served served;
  for (const char* method : {"ModelStreamInfer", "SystemSharedMemoryStatus", "LogSettings", "/a.b/c", "/"}) {
    const TestReply reply = served.client.call(method, "");
    EXPECT_EQ(reply.status.error_code(), StatusCode::UNIMPLEMENTED) << method;
    EXPECT_THAT(reply.status.error_message(), HasSubstr("does not offer")) << method;
  }
}

TEST(GrpcServer, EachFaultHasItsCode) {
  const std::vector<std::pair<ServeFault, StatusCode>> rows = {
      {ServeFault::kMalformed, StatusCode::INVALID_ARGUMENT},  {ServeFault::kNoKey, StatusCode::UNAUTHENTICATED},
      {ServeFault::kUnknown, StatusCode::NOT_FOUND},           {ServeFault::kTooLarge, StatusCode::RESOURCE_EXHAUSTED},
      {ServeFault::kRejected, StatusCode::RESOURCE_EXHAUSTED}, {ServeFault::kEngineFailed, StatusCode::INTERNAL},
      {ServeFault::kNotOffered, StatusCode::UNIMPLEMENTED},    {ServeFault::kUnavailable, StatusCode::UNAVAILABLE},
      {ServeFault::kExpired, StatusCode::DEADLINE_EXCEEDED},   {ServeFault::kCancelled, StatusCode::CANCELLED},
  };
  Served served;
  for (const auto& [fault, code] : rows) {
    const std::string model =
        "fails " + std::to_string(static_cast<int>(code)) + std::to_string(static_cast<int>(fault));
    served.service.fail_with(model, {.fault = fault, .message = "so it is: ä"});
    const TestReply reply = served.client.call("ModelInfer", request_for(model));
    EXPECT_EQ(reply.status.error_code(), code);
    EXPECT_EQ(reply.status.error_message(), "so it is: ä");
    EXPECT_FALSE(reply.trailing.contains("retry-after-ms"));
  }
  served.service.fail_with("busy", {.fault = ServeFault::kRejected, .message = "late", .retry_after = Micros(12'001)});
  EXPECT_EQ(served.client.call("ModelInfer", request_for("busy")).trailing.at("retry-after-ms"), "13");
}

TEST(GrpcServer, LongMessagesAreShortened) {
  Served served;
  const TestReply reply = served.client.call("ModelInfer", request_for(std::string(1'000'000, '\1')));
  EXPECT_EQ(reply.status.error_code(), StatusCode::NOT_FOUND);
  EXPECT_LE(reply.status.error_message().size(), kStatusBytesMax + 3);
  std::string wide;
  for (int i = 0; i < 1000; ++i) wide += "ä";
  EXPECT_EQ(served.client.call("ModelInfer", request_for(wide)).status.error_code(), StatusCode::NOT_FOUND);
}

TEST(GrpcServer, TheContextOfATraceIsInTheMetadata) {
  Served served;
  const std::string message = request_for("echo").SerializeAsString();
  const std::string parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  EXPECT_TRUE(served.client.call("ModelInfer", message, {.traceparent = parent}).status.ok());
  ASSERT_TRUE(served.service.last_request().caller);
  EXPECT_EQ(traceparent_of(*served.service.last_request().caller), parent);
  EXPECT_TRUE(served.client.call("ModelInfer", message, {.traceparent = "01"}).status.ok());
  EXPECT_FALSE(served.service.last_request().caller);
}

TEST(GrpcServer, KeysOfTenants) {
  Served served("secret");
  const std::string message = request_for("echo").SerializeAsString();
  EXPECT_EQ(served.client.call("ModelInfer", message).status.error_code(), StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(served.client.call("ModelInfer", message, {.authorization = "Bearer wrong"}).status.error_code(),
            StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(served.client.call("ModelInfer", message, {.authorization = "Bearer secret"}).status.ok());
  EXPECT_EQ(served.service.last_request().tenant, serving::TenantIndex{7});
  for (const char* method : {"ServerMetadata", "ModelReady", "RepositoryIndex", "RepositoryModelLoad", "Unknown"}) {
    EXPECT_EQ(served.client.call(method, "").status.error_code(), StatusCode::UNAUTHENTICATED) << method;
  }
  for (const char* method : {"ServerLive", "ServerReady", "/grpc.health.v1.Health/Check"}) {
    EXPECT_TRUE(served.client.call(method, "").status.ok()) << method;
  }
}

TEST(GrpcServer, TheDeadlineShortensTheTimeout) {
  Served served;
  ModelInferRequest message = request_for("echo");
  ASSERT_TRUE(served.client.call("ModelInfer", message.SerializeAsString(), {.deadline = 30s}).status.ok());
  const auto timeout = served.service.last_request().timeout;
  ASSERT_TRUE(timeout);
  EXPECT_LE(*timeout, Micros::seconds(31));  // a client sends it rounded
  EXPECT_GT(*timeout, Micros::seconds(10));
  (*message.mutable_parameters())["timeout"].set_int64_param(5000);
  ASSERT_TRUE(served.client.call("ModelInfer", message.SerializeAsString(), {.deadline = 30s}).status.ok());
  EXPECT_EQ(served.service.last_request().timeout, Micros(5000));
}

TEST(GrpcServer, AClientThatLeavesCancels) {
  Served served;
  const auto call = served.client.begin("ModelInfer", request_for("slow").SerializeAsString());
  served.service.wait_for_waiting(1);
  call->cancel();
  EXPECT_EQ(call->wait().status.error_code(), StatusCode::CANCELLED);
  served.service.wait_for_cancelled(1);
  EXPECT_TRUE(served.client.call("ModelInfer", request_for("echo")).status.ok());
}

TEST(GrpcServer, ADeadlineThatPassesIsLeftToTheService) {
  Served served;
  const auto call = served.client.begin("ModelInfer", request_for("slow").SerializeAsString(), {.deadline = 50ms});
  EXPECT_EQ(call->wait().status.error_code(), StatusCode::DEADLINE_EXCEEDED);
  served.service.finish();  // too late: does nothing
}

TEST(GrpcServer, MessagesThatAreNoMessages) {
  Served served;
  const std::string right = request_for("echo").SerializeAsString();
  const std::vector<std::string> rows = {
      "\xFF",
      "\x0A",
      std::string("\x0A\x05") + "ab",
      "\x0B\x0C",
      "\x2A\xFF\xFF\xFF\xFF\x0F",
      "\x2A\xFF\xFF\xFF\xFF\x07",
      "\x0A\x02\xC3\x28",  // a name that is not UTF-8
      "\x2A\x02\x2A\x05",  // contents longer than their input
      right.substr(0, right.size() - 1),
      std::string(100, '\x7F'),
      std::string(1000, '\0'),
  };
  for (const std::string& row : rows) {
    const TestReply reply = served.client.call("ModelInfer", row);
    EXPECT_EQ(reply.status.error_code(), StatusCode::INVALID_ARGUMENT) << testing::PrintToString(row);
  }
  EXPECT_EQ(served.client.call("ModelReady", "\xFF").status.error_message(),
            "wanted a inference.ModelReadyRequest, found something else");
  EXPECT_TRUE(served.client.call("ModelInfer", right).status.ok());
}

TEST(GrpcServer, MessagesThatClaimMuchMemory) {
  Served served;
  std::string inputs;
  std::string texts;
  for (int i = 0; i < 2'000'000; ++i) {
    inputs += "\x2A";
    inputs += '\0';
    texts += "\x42";
    texts += '\0';
  }
  EXPECT_EQ(served.client.call("ModelInfer", inputs).status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  inference::ModelInferRequest request;
  request.add_inputs()->mutable_contents()->ParseFromString(texts);
  EXPECT_EQ(served.client.call("ModelInfer", request).status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
}

TEST(GrpcServer, TheLimitOfAMessage) {
  Served served;
  const std::size_t limit = std::size_t{64} << 20U;
  TestReply reply = served.client.call("ModelInfer", request_for("echo", limit));
  EXPECT_TRUE(reply.status.ok()) << reply.status.error_message();
  EXPECT_EQ(reply.as<ModelInferResponse>().raw_output_contents(0).size(), limit);
  reply = served.client.call("ModelInfer", request_for("echo", limit + (std::size_t{2} << 20U)));
  EXPECT_EQ(reply.status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
}

TEST(GrpcServer, CompressedMessagesAreRefused) {
  Served served;
  for (const grpc_compression_algorithm algorithm : {GRPC_COMPRESS_GZIP, GRPC_COMPRESS_DEFLATE}) {
    const TestReply reply =
        served.client.call("ModelInfer", request_for("echo", 100'000).SerializeAsString(), {.compression = algorithm});
    EXPECT_EQ(reply.status.error_code(), StatusCode::UNIMPLEMENTED) << reply.status.error_message();
  }
}

TEST(GrpcServer, CallsBeyondTheLimit) {
  Served served(std::nullopt, {.call_count_max = 2});
  const auto first = served.client.begin("ModelInfer", request_for("slow").SerializeAsString());
  const auto second = served.client.begin("ModelInfer", request_for("slow").SerializeAsString());
  served.service.wait_for_waiting(2);
  EXPECT_EQ(served.client.call("ServerLive", "").status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  served.service.finish();
  EXPECT_TRUE(first->wait().status.ok());
  EXPECT_TRUE(second->wait().status.ok());
}

TEST(GrpcServer, ChecksHealth) {
  Served served;
  constexpr const char* kCheck = "/grpc.health.v1.Health/Check";
  HealthCheckRequest request;
  EXPECT_EQ(served.client.call(kCheck, request).as<HealthCheckResponse>().status(), HealthCheckResponse::SERVING);
  request.set_service("inference.GRPCInferenceService");
  served.service.set_ready(false);
  EXPECT_EQ(served.client.call(kCheck, request).as<HealthCheckResponse>().status(), HealthCheckResponse::NOT_SERVING);
  request.set_service("another");
  EXPECT_EQ(served.client.call(kCheck, request).status.error_code(), StatusCode::NOT_FOUND);
}

/// A stream of Health/Watch.
class WatchClient final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  WatchClient(const std::shared_ptr<grpc::Channel>& channel, const std::string& service) : stub_(channel) {
    HealthCheckRequest request;
    request.set_service(service);
    request_ = write_message(request);
    stub_.PrepareBidiStreamingCall(&context_, "/grpc.health.v1.Health/Watch", grpc::StubOptions(), this);
    StartWriteLast(&request_, grpc::WriteOptions());
    StartRead(&answer_);
    StartCall();
  }

  void OnReadDone(bool is_read) override {
    HealthCheckResponse response;
    if (!is_read || read_message(answer_, {}, response) != ReadOutcome::kRead) return;
    {
      const std::lock_guard lock(mutex_);
      seen_.push_back(response.status());
    }
    changed_.notify_all();
    StartRead(&answer_);
  }
  void OnDone(const grpc::Status& status) override { done_.set_value(status); }

  std::vector<int> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this, count] { return seen_.size() >= count; });
    return seen_;
  }
  grpc::Status wait() { return done_.get_future().get(); }
  void cancel() { context_.TryCancel(); }

 private:
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer answer_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int> seen_;
  std::promise<grpc::Status> done_;
};

TEST(GrpcServer, WatchesHealth) {
  Served served;
  WatchClient watch(served.client.channel(), "");
  WatchClient unknown(served.client.channel(), "another");
  WatchClient leaves(served.client.channel(), "");
  EXPECT_EQ(watch.wait_for(1), std::vector<int>{HealthCheckResponse::SERVING});
  EXPECT_EQ(unknown.wait_for(1), std::vector<int>{HealthCheckResponse::SERVICE_UNKNOWN});
  leaves.wait_for(1);
  leaves.cancel();
  EXPECT_EQ(leaves.wait().error_code(), StatusCode::CANCELLED);
  served.service.set_ready(false);
  EXPECT_EQ(watch.wait_for(2), (std::vector<int>{HealthCheckResponse::SERVING, HealthCheckResponse::NOT_SERVING}));
  served.server->stop();
  EXPECT_EQ(watch.wait().error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(unknown.wait().error_code(), StatusCode::UNAVAILABLE);
}

/// A call without a message.
class SilentClient final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  SilentClient(const std::shared_ptr<grpc::Channel>& channel, bool ends_sending) : stub_(channel) {
    stub_.PrepareBidiStreamingCall(&context_, "/inference.GRPCInferenceService/ModelInfer", grpc::StubOptions(), this);
    if (ends_sending) StartWritesDone();
    StartRead(&answer_);
    StartCall();
  }

  void OnDone(const grpc::Status& status) override { done_.set_value(status); }
  grpc::Status wait() { return done_.get_future().get(); }
  void cancel() { context_.TryCancel(); }

 private:
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::ByteBuffer answer_;
  std::promise<grpc::Status> done_;
};

/// What a call gets. While the server still counts calls that have ended, it refuses others: then it is asked again.
StatusCode code_once_there_is_room(Served& served) {
  const auto limit = std::chrono::steady_clock::now() + 60s;
  StatusCode code = StatusCode::RESOURCE_EXHAUSTED;
  while (code == StatusCode::RESOURCE_EXHAUSTED && std::chrono::steady_clock::now() < limit) {
    code = served.client.call("ServerLive", "").status.error_code();
    std::this_thread::sleep_for(1ms);  // a call that was refused is counted for a moment, too
  }
  return code;
}

TEST(GrpcServer, ACallWithoutAMessageEnds) {
  Served served(std::nullopt, {.call_count_max = 1});
  SilentClient ends(served.client.channel(), true);
  EXPECT_EQ(ends.wait().error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(code_once_there_is_room(served), StatusCode::OK);
}

TEST(GrpcServer, AClientThatLeavesWithoutAMessageMakesRoom) {
  Served served(std::nullopt, {.call_count_max = 1});
  SilentClient leaves(served.client.channel(), false);
  served.service.wait_for_arrived(1);
  leaves.cancel();
  EXPECT_EQ(leaves.wait().error_code(), StatusCode::CANCELLED);
  EXPECT_EQ(code_once_there_is_room(served), StatusCode::OK);
}

TEST(GrpcServer, StopEndsCallsWithoutAMessage) {
  Served served;
  SilentClient silent(served.client.channel(), false);
  served.service.wait_for_arrived(1);
  served.server->stop();
  EXPECT_EQ(silent.wait().error_code(), StatusCode::UNAVAILABLE);
}

TEST(GrpcServer, StopEndsCalls) {
  Served served;
  std::vector<std::unique_ptr<TestCall>> calls(20);
  for (auto& call : calls) call = served.client.begin("ModelInfer", request_for("slow").SerializeAsString());
  served.service.wait_for_waiting(20);
  served.server->stop();
  for (const auto& call : calls) EXPECT_EQ(call->wait().status.error_code(), StatusCode::UNAVAILABLE);
  served.service.wait_for_cancelled(20);
  served.service.finish();
  served.server->stop();  // again: nothing
  EXPECT_EQ(served.client.call("ServerLive", "", {.deadline = 5s}).status.error_code(), StatusCode::UNAVAILABLE);
}

TEST(GrpcServer, AnswersAfterTheServerIsGone) {
  FakeService service;
  std::unique_ptr<GrpcServer> server = start_grpc_server({}, service).value();
  std::vector<serving::InferenceService::AnswerDone> kept;
  {
    TestGrpcClient client(server->port());
    const auto call = client.begin("ModelInfer", request_for("slow").SerializeAsString());
    service.wait_for_waiting(1);
    kept = service.keep_waiting();
    server->stop();
    EXPECT_EQ(call->wait().status.error_code(), StatusCode::UNAVAILABLE);
  }
  server.reset();
  for (const auto& done : kept) done(serving::InferAnswer{});
}

TEST(GrpcServer, ManyCallsThatEndInAllWays) {
  Served served;
  std::vector<std::unique_ptr<TestCall>> calls;
  for (int i = 0; i < 600; ++i) {
    calls.push_back(served.client.begin("ModelInfer",
                                        request_for(i % 3 == 0 ? "echo" : "slow", 4096).SerializeAsString(),
                                        {.deadline = std::chrono::milliseconds(i % 7 == 0 ? 5 : 20'000)}));
    if (i % 5 == 0) calls.back()->cancel();
    if (i % 11 == 0) served.service.finish();
  }
  std::thread stopping([&served] { served.server->stop(); });
  served.service.finish();
  for (const auto& call : calls) {
    const StatusCode code = call->wait().status.error_code();
    EXPECT_TRUE(code == StatusCode::OK || code == StatusCode::CANCELLED || code == StatusCode::UNAVAILABLE ||
                code == StatusCode::DEADLINE_EXCEEDED)
        << code;
  }
  stopping.join();
}

TEST(GrpcServer, LeavesNoThread) {
  const std::size_t before = thread_count();
  for (int i = 0; i < 3; ++i) {
    Served served;
    EXPECT_TRUE(served.client.call("ServerLive", "").status.ok());
  }
  // The library ends the last of its threads in the background.
  for (int i = 0; i < 500 && thread_count() > before; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_LE(thread_count(), before);
}

TEST(GrpcServer, Addresses) {
  FakeService service;
  const auto first = start_grpc_server({.host = "localhost"}, service);
  ASSERT_TRUE(first);
  EXPECT_NE((*first)->port(), 0);
  const auto second = start_grpc_server({.port = (*first)->port()}, service);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(second.error().message, "127.0.0.1:" + std::to_string((*first)->port()) + ": Address already in use");
  for (const char* host : {"0.0.0.0", "::", "10.0.0.1", "example.org", "", "unix:/tmp/x", "127.0.0.1:1"}) {
    const auto refused = start_grpc_server({.host = host}, service);
    ASSERT_FALSE(refused) << host;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidInput) << host;
  }
  EXPECT_TRUE(start_grpc_server({.host = "127.0.0.2"}, service));
}

}  // namespace
}  // namespace berth::edges
