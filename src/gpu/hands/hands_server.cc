#include "gpu/hands/hands_server.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/core/overloaded.h"
#include "base/core/text.h"
#include "gpu/hands/detail/gpu_worker.h"
#include "gpu/hands/plain_end.h"
#include "gpu/hands/protocol.h"
#include "gpu/hands/wake_up.h"

namespace berth::edges {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kHelloPatience{5'000};
constexpr milliseconds kLookAround{500};  // for clients that do not say hello, or do not read
constexpr int kPacketsPerTurn = 64;
constexpr milliseconds kLookPatience{5'000};  // for the driver to list the MIG devices of a GPU
constexpr std::size_t kOutboxMax = 1024;
constexpr std::size_t kHeldMax = 512;

HandsEnd refused(const DeviceOrder& order, std::string message) {
  return {.end = plain_end(order, DeviceOutcome::kRefused, std::move(message))};
}

/// The messages of the GPU threads to the serving thread; shared, so that a thread left behind can still use it.
struct Inbox {
  struct Ended {
    detail::Task task;
    DeviceEnd end;
  };

  WakeUp wake_up;
  std::mutex mutex;
  std::vector<Ended> ended;  ///< under mutex; at most one from each GPU's thread
};

struct Client {
  Descriptor socket;
  std::uint64_t number = 0;
  Clock::time_point since;
  std::optional<std::string> world;  ///< absent: it has not said hello
  std::int64_t pid = 0;
  std::deque<std::string> outbox = {};
};

/// A start on a device that is not known, until all GPUs were looked at.
struct HeldStart {
  ProcessOrder order;
  std::map<std::string, std::uint64_t> looks;  ///< by UUID of the GPU
  Clock::time_point until;
};

class Server {
 public:
  explicit Server(HandsServerOptions options);

  void take_client(Descriptor connection, std::int64_t pid);
  /// Null: serves only the client that it already has.
  [[nodiscard]] bool run(const HandsSocket* socket, int stop);

 private:
  [[nodiscard]] bool finish(bool is_stopped, int stop);
  /// Waits for something to do, for at most `at_most`. Returns whether `stop` can be read.
  [[nodiscard]] bool wait(const HandsSocket* socket, int stop, milliseconds at_most) const;
  void work_once(const HandsSocket* socket);
  void accept_next(const HandsSocket& socket);
  void drop_client(const std::string& why);
  void forget_client();
  void drop_silent_client();
  void read_client();
  /// Error: the packet is not allowed now.
  [[nodiscard]] Result<void> obey(const ClientPacket& packet);
  [[nodiscard]] Result<void> greet(const ClientHello& hello);
  void take_order(const DeviceOrder& order);
  void answer_status();
  void start_program(const ProcessOrder& order);
  void begin_held();
  void refuse_start(const ProcessOrder& order, std::string message);
  [[nodiscard]] bool manages(const std::string& device) const;
  void stop_program(const StopProgram& which);
  void list_programs();
  void answer_log(const ReadProgramLog& question);
  void pass_ends_on();
  void pass_reports_on();
  void send(const HandsPacket& packet);
  void flush();
  [[nodiscard]] bool are_all_idle() const;

  const HandsServerOptions options_;
  const std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
  std::map<std::string, std::unique_ptr<detail::GpuWorker>> workers_;  ///< by UUID
  std::optional<Client> client_;
  std::uint64_t client_count_ = 0;
  std::map<std::string, Inbox::Ended> kept_;  ///< by UUID
  std::vector<HeldStart> held_;
};

Server::Server(HandsServerOptions options) : options_(std::move(options)) {
  for (const device::ManagedGpu& gpu : options_.gpus) {
    detail::WorkerParts parts{.library = options_.library,
                              .changer = options_.changer,
                              .carry_out = options_.carry_out,
                              .lock_folder = options_.lock_folder,
                              .on_ended =
                                  [inbox = inbox_](const detail::Task& task, DeviceEnd end) {
                                    const std::scoped_lock hold(inbox->mutex);
                                    inbox->ended.push_back({task, std::move(end)});
                                  },
                              .on_idle = [inbox = inbox_] { inbox->wake_up.ring(); }};
    workers_[gpu.uuid] = std::make_unique<detail::GpuWorker>(gpu, std::move(parts));
  }
  if (options_.programs) options_.programs->on_news([inbox = inbox_] { inbox->wake_up.ring(); });
}

bool Server::run(const HandsSocket* socket, int stop) {
  while (socket != nullptr || client_) {
    if (wait(socket, stop, kLookAround)) return finish(true, stop);
    work_once(socket);
  }
  return finish(false, stop);
}

bool Server::finish(bool is_stopped, int stop) {
  for (const auto& [uuid, worker] : workers_) worker->forget_waiting();
  auto until = Clock::now() + options_.patience;
  while (!are_all_idle()) {
    if (is_stopped && Clock::now() > until) {
      options_.log("calls have not returned: their GPUs are left as they are");
      for (const auto& [uuid, worker] : workers_) worker->leave_behind();
      return false;
    }
    const bool is_asked = wait(nullptr, is_stopped ? -1 : stop, milliseconds(50));
    if (is_asked) until = Clock::now() + options_.patience;
    is_stopped = is_stopped || is_asked;
    work_once(nullptr);
  }
  pass_ends_on();
  flush();
  client_.reset();
  return true;
}

bool Server::wait(const HandsSocket* socket, int stop, milliseconds at_most) const {
  // poll ignores negative descriptors.
  const bool has_mail = client_ && !client_->outbox.empty();
  std::array<pollfd, 4> places = {
      pollfd{.fd = stop, .events = POLLIN, .revents = 0},
      pollfd{.fd = inbox_->wake_up.number(), .events = POLLIN, .revents = 0},
      pollfd{.fd = socket == nullptr ? -1 : socket->number(), .events = POLLIN, .revents = 0},
      pollfd{.fd = client_ ? client_->socket.number() : -1,
             .events = static_cast<short>(has_mail ? POLLIN | POLLOUT : POLLIN),
             .revents = 0}};
  const int count = ::poll(places.data(), places.size(), static_cast<int>(at_most.count()));
  return count > 0 && (places[0].revents & (POLLIN | POLLHUP)) != 0;
}

void Server::work_once(const HandsSocket* socket) {
  inbox_->wake_up.hear();
  pass_ends_on();
  pass_reports_on();
  begin_held();
  read_client();
  if (socket != nullptr) accept_next(*socket);
  flush();
  // A client that started this agent may take as long as its driver does; no other client waits.
  if (socket != nullptr) drop_silent_client();
}

void Server::accept_next(const HandsSocket& socket) {
  auto connection = socket.accept();
  if (!connection) return;
  const auto peer = peer_of(*connection);
  if (!peer || !socket.may_connect(*peer)) {
    options_.log(
        fmt::format("refused a client of user {}: wanted root or the owner of the socket", peer ? peer->uid : 0));
    return;
  }
  if (!client_) return take_client(std::move(*connection), peer->pid);
  const HandsRefusal refusal{.message = fmt::format("process {} is connected, and one at a time may be", client_->pid)};
  static_cast<void>(send_packet(*connection, packet_of(HandsPacket(refusal))));
}

void Server::take_client(Descriptor connection, std::int64_t pid) {
  client_.emplace();
  client_->socket = std::move(connection);
  client_->number = ++client_count_;
  client_->since = Clock::now();
  client_->pid = pid;
}

void Server::drop_client(const std::string& why) {
  options_.log(fmt::format("process {} is no client any more: {}", client_->pid, why));
  forget_client();
}

void Server::forget_client() {
  client_.reset();
  held_.clear();
  for (const auto& [uuid, worker] : workers_) worker->forget_waiting();
}

void Server::drop_silent_client() {
  if (!client_ || client_->world || Clock::now() - client_->since < kHelloPatience) return;
  drop_client("it did not say hello");
}

void Server::read_client() {
  for (int i = 0; client_ && i < kPacketsPerTurn; ++i) {
    const Received received = receive_packet(client_->socket);
    switch (received.kind) {
      case Received::Kind::kNothing:
        return;
      case Received::Kind::kGone:
        return options_.logs_clients ? drop_client("it is gone") : forget_client();
      case Received::Kind::kTooLong:
        return drop_client(fmt::format("it sent a packet of more than {} bytes", kPacketBytesMax));
      case Received::Kind::kPacket:
        break;
    }
    const auto packet = read_client_packet(received.bytes);
    const Result<void> obeyed = packet ? obey(*packet) : Result<void>(pass_on(packet.error()));
    flush();
    if (client_ && !obeyed) return drop_client(obeyed.error().message);
  }
}

Result<void> Server::obey(const ClientPacket& packet) {
  if (!client_->world) {
    if (const auto* hello = std::get_if<ClientHello>(&packet)) return greet(*hello);
    return invalid("wanted a hello, found another packet");
  }
  return std::visit(Overloaded{
                        [](const ClientHello&) -> Result<void> { return invalid("wanted one hello, found two"); },
                        [this](const DeviceOrder& order) -> Result<void> {
                          take_order(order);
                          return {};
                        },
                        [this](const StatusQuestion&) -> Result<void> {
                          answer_status();
                          return {};
                        },
                        [this](const StartProgram& start) -> Result<void> {
                          start_program(start.order);
                          return {};
                        },
                        [this](const StopProgram& stop) -> Result<void> {
                          stop_program(stop);
                          return {};
                        },
                        [this](const ListPrograms&) -> Result<void> {
                          list_programs();
                          return {};
                        },
                        [this](const ReadProgramLog& question) -> Result<void> {
                          answer_log(question);
                          return {};
                        },
                    },
                    packet);
}

Result<void> Server::greet(const ClientHello& hello) {
  const bool separates_users = !options_.programs || options_.programs->separates_users;
  // Answers any client; its version may differ.
  send(HandsHello{.pid = ::getpid(), .gpus = options_.gpus, .separates_users = separates_users});
  if (hello.version != kProtocolVersion) {
    return invalid(fmt::format("wanted version {} of the protocol, found {}", kProtocolVersion, hello.version));
  }
  client_->world = hello.world;
  if (options_.logs_clients) {
    options_.log(fmt::format("process {} is the client, world {}", client_->pid, in_quotes(hello.world)));
  }
  if (options_.programs) {
    for (const programs::ProgramOffer& offer : options_.programs->offers) send(ProgramOffered{.offer = offer});
  }
  for (const auto& [uuid, kept] : kept_) {
    if (kept.task.world == hello.world) send(HandsEnd{.end = kept.end, .is_kept = true});
  }
  kept_.clear();
  return {};
}

void Server::take_order(const DeviceOrder& order) {
  const auto worker = workers_.find(order.uuid);
  if (worker == workers_.end()) {
    return send(refused(order, fmt::format("{} is not in manage: of the GPU agent", in_quotes(order.uuid))));
  }
  if (order.verb == DeviceVerb::kMigModeOn && !worker->second->gpu().has_mig_mode) {
    return send(refused(order, "mig_mode: true is not in manage: of the GPU agent for this GPU"));
  }
  if (worker->second->give({.order = order, .connection = client_->number, .world = *client_->world})) return;
  send(refused(order, fmt::format("{} orders wait for this GPU", detail::GpuWorker::kWaitingMax)));
}

void Server::answer_status() {
  HandsStatus status;
  for (const auto& [uuid, worker] : workers_) {
    if (auto order = worker->under_way()) status.orders.push_back(std::move(*order));
  }
  send(status);
}

void Server::start_program(const ProcessOrder& order) {
  if (!options_.programs) {
    return refuse_start(order,
                        "run: wanted templates or repositories in the configuration of the GPU agent, found none");
  }
  if (manages(order.device_uuid)) return options_.programs->start(order);
  if (held_.size() >= kHeldMax) return refuse_start(order, fmt::format("wanted at most {} starts at a time", kHeldMax));
  HeldStart held{.order = order, .looks = {}, .until = Clock::now() + kLookPatience};
  for (const auto& [uuid, worker] : workers_) held.looks.emplace(uuid, worker->look());
  held_.push_back(std::move(held));
  begin_held();
}

void Server::begin_held() {
  std::vector<HeldStart> held;
  held.swap(held_);
  for (HeldStart& each : held) {
    const bool is_known = std::ranges::all_of(
        each.looks, [this](const auto& look) { return workers_.at(look.first)->has_looked(look.second); });
    if (manages(each.order.device_uuid)) {
      options_.programs->start(each.order);
    } else if (is_known || Clock::now() > each.until) {
      refuse_start(each.order,
                   fmt::format("device: wanted a GPU of manage: of the GPU agent, or a MIG device on one, found {}",
                               in_quotes(each.order.device_uuid)));
    } else {
      held_.push_back(std::move(each));
    }
  }
}

bool Server::manages(const std::string& device) const {
  return std::ranges::any_of(workers_, [&](const auto& worker) { return worker.second->has_device(device); });
}

void Server::refuse_start(const ProcessOrder& order, std::string message) {
  ProcessReport report{.order = order, .phase = ProcessPhase::kFailed};
  report.message = std::move(message);
  send(ProgramState{.report = std::move(report)});
}

void Server::stop_program(const StopProgram& which) {
  std::erase_if(held_, [&](const HeldStart& held) {
    return held.order.slice == which.slice && held.order.generation == which.generation;
  });
  if (options_.programs) return options_.programs->stop(which.slice, which.generation);
  ProcessReport report{.phase = ProcessPhase::kStopped};
  report.order.slice = which.slice;
  report.order.generation = which.generation;
  send(ProgramState{.report = std::move(report)});
}

void Server::list_programs() {
  if (options_.programs) {
    for (ProcessReport& report : options_.programs->list()) send(ProgramState{.report = std::move(report)});
  }
  send(ProgramsListed{});
}

void Server::answer_log(const ReadProgramLog& question) {
  ProgramLog log{.slice = question.slice, .generation = question.generation, .text = std::nullopt};
  if (options_.programs) {
    log.text =
        options_.programs->read_log(question.slice, question.generation, static_cast<std::size_t>(question.bytes_max));
  }
  send(log);
}

void Server::pass_reports_on() {
  if (!options_.programs) return;
  // Without a client they are dropped: the next one asks for a list.
  for (ProcessReport& report : options_.programs->take_reports()) {
    if (client_ && client_->world) send(ProgramState{.report = std::move(report)});
  }
}

void Server::pass_ends_on() {
  std::vector<Inbox::Ended> ended;
  {
    const std::scoped_lock hold(inbox_->mutex);
    ended.swap(inbox_->ended);
  }
  for (Inbox::Ended& each : ended) {
    if (client_ && client_->world == each.task.world) {
      send(HandsEnd{.end = each.end, .is_kept = each.task.connection != client_->number});
    } else {
      kept_.insert_or_assign(each.task.order.uuid, std::move(each));
    }
  }
}

void Server::send(const HandsPacket& packet) { client_->outbox.push_back(packet_of(packet)); }

void Server::flush() {
  while (client_ && !client_->outbox.empty()) {
    switch (send_packet(client_->socket, client_->outbox.front())) {
      case SendOutcome::kSent:
        client_->outbox.pop_front();
        break;
      case SendOutcome::kFull:
        if (client_->outbox.size() > kOutboxMax) drop_client("it does not read");
        return;
      case SendOutcome::kGone:
        return drop_client("it is gone");
    }
  }
}

bool Server::are_all_idle() const {
  return std::ranges::all_of(workers_, [](const auto& entry) { return entry.second->is_idle(); });
}

}  // namespace

bool serve_clients(const HandsSocket& socket, int stop, HandsServerOptions options) {
  return Server(std::move(options)).run(&socket, stop);
}

bool serve_client(Descriptor client, int stop, HandsServerOptions options) {
  const auto peer = peer_of(client);
  Server server(std::move(options));
  server.take_client(std::move(client), peer ? peer->pid : 0);
  return server.run(nullptr, stop);
}

}  // namespace berth::edges
