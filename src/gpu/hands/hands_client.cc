#include "gpu/hands/hands_client.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "base/core/overloaded.h"
#include "gpu/hands/detail/device_orders.h"
#include "gpu/hands/detail/program_news.h"
#include "gpu/hands/packet_socket.h"
#include "gpu/hands/protocol.h"
#include "gpu/hands/wake_up.h"

namespace berth::edges {

using detail::in_words;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds kPathHelloPatience{10'000};
constexpr milliseconds kRestartHelloPatience{60'000};  // it lists the GPUs first, some of which may not answer
constexpr milliseconds kEndPatience{2'000};
constexpr milliseconds kFullPause{10};
constexpr milliseconds kLogPatience{2'000};

}  // namespace

/// Everything below is guarded by `mutex_`, except what only its thread uses.
class HandsClient::Thread {
 public:
  Thread(Way way, HandsClientOptions options);
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;
  ~Thread();

  [[nodiscard]] bool wait_until_known(milliseconds at_most) const;
  void submit(const std::vector<DeviceOrder>& orders);
  [[nodiscard]] std::vector<DeviceEnd> take_ended();
  [[nodiscard]] std::vector<DeviceEnd> take_delayed();
  [[nodiscard]] std::optional<std::string> why_not(const std::string& uuid) const;
  [[nodiscard]] std::optional<std::string> why_gone() const;
  [[nodiscard]] Result<void> check(const ProcessOrder& order) const;
  void start(const ProcessOrder& order);
  void stop(const std::string& slice, std::uint64_t generation);
  [[nodiscard]] std::vector<ProcessReport> take_reports();
  [[nodiscard]] bool knows_all() const;
  [[nodiscard]] bool separates_users() const;
  [[nodiscard]] std::optional<std::string> read_log(const ReadProgramLog& question);

 private:
  void run();
  void wait_for_something();
  [[nodiscard]] milliseconds time_to_next() const;
  void connect();
  void say_hello();
  void lose(const std::string& why);
  void restart();
  [[nodiscard]] milliseconds next_restart_pause();
  void reap();
  /// Why the connection was closed. May wait for the process to end.
  [[nodiscard]] std::string why_closed();
  [[nodiscard]] std::optional<std::string> words_of_gone() const;
  void tell_agent();
  /// False: the other side closed the connection.
  [[nodiscard]] bool receive();
  void take(const HandsPacket& packet);
  void take_hello(const HandsHello& hello);
  void keep_deadlines();
  void send_mail();

  const HandsClientOptions options_;
  const std::string path_;       ///< empty: the process was started
  pid_t pid_ = 0;                ///< of the process; 0: there is none, or it has ended
  std::vector<pid_t> unreaped_;  ///< processes that have lost their connection
  bool has_restarted_ = false;   ///< there was an agent before this one
  WakeUp wake_up_;

  mutable std::mutex mutex_;
  mutable std::condition_variable known_;
  bool is_stopping_ = false;
  Descriptor socket_;
  bool is_welcome_ = false;          ///< hello was answered
  std::optional<std::string> gone_;  ///< why there is no agent
  Clock::time_point hello_until_ = Clock::time_point::max();
  Clock::time_point connect_at_ = Clock::time_point::max();
  Descriptor standby_;  ///< of a started agent; closed: it cannot be started again
  Clock::time_point restart_at_ = Clock::time_point::max();
  milliseconds restart_pause_{0};  ///< the last one; 0: none yet
  Clock::time_point welcome_at_ = Clock::time_point::max();
  std::optional<std::string> told_gone_;  ///< the last answer of `why_gone` that was reported
  std::set<std::string> managed_;
  detail::DeviceOrders orders_;
  bool has_news_ = false;
  detail::ProgramNews programs_;
  bool separates_users_ = true;
  std::condition_variable log_known_;

  std::thread thread_;
};

HandsClient::Thread::Thread(Way way, HandsClientOptions options)
    : options_(std::move(options)),
      path_(std::holds_alternative<std::string>(way) ? std::get<std::string>(way) : ""),
      orders_(options_.deadline, options_.busy_pauses) {
  if (auto* process = std::get_if<HandsProcess>(&way)) {
    socket_ = std::move(process->socket);
    pid_ = process->pid;
    standby_ = std::move(process->standby);
    say_hello();
  } else {
    connect_at_ = Clock::now();
  }
  thread_ = std::thread([this] { run(); });
}

HandsClient::Thread::~Thread() {
  {
    const std::scoped_lock hold(mutex_);
    is_stopping_ = true;
  }
  wake_up_.ring();
  thread_.join();
}

bool HandsClient::Thread::wait_until_known(milliseconds at_most) const {
  std::unique_lock hold(mutex_);
  return known_.wait_for(hold, at_most, [this] { return (is_welcome_ && programs_.knows_all()) || gone_; });
}

void HandsClient::Thread::submit(const std::vector<DeviceOrder>& orders) {
  {
    const std::scoped_lock hold(mutex_);
    for (const DeviceOrder& order : orders) orders_.submit(order, gone_);
  }
  wake_up_.ring();
}

std::vector<DeviceEnd> HandsClient::Thread::take_ended() {
  const std::scoped_lock hold(mutex_);
  return orders_.take_ended();
}

std::vector<DeviceEnd> HandsClient::Thread::take_delayed() {
  const std::scoped_lock hold(mutex_);
  return orders_.take_delayed();
}

std::optional<std::string> HandsClient::Thread::why_not(const std::string& uuid) const {
  const std::scoped_lock hold(mutex_);
  if (gone_) return gone_;
  if (!is_welcome_) return "the GPU agent has not answered yet";
  if (!managed_.contains(uuid)) return "it is not in manage: of the GPU agent";
  return orders_.why_not(uuid);
}

std::optional<std::string> HandsClient::Thread::why_gone() const {
  const std::scoped_lock hold(mutex_);
  return words_of_gone();
}

std::optional<std::string> HandsClient::Thread::words_of_gone() const {
  if (!gone_) return std::nullopt;
  std::string next = "it cannot be started again: berth up must be";
  if (!path_.empty()) next = "berth up did not start it: another process must start it again";
  if (standby_.is_open()) next = fmt::format("it is started again after {}", in_words(restart_pause_));
  return fmt::format("the GPU agent (berth hands) is gone: {}; {}", *gone_, next);
}

void HandsClient::Thread::run() {
  while (true) {
    wait_for_something();
    bool is_closed = false;
    {
      const std::scoped_lock hold(mutex_);
      if (is_stopping_) return;
      if (Clock::now() >= connect_at_) connect();
      if (Clock::now() >= restart_at_) restart();
      is_closed = !receive();
      keep_deadlines();
      send_mail();
    }
    const std::string why = is_closed ? why_closed() : "";  // may wait for the process, so called without the lock
    bool has_news = false;
    {
      const std::scoped_lock hold(mutex_);
      if (is_closed) lose(why);
      has_news = orders_.take_news() || has_news_;
      has_news_ = false;
    }
    known_.notify_all();
    log_known_.notify_all();
    if (has_news && has_restarted_) reap_keepers();
    if (has_news && options_.on_news) options_.on_news();
    tell_agent();
  }
}

void HandsClient::Thread::tell_agent() {
  std::optional<std::string> now;
  {
    const std::scoped_lock hold(mutex_);
    now = words_of_gone();
    if (now == told_gone_) return;
    told_gone_ = now;
  }
  if (options_.on_agent) options_.on_agent(now);
}

void HandsClient::Thread::wait_for_something() {
  std::array<pollfd, 2> places{};
  milliseconds time{0};
  {
    const std::scoped_lock hold(mutex_);
    places = {pollfd{.fd = wake_up_.number(), .events = POLLIN, .revents = 0},
              pollfd{.fd = socket_.number(), .events = POLLIN, .revents = 0}};
    time = time_to_next();
  }
  ::poll(places.data(), places.size(), static_cast<int>(time.count()));
  wake_up_.hear();
}

milliseconds HandsClient::Thread::time_to_next() const {
  constexpr milliseconds kMax{60'000};
  constexpr milliseconds kPart{1};  // rounds a started millisecond up
  const auto now = Clock::now();
  auto next = std::min({now + kMax, connect_at_, restart_at_, hello_until_});
  if (is_welcome_ && programs_.has_mail()) next = std::min(next, now + kFullPause);
  next = std::min(next, orders_.next(now, is_welcome_ ? std::optional(kFullPause) : std::nullopt));
  return next <= now ? milliseconds(0) : std::chrono::duration_cast<milliseconds>(next - now) + kPart;
}

void HandsClient::Thread::connect() {
  connect_at_ = Clock::time_point::max();
  auto connected = connect_with_hands(path_);
  if (!connected) return lose(connected.error().message);
  socket_ = std::move(*connected);
  hello_until_ = Clock::now() + kPathHelloPatience;
  say_hello();
}

void HandsClient::Thread::say_hello() {
  // A new connection has buffer space for it. If the other side is already gone, receiving reports it.
  static_cast<void>(
      send_packet(socket_, packet_of(ClientPacket(ClientHello{.world = options_.world, .pid = ::getpid()}))));
}

void HandsClient::Thread::lose(const std::string& why) {
  socket_.close();
  if (pid_ != 0) unreaped_.push_back(std::exchange(pid_, 0));
  const milliseconds pause = next_restart_pause();
  is_welcome_ = false;
  hello_until_ = Clock::time_point::max();
  if (!path_.empty()) connect_at_ = Clock::now() + options_.reconnect_every;
  if (standby_.is_open()) restart_at_ = Clock::now() + pause;
  has_news_ = has_news_ || gone_ != why;
  gone_ = why;
  orders_.lose(why);
  programs_.lose(why);
}

milliseconds HandsClient::Thread::next_restart_pause() {
  const bool was_healthy = is_welcome_ && Clock::now() - welcome_at_ >= options_.healthy_after;
  const bool is_first = was_healthy || restart_pause_.count() == 0;
  restart_pause_ = is_first ? options_.restart_pause : std::min(restart_pause_ * 2, options_.restart_pause_max);
  return restart_pause_;
}

void HandsClient::Thread::restart() {
  restart_at_ = Clock::time_point::max();
  has_restarted_ = true;
  reap();
  auto process = restart_hands(standby_);
  if (!process) {
    standby_.close();
    gone_ = *gone_ + ", and " + process.error().message;
    has_news_ = true;
    return;
  }
  socket_ = std::move(process->socket);
  pid_ = process->pid;
  hello_until_ = Clock::now() + kRestartHelloPatience;
  say_hello();
}

/// Takes the status of earlier agents that have ended, so that the kernel forgets them.
void HandsClient::Thread::reap() {
  std::erase_if(unreaped_, [](pid_t pid) { return how_it_ended(pid, milliseconds(0)).has_value(); });
}

std::string HandsClient::Thread::why_closed() {
  if (!path_.empty()) return fmt::format("the GPU agent at {} is gone", path_);
  const auto how = pid_ == 0 ? std::nullopt : how_it_ended(pid_, kEndPatience);
  if (how) pid_ = 0;
  return how.value_or("the GPU agent closed the connection");
}

bool HandsClient::Thread::receive() {
  while (socket_.is_open()) {
    const Received received = receive_packet(socket_);
    if (received.kind == Received::Kind::kNothing) break;
    if (received.kind == Received::Kind::kGone) return false;
    const auto packet = received.kind == Received::Kind::kPacket
                            ? read_hands_packet(received.bytes)
                            : Result<HandsPacket>(invalid("the packet is too long"));
    if (packet) {
      take(*packet);
    } else {
      lose("the GPU agent sent what cannot be read: " + packet.error().message);
    }
  }
  if (Clock::now() >= hello_until_) {
    lose(path_.empty() ? "the GPU agent did not say hello"
                       : fmt::format("the GPU agent at {} did not say hello", path_));
  }
  return true;
}

void HandsClient::Thread::take(const HandsPacket& packet) {
  std::visit(Overloaded{
                 [this](const HandsHello& hello) { take_hello(hello); },
                 [this](const HandsEnd& end) { orders_.take_end(end, Clock::now()); },
                 [this](const HandsStatus& status) { orders_.take_status(status); },
                 [this](const HandsRefusal& refusal) { lose("the GPU agent refuses: " + refusal.message); },
                 [this](const ProgramState& state) {
                   programs_.take(state.report);
                   has_news_ = true;
                 },
                 [this](const ProgramsListed&) {
                   programs_.take_listed();
                   has_news_ = true;
                 },
                 [this](const ProgramOffered& offered) {
                   if (!programs_.take_offer(offered.offer)) lose("the GPU agent offered what cannot be read");
                 },
                 [this](const ProgramLog& log) { programs_.take_log(log); },
             },
             packet);
}

void HandsClient::Thread::take_hello(const HandsHello& hello) {
  if (hello.version != kProtocolVersion) {
    return lose(
        fmt::format("wanted a GPU agent with version {} of the protocol, found {}", kProtocolVersion, hello.version));
  }
  hello_until_ = Clock::time_point::max();
  is_welcome_ = true;
  welcome_at_ = Clock::now();
  gone_.reset();
  managed_.clear();
  for (const device::ManagedGpu& gpu : hello.gpus) managed_.insert(gpu.uuid);
  separates_users_ = hello.separates_users;
  programs_.ask_for_all();
  has_news_ = true;
}

void HandsClient::Thread::keep_deadlines() {
  // Asks for the name of the call. If the other side does not read, the name stays unknown.
  if (!orders_.keep_deadlines(Clock::now())) return;
  static_cast<void>(send_packet(socket_, packet_of(ClientPacket(StatusQuestion{}))));
}

void HandsClient::Thread::send_mail() {
  if (!is_welcome_) return;
  const auto send = [this](const ClientPacket& packet) {
    return send_packet(socket_, packet_of(packet)) == SendOutcome::kSent;  // if it is gone, receiving reports it
  };
  orders_.send_due(Clock::now(), send);
  programs_.send_mail(send);
}

Result<void> HandsClient::Thread::check(const ProcessOrder& order) const {
  const std::scoped_lock hold(mutex_);
  return programs_.check(order);
}

void HandsClient::Thread::start(const ProcessOrder& order) {
  {
    const std::scoped_lock hold(mutex_);
    if (programs_.start(order, gone_)) has_news_ = true;
  }
  wake_up_.ring();
}

void HandsClient::Thread::stop(const std::string& slice, std::uint64_t generation) {
  {
    const std::scoped_lock hold(mutex_);
    programs_.stop(slice, generation);
  }
  wake_up_.ring();
}

std::vector<ProcessReport> HandsClient::Thread::take_reports() {
  const std::scoped_lock hold(mutex_);
  return programs_.take_reports();
}

bool HandsClient::Thread::knows_all() const {
  const std::scoped_lock hold(mutex_);
  return programs_.knows_all();
}

bool HandsClient::Thread::separates_users() const {
  const std::scoped_lock hold(mutex_);
  return separates_users_;
}

std::optional<std::string> HandsClient::Thread::read_log(const ReadProgramLog& question) {
  std::unique_lock hold(mutex_);
  if (!is_welcome_) return std::nullopt;
  const std::uint64_t ticket = programs_.ask_for_log(question);
  wake_up_.ring();
  log_known_.wait_for(hold, kLogPatience, [&] { return programs_.has_log(ticket) || !is_welcome_; });
  return programs_.take_log_of(ticket);
}

HandsClient::HandsClient(Way way, HandsClientOptions options)
    : thread_(std::make_unique<Thread>(std::move(way), std::move(options))) {}

HandsClient::~HandsClient() = default;

bool HandsClient::wait_until_known(milliseconds at_most) const { return thread_->wait_until_known(at_most); }

void HandsClient::submit(const std::vector<DeviceOrder>& orders) { thread_->submit(orders); }

std::vector<DeviceEnd> HandsClient::take_ended() { return thread_->take_ended(); }

std::vector<DeviceEnd> HandsClient::take_delayed() { return thread_->take_delayed(); }

std::optional<std::string> HandsClient::why_not(const std::string& uuid) const { return thread_->why_not(uuid); }

std::optional<std::string> HandsClient::why_gone() const { return thread_->why_gone(); }

Result<void> HandsClient::check(const ProcessOrder& order) const { return thread_->check(order); }

void HandsClient::start(const ProcessOrder& order) { thread_->start(order); }

void HandsClient::stop(const std::string& slice, std::uint64_t generation) { thread_->stop(slice, generation); }

std::vector<ProcessReport> HandsClient::take_reports() { return thread_->take_reports(); }

bool HandsClient::knows_all() const { return thread_->knows_all(); }

bool HandsClient::separates_users() const { return thread_->separates_users(); }

std::optional<std::string> HandsClient::read_log(const std::string& slice, std::uint64_t generation,
                                                 std::size_t bytes_max) {
  return thread_->read_log({.slice = slice,
                            .generation = generation,
                            .bytes_max = static_cast<std::int64_t>(std::min(bytes_max, kPacketBytesMax))});
}

}  // namespace berth::edges
