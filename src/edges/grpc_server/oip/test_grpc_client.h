/// A client for tests: calls a method of a server on this machine with any bytes as its message.
#pragma once

#include <google/protobuf/message_lite.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>

#include <chrono>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "edges/grpc_server/oip/wire.h"

namespace berth::edges {

struct TestReply {
  grpc::Status status;
  std::string message;
  std::map<std::string, std::string> trailing;

  template <class Response>
  [[nodiscard]] Response as() const {
    Response response;
    if (!response.ParseFromString(message)) response.Clear();
    return response;
  }
};

struct TestCallOptions {
  std::optional<std::string> authorization = std::nullopt;
  std::optional<std::string> traceparent = std::nullopt;
  std::optional<std::chrono::milliseconds> deadline = std::nullopt;
  grpc_compression_algorithm compression = GRPC_COMPRESS_NONE;
};

/// One that may be under way.
class TestCall {
 public:
  TestCall(const std::shared_ptr<grpc::Channel>& channel, const std::string& path, const std::string& message,
           const TestCallOptions& options)
      : stub_(channel) {
    if (options.authorization) context_.AddMetadata("authorization", *options.authorization);
    if (options.traceparent) context_.AddMetadata("traceparent", *options.traceparent);
    context_.set_deadline(std::chrono::system_clock::now() +
                          options.deadline.value_or(std::chrono::milliseconds(60'000)));
    context_.set_compression_algorithm(options.compression);
    const grpc::Slice slice(message);
    request_ = grpc::ByteBuffer(&slice, 1);
    stub_.UnaryCall(&context_, path, grpc::StubOptions(), &request_, &response_,
                    [this](grpc::Status status) { done_.set_value(std::move(status)); });
  }

  void cancel() { context_.TryCancel(); }
  TestReply wait() {
    TestReply reply{.status = status_.get(), .message = {}, .trailing = {}};
    std::vector<grpc::Slice> slices;
    if (response_.Valid() && response_.Dump(&slices).ok()) {
      for (const grpc::Slice& slice : slices) {
        reply.message.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
      }
    }
    for (const auto& [key, value] : context_.GetServerTrailingMetadata()) {
      reply.trailing.emplace(std::string(key.data(), key.size()), std::string(value.data(), value.size()));
    }
    return reply;
  }

 private:
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
  std::promise<grpc::Status> done_;
  std::future<grpc::Status> status_ = done_.get_future();
};

class TestGrpcClient {
 public:
  explicit TestGrpcClient(std::uint16_t port) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    channel_ =
        grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials(), arguments);
  }

  std::unique_ptr<TestCall> begin(const std::string& method, const std::string& message,
                                  const TestCallOptions& options = {}) {
    const bool is_whole = method.starts_with('/');
    return std::make_unique<TestCall>(channel_, is_whole ? method : "/inference.GRPCInferenceService/" + method,
                                      message, options);
  }
  TestReply call(const std::string& method, const std::string& message, const TestCallOptions& options = {}) {
    return begin(method, message, options)->wait();
  }
  TestReply call(const std::string& method, const google::protobuf::MessageLite& message,
                 const TestCallOptions& options = {}) {
    return call(method, message.SerializeAsString(), options);
  }
  [[nodiscard]] const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

 private:
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace berth::edges
