#include "gpu/hands/hands_client.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "base/core/overloaded.h"
#include "gpu/hands/detail/program_news.h"
#include "gpu/hands/packet_socket.h"
#include "gpu/hands/plain_end.h"
#include "gpu/hands/protocol.h"
#include "gpu/hands/wake_up.h"

namespace berth::edges {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

namespace {

constexpr std::size_t kWaitingMax = 256;  // for one GPU
constexpr milliseconds kPathHelloPatience{10'000};
constexpr milliseconds kRestartHelloPatience{60'000};  // it lists the GPUs first, some of which may not answer
constexpr milliseconds kEndPatience{2'000};
constexpr milliseconds kFullPause{10};
constexpr milliseconds kLogPatience{2'000};

std::string in_words(milliseconds time) {
  return time.count() % 1000 == 0 ? fmt::format("{} s", time.count() / 1000) : fmt::format("{} ms", time.count());
}

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
  /// The order of a GPU that was sent to the agent, or will be sent again.
  struct Open {
    DeviceOrder order;
    bool is_sent = false;
    Clock::time_point until;  ///< sent: its deadline; else when to send it
    std::size_t busy_count = 0;
    DeviceEnd busy_end = {};  ///< the last one
  };
  /// An order past its deadline.
  struct Overdue {
    DeviceOrder order;
    std::string call;  ///< empty: not known
  };
  struct Gpu {
    std::deque<DeviceOrder> waiting;
    std::optional<Open> open;
    std::optional<Overdue> overdue;
  };

  void run();
  void wait_for_something();
  [[nodiscard]] milliseconds time_to_next() const;
  void connect();
  void say_hello();
  void lose(const std::string& why);
  void end_orders(const std::string& why);
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
  void take_end(HandsEnd packet);
  void take_status(const HandsStatus& status);
  void end_open(Gpu& gpu, DeviceEnd end);
  void keep_deadlines();
  void miss_deadline(Gpu& gpu);
  void send_due();
  void send_about_programs();
  void finish(DeviceEnd end);
  [[nodiscard]] std::string overdue_words(const Overdue& overdue) const;

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
  std::map<std::string, Gpu> gpus_;
  std::vector<DeviceEnd> ended_;
  std::vector<DeviceEnd> delayed_;
  bool has_news_ = false;
  detail::ProgramNews programs_;
  bool separates_users_ = true;
  std::condition_variable log_known_;

  std::thread thread_;
};

HandsClient::Thread::Thread(Way way, HandsClientOptions options)
    : options_(std::move(options)), path_(std::holds_alternative<std::string>(way) ? std::get<std::string>(way) : "") {
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
  return known_.wait_for(hold, at_most, [this] { return is_welcome_ || gone_; });
}

void HandsClient::Thread::submit(const std::vector<DeviceOrder>& orders) {
  {
    const std::scoped_lock hold(mutex_);
    for (const DeviceOrder& order : orders) {
      Gpu& gpu = gpus_[order.uuid];
      if (gone_) {
        finish(plain_end(order, DeviceOutcome::kRefused, *gone_));
      } else if (gpu.overdue) {
        finish(plain_end(order, DeviceOutcome::kRefused, overdue_words(*gpu.overdue)));
      } else if (gpu.waiting.size() >= kWaitingMax) {
        finish(plain_end(order, DeviceOutcome::kRefused, fmt::format("{} orders wait for this GPU", kWaitingMax)));
      } else {
        gpu.waiting.push_back(order);
      }
    }
  }
  wake_up_.ring();
}

std::vector<DeviceEnd> HandsClient::Thread::take_ended() {
  const std::scoped_lock hold(mutex_);
  return std::exchange(ended_, {});
}

std::vector<DeviceEnd> HandsClient::Thread::take_delayed() {
  const std::scoped_lock hold(mutex_);
  return std::exchange(delayed_, {});
}

std::optional<std::string> HandsClient::Thread::why_not(const std::string& uuid) const {
  const std::scoped_lock hold(mutex_);
  if (gone_) return gone_;
  if (!is_welcome_) return "the hands have not answered yet";
  if (!managed_.contains(uuid)) return "it is not in manage: of the hands";
  const auto gpu = gpus_.find(uuid);
  if (gpu == gpus_.end() || !gpu->second.overdue) return std::nullopt;
  return overdue_words(*gpu->second.overdue);
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
      send_due();
      send_about_programs();
    }
    const std::string why = is_closed ? why_closed() : "";  // may wait for the process, so called without the lock
    bool has_news = false;
    {
      const std::scoped_lock hold(mutex_);
      if (is_closed) lose(why);
      has_news = std::exchange(has_news_, false);
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
  for (const auto& [uuid, gpu] : gpus_) {
    if (!gpu.open) continue;
    // An order that is due but not sent waits for the other side to read, or to answer the hello; either wakes this
    // thread.
    const bool is_due = !gpu.open->is_sent && gpu.open->until <= now;
    if (!is_due) {
      next = std::min(next, gpu.open->until);
    } else if (is_welcome_) {
      next = std::min(next, now + kFullPause);
    }
  }
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
  end_orders(why);
  programs_.lose(why);
}

void HandsClient::Thread::end_orders(const std::string& why) {
  for (auto& [uuid, gpu] : gpus_) {
    const auto lose_sent = [&](const DeviceOrder& order) {
      finish(plain_end(order, DeviceOutcome::kFailed, "nobody knows what became of it: " + why));
    };
    if (gpu.overdue) lose_sent(gpu.overdue->order);
    gpu.overdue.reset();
    if (gpu.open && gpu.open->is_sent) {
      lose_sent(gpu.open->order);
    } else if (gpu.open && gpu.open->busy_count > 0) {
      finish(std::move(gpu.open->busy_end));
    } else if (gpu.open) {
      finish(plain_end(gpu.open->order, DeviceOutcome::kRefused, why));
    }
    gpu.open.reset();
    for (const DeviceOrder& order : gpu.waiting) finish(plain_end(order, DeviceOutcome::kRefused, why));
    gpu.waiting.clear();
  }
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
  if (!path_.empty()) return fmt::format("the hands at {} are gone", path_);
  const auto how = pid_ == 0 ? std::nullopt : how_it_ended(pid_, kEndPatience);
  if (how) pid_ = 0;
  return how.value_or("the hands closed the connection");
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
      lose("the hands sent what cannot be read: " + packet.error().message);
    }
  }
  if (Clock::now() >= hello_until_) {
    lose(path_.empty() ? "the hands did not say hello" : fmt::format("the hands at {} did not say hello", path_));
  }
  return true;
}

void HandsClient::Thread::take(const HandsPacket& packet) {
  std::visit(Overloaded{
                 [this](const HandsHello& hello) { take_hello(hello); },
                 [this](const HandsEnd& end) { take_end(end); },
                 [this](const HandsStatus& status) { take_status(status); },
                 [this](const HandsRefusal& refusal) { lose("the hands refuse: " + refusal.message); },
                 [this](const ProgramState& state) {
                   programs_.take(state.report);
                   has_news_ = true;
                 },
                 [this](const ProgramsListed&) {
                   programs_.take_listed();
                   has_news_ = true;
                 },
                 [this](const ProgramOffered& offered) {
                   if (!programs_.take_offer(offered.offer)) lose("the hands offered what cannot be read");
                 },
                 [this](const ProgramLog& log) { programs_.take_log(log); },
             },
             packet);
}

void HandsClient::Thread::take_hello(const HandsHello& hello) {
  if (hello.version != kProtocolVersion) {
    return lose(fmt::format("wanted hands with version {} of the protocol, found {}", kProtocolVersion, hello.version));
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

void HandsClient::Thread::take_end(HandsEnd packet) {
  if (packet.is_kept) return finish(std::move(packet.end));
  for (auto& [uuid, gpu] : gpus_) {
    if (gpu.overdue && gpu.overdue->order.intent == packet.end.intent) {
      gpu.overdue.reset();
      return finish(std::move(packet.end));
    }
    if (gpu.open && gpu.open->is_sent && gpu.open->order.intent == packet.end.intent) {
      return end_open(gpu, std::move(packet.end));
    }
  }
}

void HandsClient::Thread::end_open(Gpu& gpu, DeviceEnd end) {
  Open& open = *gpu.open;
  if (end.outcome == DeviceOutcome::kBusy && open.busy_count < options_.busy_pauses.size()) {
    open.is_sent = false;
    open.until = Clock::now() + options_.busy_pauses[open.busy_count];
    ++open.busy_count;
    open.busy_end = std::move(end);
    if (open.busy_count > 1) return;
    delayed_.push_back(open.busy_end);
    has_news_ = true;
    return;
  }
  gpu.open.reset();
  finish(std::move(end));
}

void HandsClient::Thread::take_status(const HandsStatus& status) {
  for (const HandsStatus::UnderWay& order : status.orders) {
    const auto gpu = gpus_.find(order.uuid);
    if (gpu == gpus_.end() || !gpu->second.overdue || gpu->second.overdue->order.intent != order.intent) continue;
    gpu->second.overdue->call = order.call;
    has_news_ = true;
  }
}

void HandsClient::Thread::keep_deadlines() {
  const auto now = Clock::now();
  bool is_one_missed = false;
  for (auto& [uuid, gpu] : gpus_) {
    if (!gpu.open || !gpu.open->is_sent || now < gpu.open->until) continue;
    miss_deadline(gpu);
    is_one_missed = true;
  }
  // Asks for the name of the call. If the other side does not read, the name stays unknown.
  if (is_one_missed) static_cast<void>(send_packet(socket_, packet_of(ClientPacket(StatusQuestion{}))));
}

void HandsClient::Thread::miss_deadline(Gpu& gpu) {
  DeviceEnd end = plain_end(gpu.open->order, DeviceOutcome::kFailed, "no end after " + in_words(options_.deadline));
  end.goes_on = true;
  finish(std::move(end));
  gpu.overdue = Overdue{.order = std::move(gpu.open->order), .call = ""};
  gpu.open.reset();
  for (const DeviceOrder& order : gpu.waiting) {
    finish(plain_end(order, DeviceOutcome::kRefused, overdue_words(*gpu.overdue)));
  }
  gpu.waiting.clear();
}

void HandsClient::Thread::send_due() {
  if (!is_welcome_) return;
  const auto now = Clock::now();
  for (auto& [uuid, gpu] : gpus_) {
    if (!gpu.open && !gpu.waiting.empty() && !gpu.overdue) {
      gpu.open = Open{.order = std::move(gpu.waiting.front()), .is_sent = false, .until = now};
      gpu.waiting.pop_front();
    }
    if (!gpu.open || gpu.open->is_sent || now < gpu.open->until) continue;
    // If the other side is gone, receiving reports it.
    if (send_packet(socket_, packet_of(ClientPacket(gpu.open->order))) != SendOutcome::kSent) continue;
    gpu.open->is_sent = true;
    gpu.open->until = now + options_.deadline;
  }
}

void HandsClient::Thread::send_about_programs() {
  if (!is_welcome_) return;
  programs_.send_mail([this](const ClientPacket& packet) {
    return send_packet(socket_, packet_of(packet)) == SendOutcome::kSent;  // if it is gone, receiving reports it
  });
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

void HandsClient::Thread::finish(DeviceEnd end) {
  ended_.push_back(std::move(end));
  has_news_ = true;
}

std::string HandsClient::Thread::overdue_words(const Overdue& overdue) const {
  const std::string what = overdue.call.empty() ? fmt::format("order {}", overdue.order.intent) : overdue.call;
  return fmt::format("{} has not returned for more than {}", what, in_words(options_.deadline));
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
