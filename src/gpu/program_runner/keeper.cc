#include "gpu/program_runner/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "gpu/program_runner/become_program.h"
#include "gpu/program_runner/disk_records.h"
#include "gpu/program_runner/program_log.h"
#include "gpu/program_runner/running_process.h"
#include "gpu/program_runner/simulated_process.h"
#include "gpu/programs/program_record.h"

namespace berth::edges {
namespace {

using KeeperClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kStopPatience{10'000};
constexpr std::chrono::milliseconds kKillEvery{20};
constexpr int kRestMillis = 60'000;
constexpr int kStopRoundsMax = 16;
constexpr int kReadsPerTurn = 16;  // of 64 KiB of output, before signals are looked at again

/// How a process ended.
std::string in_words(int status) {
  if (WIFSIGNALED(status)) return fmt::format("ended by signal {}", WTERMSIG(status));
  return fmt::format("ended with status {}", WEXITSTATUS(status));
}

Descriptor hold_keeper_signals() {
  sigset_t held;
  sigemptyset(&held);
  for (const int each : {SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGPIPE}) sigaddset(&held, each);
  ::sigprocmask(SIG_BLOCK, &held, nullptr);
  sigset_t heard;
  sigemptyset(&heard);
  for (const int each : {SIGTERM, SIGCHLD}) sigaddset(&heard, each);
  return Descriptor(::signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK));
}

class Keeper {
 public:
  Keeper(std::string folder, programs::ProgramRecord record)
      : folder_(std::move(folder)), record_(std::move(record)), log_(folder_ + program_files::kLog) {
    if (const char* const state = std::getenv("BERTH_NVML_SIM_STATE"); state != nullptr) simulated_state_ = state;
  }

  int run() {
    signals_ = hold_keeper_signals();
    log_.append(fmt::format("[berth] start {}\n", record_.starts));
    if (auto begun = begin(); !begun) {
      end_all(SIGKILL);
      while (work()) wait();
      return finish(begun.error().message);
    }
    while (work()) wait();
    return finish(how_.value_or("ended"));
  }

 private:
  /// Forks the program, records it, and lets it go on.
  Result<void> begin() {
    if (auto made = make_home(folder_ + program_files::kHome, record_.start); !made) return made;
    std::array<int, 2> output{-1, -1};
    std::array<int, 2> go{-1, -1};
    if (::pipe2(output.data(), O_CLOEXEC) != 0) return fail(ErrorCode::kUnavailable, "no pipe for its output");
    output_ = Descriptor(output[0]);
    const Descriptor its_output(output[1]);
    if (::pipe2(go.data(), O_CLOEXEC) != 0) return fail(ErrorCode::kUnavailable, "no pipe to wait at");
    const Descriptor its_go(go[0]);
    Descriptor our_go(go[1]);
    const Descriptor self(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    ::fcntl(output_.number(), F_SETFL, O_NONBLOCK);
    program_ = ::fork();
    if (program_ < 0) return fail(ErrorCode::kUnavailable, "no process for it");
    if (program_ == 0) {
      our_go.close();
      char byte = 0;
      if (::read(its_go.number(), &byte, 1) != 1) ::_exit(0);  // the keeper ended before it was recorded
      become_program(record_.start, folder_ + program_files::kHome,
                     {.self = self.number(), .output = its_output.number()});
    }
    if (auto recorded = record_it(); !recorded) return recorded;
    const char byte = 1;
    if (::write(our_go.number(), &byte, 1) != 1) return fail(ErrorCode::kUnavailable, "it does not wait");
    return {};
  }

  Result<void> record_it() {
    const auto own = identity_of(::getpid());
    const auto its = identity_of(program_);
    if (!own || !its) return fail(ErrorCode::kUnavailable, "/proc does not say when it started");
    const programs::RunRecord run{.start_number = record_.starts, .keeper = *own, .program = *its};
    if (auto written = write_record(folder_ + program_files::kRun, text_of(run)); !written) return written;
    if (simulated_state_.empty()) return {};
    return list_simulated_process(simulated_state_, record_.order.device_uuid, program_);
  }

  /// Whether a process is left.
  [[nodiscard]] bool work() {
    hear_signals();
    pump();
    reap();
    if (is_over_) return false;
    const auto now = KeeperClock::now();
    if (now >= kill_at_) {
      kill_all();
      kill_at_ = now + kKillEvery;
    }
    return true;
  }

  void wait() {
    std::array<pollfd, 2> places = {pollfd{.fd = signals_.number(), .events = POLLIN, .revents = 0},
                                    pollfd{.fd = output_.number(), .events = POLLIN, .revents = 0}};
    int millis = kRestMillis;
    if (kill_at_ != KeeperClock::time_point::max()) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(kill_at_ - KeeperClock::now());
      millis = left.count() < 0 ? 0 : static_cast<int>(left.count()) + 1;
    }
    ::poll(places.data(), places.size(), millis);
  }

  void hear_signals() {
    signalfd_siginfo heard{};
    while (::read(signals_.number(), &heard, sizeof(heard)) == sizeof(heard)) {
      if (heard.ssi_signo == SIGTERM && !is_asked_) {
        is_asked_ = true;
        end_all(SIGTERM);
      }
    }
  }

  /// The output, as far as it is there.
  void pump() {
    std::array<char, 65'536> buffer{};
    for (int i = 0; i < kReadsPerTurn && output_.is_open(); ++i) {
      const ssize_t count = ::read(output_.number(), buffer.data(), buffer.size());
      if (count > 0) {
        log_.append(std::string_view(buffer.data(), static_cast<std::size_t>(count)));
        continue;
      }
      if (count == 0) output_.close();  // nobody can write any more
      return;
    }
  }

  void reap() {
    while (true) {
      int status = 0;
      const pid_t ended = ::waitpid(-1, &status, WNOHANG);
      if (ended == 0) return;
      if (ended < 0) {
        is_over_ = errno == ECHILD;
        return;
      }
      if (ended != program_) continue;
      how_ = in_words(status);
      end_all(SIGKILL);  // what it has left behind
    }
  }

  /// With SIGTERM they have some time.
  void end_all(int signal) {
    if (signal == SIGKILL) {
      kill_all();
    } else {
      signal_all(signal);
    }
    kill_at_ = KeeperClock::now() + (signal == SIGKILL ? std::chrono::milliseconds(0) : kStopPatience);
  }

  /// Returns how many there were.
  static std::size_t signal_all(int signal) {
    const std::vector<programs::ProcessIdentity> all = descendants();
    for (const programs::ProcessIdentity& each : all) {
      // One that has ended since then may have left its number to a process of somebody else.
      if (const Descriptor process = open_process(each); process.is_open()) send_signal(process, signal);
    }
    return all.size();
  }

  /// All are stopped before one is killed: else processes that fork faster than they are found would never end.
  static void kill_all() {
    std::size_t count = 0;
    for (int round = 0; round < kStopRoundsMax; ++round) {
      const std::size_t before = count;
      count = signal_all(SIGSTOP);
      if (count == before) break;
    }
    signal_all(SIGKILL);
  }

  int finish(const std::string& how) {
    pump();
    log_.append(fmt::format("[berth] {}\n", how));
    if (!simulated_state_.empty() && program_ > 0) unlist_simulated_process(simulated_state_, program_);
    const auto text = read_record_file(folder_ + program_files::kRecord);
    const auto now = text ? programs::read_program_record(*text, "program") : pass_on(text.error());
    if (now && !now->is_wanted) remove_home(folder_ + program_files::kHome, record_.start);
    const programs::EndRecord end{.start_number = record_.starts, .how = how};
    // If it cannot be written, the agent reports that its keeper was killed.
    return write_record(folder_ + program_files::kEnd, text_of(end)) ? 0 : 1;
  }

  const std::string folder_;
  const programs::ProgramRecord record_;
  LogFile log_;
  std::string simulated_state_;  ///< empty: no simulated machine
  Descriptor signals_;
  Descriptor output_;
  pid_t program_ = 0;
  bool is_asked_ = false;
  bool is_over_ = false;
  std::optional<std::string> how_;
  KeeperClock::time_point kill_at_ = KeeperClock::time_point::max();
};

}  // namespace

int run_keeper(const std::string& folder, std::int64_t start_number) {
  ::prctl(PR_SET_NAME, "berth-keeper", 0, 0, 0);
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) return 1;
  const auto lock = lock_file(folder + program_files::kLock, LockWait::kUntilFree);
  if (!lock) return 1;
  const auto text = read_record_file(folder + program_files::kRecord);
  auto record = text ? programs::read_program_record(*text, folder + program_files::kRecord) : pass_on(text.error());
  if (record && start_number == 0 && !record->is_wanted) {
    remove_home(folder + program_files::kHome, record->start);
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);  // what cannot be removed is still there for the agent to see
    return 0;
  }
  if (!record || record->starts != start_number || !record->is_wanted) return 1;
  return Keeper(folder, std::move(*record)).run();
}

}  // namespace berth::edges
