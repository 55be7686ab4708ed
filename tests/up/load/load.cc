/// The load generator of scripts/bench live-writes: clients of a running `berth up`, in one thread.
///
/// Each writer PUTs a service of its own again and again, the next one as soon as the last is answered, each with
/// another body and another Idempotency-Key. Readers are an open loop: reads are due at a fixed rate, whichever reader
/// is free sends the next, and a read's latency begins when it was due. So a server that stalls is not asked less.
///
/// The first write of each writer makes its service and is not measured, unless it fails. Then the line `begun` is
/// printed, and at the end one JSON object: `seconds`, `broken` (connections), `fewest` and `most` (writes of one
/// writer), and `write` and each kind of read as LatencyTally::json says. No request is sent after the end; answers
/// after it are waited for, kGraceSeconds at most. A connection that breaks is not opened again.
///
/// Exit status 0 also with errors in the answers; 1 if it cannot connect or write its file; 2 for bad words.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ranges>
#include <vector>

#include "http_connection.h"
#include "latency_tally.h"
#include "load_options.h"
#include "requests.h"

namespace berth::load {
namespace {

constexpr std::chrono::seconds kGraceSeconds{10};
constexpr std::size_t kEventsMax = 512;
constexpr int kWaitMs = 50;
constexpr std::array<const char*, kReadKindCount> kReadNames = {"one_gpu", "page_of_gpus", "one_service",
                                                                "page_of_services"};

/// A write that was answered with 2xx.
struct Acknowledged {
  WriteId id;
  std::string version;
};

struct Writer {
  HttpConnection connection;
  WriteId next;
  bool is_prepared = false;  // its first write was answered, or never will be
  bool is_waiting = false;
  Clock::time_point sent_at;
  std::optional<Acknowledged> acknowledged;  // the last one
};

struct Reader {
  HttpConnection connection;
  bool is_waiting = false;
  std::size_t read = 0;  // the one it waits for
};

/// The text behind "resourceVersion":" in an object.
std::string version_in(std::string_view body) {
  constexpr std::string_view kName = R"("resourceVersion":")";
  const std::size_t at = body.find(kName);
  if (at == std::string_view::npos) return "";
  body.remove_prefix(at + kName.size());
  return std::string(body.substr(0, body.find('"')));
}

class Load {
 public:
  explicit Load(const LoadOptions& options)
      : options_(options),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)),
        timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK)) {}
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  ~Load() {
    ::close(timer_);
    ::close(epoll_);
  }

  [[nodiscard]] bool connect();
  void run();
  void print() const;
  [[nodiscard]] bool write_acks() const;

 private:
  /// Clients are numbered: writers first, then readers, then the timer.
  bool watch(int descriptor, std::size_t index, std::uint32_t events) const;
  void handle(std::size_t index);
  void begin();
  void handle_writer(Writer& writer);
  void send_write(Writer& writer);
  void handle_reader(Reader& reader);
  void send_due_reads();
  void arm_timer() const;
  [[nodiscard]] Clock::time_point due_at(std::size_t read) const;
  [[nodiscard]] bool is_over() const;
  void count_unanswered();

  const LoadOptions& options_;
  int epoll_;
  int timer_;  // when the next read is due
  std::vector<Writer> writers_;
  std::vector<Reader> readers_;
  std::size_t next_read_ = 0;
  std::size_t unprepared_count_ = 0;  // writers without an answer to their first write
  bool has_begun_ = false;
  Clock::time_point began_;
  Clock::time_point end_ = Clock::time_point::max();
  LatencyTally writes_;
  std::array<LatencyTally, kReadKindCount> reads_;
};

bool Load::connect() {
  // Readers first: if the server takes fewer connections than there are clients, writers are refused.
  for (unsigned index = 0; index < options_.readers; ++index) {
    auto connection = HttpConnection::open(options_.address);
    if (!connection) return false;
    readers_.push_back({.connection = std::move(*connection)});
  }
  for (unsigned index = 0; index < options_.writers; ++index) {
    auto connection = HttpConnection::open(options_.address);
    if (!connection) return false;
    writers_.push_back(
        {.connection = std::move(*connection), .next = {.writer = index}, .sent_at = {}, .acknowledged = {}});
  }
  bool is_watching = watch(timer_, writers_.size() + readers_.size(), EPOLLIN);
  constexpr std::uint32_t kAnyChange = EPOLLIN | EPOLLOUT | EPOLLET;
  for (std::size_t index = 0; index < writers_.size(); ++index) {
    is_watching = is_watching && watch(writers_[index].connection.descriptor(), index, kAnyChange);
  }
  for (std::size_t index = 0; index < readers_.size(); ++index) {
    is_watching = is_watching && watch(readers_[index].connection.descriptor(), writers_.size() + index, kAnyChange);
  }
  return is_watching;
}

bool Load::watch(int descriptor, std::size_t index, std::uint32_t events) const {
  epoll_event event{};
  event.events = events;
  event.data.u64 = index;
  return ::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

void Load::run() {
  unprepared_count_ = writers_.size();
  if (unprepared_count_ == 0) begin();
  for (Writer& writer : writers_) send_write(writer);
  std::array<epoll_event, kEventsMax> events{};
  while (!is_over()) {
    const int count = ::epoll_wait(epoll_, events.data(), kEventsMax, kWaitMs);
    for (int index = 0; index < count; ++index) handle(events[static_cast<std::size_t>(index)].data.u64);
  }
  count_unanswered();
}

void Load::handle(std::size_t index) {
  if (index < writers_.size()) {
    handle_writer(writers_[index]);
  } else if (index < writers_.size() + readers_.size()) {
    handle_reader(readers_[index - writers_.size()]);
  } else {
    send_due_reads();
  }
}

/// All services are there: the time begins, and everybody sends.
void Load::begin() {
  has_begun_ = true;
  began_ = Clock::now();
  end_ = began_ + std::chrono::seconds(options_.seconds);
  std::puts("begun");
  std::fflush(stdout);
  for (Writer& writer : writers_) {
    if (!writer.is_waiting && !writer.connection.is_broken()) send_write(writer);
  }
  if (!readers_.empty()) send_due_reads();
}

void Load::handle_writer(Writer& writer) {
  const auto answer = writer.connection.proceed();
  const auto now = Clock::now();
  if (answer) {
    writer.is_waiting = false;
    const unsigned number = writer.next.number++;
    const bool is_success = answer->status / 100 == 2;
    if (number > 0 || !is_success) writes_.add(answer->status, writer.sent_at, now, now > end_);
    if (is_success) {
      writer.acknowledged = {.id = {.writer = writer.next.writer, .number = number},
                             .version = version_in(answer->body)};
    }
  }
  const bool is_first = !writer.is_prepared && (answer || writer.connection.is_broken());
  writer.is_prepared = writer.is_prepared || is_first;
  if (is_first && --unprepared_count_ == 0) {
    begin();
  } else if (answer && has_begun_ && now < end_ && !writer.connection.is_broken()) {
    send_write(writer);
  }
}

void Load::send_write(Writer& writer) {
  writer.is_waiting = true;
  writer.sent_at = Clock::now();
  writer.connection.send(write_request(options_, writer.next, write_body(options_, writer.next)));
}

void Load::handle_reader(Reader& reader) {
  const auto answer = reader.connection.proceed();
  if (!answer) return;
  reader.is_waiting = false;
  const auto kind = static_cast<std::size_t>(kind_of_read(reader.read));
  const auto now = Clock::now();
  reads_[kind].add(answer->status, due_at(reader.read), now, now > end_);
  send_due_reads();
}

/// Every read that is due goes to a reader that is free, as long as there is one. In turn: the server closes idle ones.
void Load::send_due_reads() {
  if (!has_begun_) return;
  const std::size_t first = next_read_;
  for (std::size_t step = 0; step < readers_.size(); ++step) {
    Reader& reader = readers_[(first + step) % readers_.size()];
    if (due_at(next_read_) > Clock::now() || due_at(next_read_) >= end_) break;
    if (reader.is_waiting || reader.connection.is_broken()) continue;
    reader.is_waiting = true;
    reader.read = next_read_++;
    reader.connection.send(read_request(options_, reader.read));
  }
  arm_timer();
}

/// Wakes the loop when the next read is due, or not at all if it is already: then a reader that becomes free sends it.
void Load::arm_timer() const {
  const auto due = due_at(next_read_);
  itimerspec when{};
  if (due < end_ && due > Clock::now()) {
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(due.time_since_epoch()).count();
    when.it_value.tv_sec = ns / 1'000'000'000;
    when.it_value.tv_nsec = ns % 1'000'000'000;
  }
  ::timerfd_settime(timer_, TFD_TIMER_ABSTIME, &when, nullptr);
}

Clock::time_point Load::due_at(std::size_t read) const {
  return began_ + std::chrono::nanoseconds(read * 1'000'000'000 / options_.reads_per_second);
}

bool Load::is_over() const {
  const auto now = Clock::now();
  if (has_begun_ && now >= end_ + kGraceSeconds) return true;
  const auto is_idle = [](const auto& client) { return !client.is_waiting || client.connection.is_broken(); };
  const auto is_broken = [](const auto& client) { return client.connection.is_broken(); };
  const bool are_all_idle = std::ranges::all_of(writers_, is_idle) && std::ranges::all_of(readers_, is_idle);
  const bool are_all_broken = std::ranges::all_of(writers_, is_broken) && std::ranges::all_of(readers_, is_broken);
  return are_all_broken || (has_begun_ && now >= end_ && are_all_idle);
}

/// Requests under way at the end, and reads that were due and for which no reader was free.
void Load::count_unanswered() {
  for (const Writer& writer : writers_) {
    if (writer.is_waiting) writes_.add_unanswered();
  }
  for (const Reader& reader : readers_) {
    if (reader.is_waiting) reads_[static_cast<std::size_t>(kind_of_read(reader.read))].add_unanswered();
  }
  const auto now = Clock::now();
  for (; !readers_.empty() && due_at(next_read_) < std::min(end_, now); ++next_read_) {
    reads_[static_cast<std::size_t>(kind_of_read(next_read_))].add_unanswered();
  }
}

void Load::print() const {
  const auto ended = std::min(Clock::now(), end_);
  const double seconds = has_begun_ ? std::chrono::duration<double>(ended - began_).count() : 0.0;
  std::vector<std::string> parts = {fmt::format(R"("seconds":{:.3f})", seconds)};
  const auto is_broken = [](const auto& client) { return client.connection.is_broken(); };
  parts.push_back(fmt::format(R"("broken":{})",
                              std::ranges::count_if(writers_, is_broken) + std::ranges::count_if(readers_, is_broken)));
  if (!writers_.empty()) {
    const auto number = [](const Writer& writer) { return writer.next.number; };
    const auto [fewest, most] = std::ranges::minmax(writers_ | std::views::transform(number));
    parts.push_back(fmt::format(R"("fewest":{},"most":{},"write":{})", fewest, most, writes_.json(seconds)));
  }
  for (std::size_t kind = 0; kind < kReadKindCount && !readers_.empty(); ++kind) {
    parts.push_back(fmt::format(R"("{}":{})", kReadNames[kind], reads_[kind].json(seconds)));
  }
  fmt::print("{{{}}}\n", fmt::join(parts, ","));
}

/// Lines of JSON; the body is given as it was sent, so that it can be sent again.
bool Load::write_acks() const {
  std::FILE* file = std::fopen(options_.acks_file.c_str(), "w");
  if (file == nullptr) return false;
  for (const Writer& writer : writers_) {
    if (!writer.acknowledged) continue;
    const WriteId id = writer.acknowledged->id;
    std::string body = write_body(options_, id);
    for (std::size_t at = 0; (at = body.find('"', at)) != std::string::npos; at += 2) body.insert(at, 1, '\\');
    fmt::print(file,
               R"({{"service":"{}","key":"{}","number":{},"resourceVersion":"{}","body":"{}"}})"
               "\n",
               service_name(id.writer), idempotency_key(options_, id), id.number, writer.acknowledged->version, body);
  }
  return std::fclose(file) == 0;
}

int run_load(std::span<const char* const> words) {
  const auto options = read_options(words);
  if (!options) {
    fmt::print(stderr, "{}", usage_text());
    return 2;
  }
  Load load(*options);
  if (!load.connect()) {
    std::perror("berth_load");
    return 1;
  }
  load.run();
  load.print();
  return options->acks_file.empty() || load.write_acks() ? 0 : 1;
}

}  // namespace
}  // namespace berth::load

int main(int count, char** words) {
  return berth::load::run_load(std::span<const char* const>(words + 1, static_cast<std::size_t>(count - 1)));
}
