#include "edges/grpc_server/grpc_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "edges/grpc_server/oip/call.h"
#include "edges/grpc_server/oip/grpc_status.h"
#include "edges/grpc_server/oip/health_watch.h"
#include "edges/grpc_server/oip/methods.h"
#include "edges/grpc_server/oip/reactors.h"

namespace berth::edges {
namespace {

using serving::InferenceService;
using serving::ServeError;
using serving::ServeFault;

/// How soon a change of the health is seen by those who watch it.
constexpr auto kWatchInterval = std::chrono::milliseconds(250);
/// After it gRPC ends calls that could not be told of their end.
constexpr auto kStopTime = std::chrono::seconds(1);

/// Makes reactors of calls, whatever they name.
class CallService final : public grpc::CallbackGenericService {
 public:
  CallService(const GrpcServerOptions& options, InferenceService& service)
      : service_(service),
        calls_(std::make_shared<Reactors<Call>>(options.call_count_max)),
        watches_(std::make_shared<Reactors<HealthWatch>>(options.watch_count_max)) {}

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
    return context->method() == kWatchPath ? watch() : call(*context);
  }

  void update_watches() {
    for (const auto& watch : watches_->all()) watch->update();
  }

  /// From now on calls are refused, and those under way end.
  void close() {
    calls_->close();
    watches_->close();
    for (const auto& call : calls_->all()) call->end();
    for (const auto& watch : watches_->all()) watch->end({grpc::StatusCode::UNAVAILABLE, "the server ends"});
  }

 private:
  [[nodiscard]] grpc::ServerGenericBidiReactor* call(grpc::GenericCallbackServerContext& context);
  [[nodiscard]] grpc::ServerGenericBidiReactor* watch();

  InferenceService& service_;
  std::shared_ptr<Reactors<Call>> calls_;
  std::shared_ptr<Reactors<HealthWatch>> watches_;
};

std::optional<std::string_view> authorization_of(const grpc::GenericCallbackServerContext& context) {
  const auto found = context.client_metadata().find("authorization");
  if (found == context.client_metadata().end()) return std::nullopt;
  return std::string_view(found->second.data(), found->second.size());
}

std::optional<ServeError> refusal_of(Admission admission) {
  switch (admission) {
    case Admission::kAdmitted:
      return std::nullopt;
    case Admission::kFull:
      return ServeError{.fault = ServeFault::kRejected, .message = "too many calls are under way"};
    case Admission::kClosed:
      return ServeError{.fault = ServeFault::kUnavailable, .message = "the server ends"};
  }
  return std::nullopt;
}

grpc::ServerGenericBidiReactor* CallService::call(grpc::GenericCallbackServerContext& context) {
  const auto call = std::make_shared<Call>(context, service_, calls_);
  const std::optional<ServeError> refusal = refusal_of(calls_->add(call));
  const Method* const method = find_method(context.method());
  serving::ServeResult<serving::TenantIndex> tenant = serving::TenantIndex{};
  if (method == nullptr || !method->is_health) tenant = service_.tenant_of(authorization_of(context));
  if (refusal) {
    if (tenant && method != nullptr && method->is_infer) call->note_refused({}, refusal->fault);
    call->refuse(*refusal);
  } else if (!tenant) {
    call->refuse(tenant.error());
  } else if (method == nullptr) {
    call->refuse({.fault = ServeFault::kNotOffered,
                  .message = fmt::format("this server does not offer the call {}", context.method())});
  } else {
    call->begin(method->handler, *tenant);
  }
  return call.get();
}

grpc::ServerGenericBidiReactor* CallService::watch() {
  const auto watch = std::make_shared<HealthWatch>(service_, watches_);
  if (const std::optional<ServeError> refusal = refusal_of(watches_->add(watch))) {
    watch->end(status_of(*refusal));
  } else {
    watch->begin();
  }
  return watch.get();
}

/// Calls a function again and again, on a thread of its own.
class Repeater {
 public:
  template <class Function>
  explicit Repeater(Function function) : thread_([this, function] { run(function); }) {}
  Repeater(const Repeater&) = delete;
  Repeater& operator=(const Repeater&) = delete;
  ~Repeater() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    over_.notify_all();
    thread_.join();
  }

 private:
  template <class Function>
  void run(const Function& function) {
    std::unique_lock lock(mutex_);
    while (!over_.wait_for(lock, kWatchInterval, [this] { return is_over_; })) function();
  }

  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace

struct GrpcServer::Running {
  Running(const GrpcServerOptions& options, InferenceService& service) : calls(options, service) {}

  CallService calls;
  std::unique_ptr<grpc::Server> server;
  std::optional<Repeater> watcher;
  std::uint16_t port = 0;
};

GrpcServer::GrpcServer(std::unique_ptr<Running> running) : running_(std::move(running)) {}

GrpcServer::~GrpcServer() { stop(); }

std::uint16_t GrpcServer::port() const { return running_->port; }

void GrpcServer::stop() {
  if (running_->server == nullptr) return;
  running_->watcher.reset();
  running_->calls.close();
  running_->server->Shutdown(std::chrono::system_clock::now() + kStopTime);
  running_->server->Wait();
  running_->server.reset();
}

bool has_grpc() { return true; }

namespace {

struct Address {
  sockaddr_storage socket{};
  socklen_t size = 0;
  std::string text;  ///< as gRPC wants it
};

/// Nothing if the host is not loopback.
std::optional<Address> loopback_address(const std::string& host, std::uint16_t port) {
  Address address;
  in_addr v4{};
  in6_addr v6{};
  if (inet_pton(AF_INET, host == "localhost" ? "127.0.0.1" : host.c_str(), &v4) == 1) {
    constexpr std::uint32_t kLoopbackNet = 127;
    if (ntohl(v4.s_addr) >> 24U != kLoopbackNet) return std::nullopt;
    const sockaddr_in socket{.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = v4, .sin_zero = {}};
    std::memcpy(&address.socket, &socket, sizeof(socket));
    address.size = sizeof(socket);
    address.text = fmt::format("{}:{}", host == "localhost" ? "127.0.0.1" : host, port);
    return address;
  }
  if (inet_pton(AF_INET6, host.c_str(), &v6) != 1 || IN6_IS_ADDR_LOOPBACK(&v6) == 0) return std::nullopt;
  const sockaddr_in6 socket{
      .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_flowinfo = 0, .sin6_addr = v6, .sin6_scope_id = 0};
  std::memcpy(&address.socket, &socket, sizeof(socket));
  address.size = sizeof(socket);
  address.text = fmt::format("[::1]:{}", port);
  return address;
}

/// Why nothing can listen at the address, which gRPC does not say.
std::string bind_failure(const Address& address) {
  const int descriptor = socket(address.socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return std::generic_category().message(errno);
  const int is_bound = bind(descriptor, reinterpret_cast<const sockaddr*>(&address.socket), address.size);
  const int reason = errno;
  close(descriptor);
  return is_bound == 0 ? "gRPC could not listen" : std::generic_category().message(reason);
}

void set_options(grpc::ServerBuilder& builder, const GrpcServerOptions& options) {
  grpc::ResourceQuota quota("berth");
  quota.Resize(options.memory_bytes_max);
  builder.SetResourceQuota(quota);
  builder.SetMaxReceiveMessageSize(static_cast<int>(options.message_bytes_max));
  // A second server at the same port would get a part of the calls.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // A compressed message of some megabytes could claim all memory before its size is known.
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
}

}  // namespace

Result<std::unique_ptr<GrpcServer>> start_grpc_server(const GrpcServerOptions& options, InferenceService& service) {
  const std::optional<Address> address = loopback_address(options.host, options.port);
  if (!address) {
    return invalid(
        fmt::format("{}:{}: wanted an address of this machine alone, such as 127.0.0.1", options.host, options.port));
  }
  // What the libraries would print are the faults of clients.
  gpr_set_log_function([](gpr_log_func_args*) {});
  google::protobuf::SetLogHandler(nullptr);
  auto running = std::make_unique<GrpcServer::Running>(options, service);
  grpc::ServerBuilder builder;
  set_options(builder, options);
  int port = 0;
  builder.AddListeningPort(address->text, grpc::InsecureServerCredentials(), &port);
  builder.RegisterCallbackGenericService(&running->calls);
  running->server = builder.BuildAndStart();
  if (running->server == nullptr || port == 0) {
    return fail(ErrorCode::kUnavailable, fmt::format("{}: {}", address->text, bind_failure(*address)));
  }
  running->port = static_cast<std::uint16_t>(port);
  running->watcher.emplace([calls = &running->calls] { calls->update_watches(); });
  return std::make_unique<GrpcServer>(std::move(running));
}

}  // namespace berth::edges
