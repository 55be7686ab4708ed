#include "gpu/program_runner/become_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/close_range.h>
#include <linux/keyctl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "gpu/hands/capabilities.h"

namespace berth::edges {
namespace {

constexpr int kNotExecutedStatus = 127;
constexpr mode_t kHomeMode = 0700;
constexpr int kRemoveMillisMax = 30'000;
constexpr rlim_t kProcessesMax = 4096;            // of a user, threads included
constexpr std::string_view kKilledFirst = "500";  // of 1000: before what serves the whole machine

/// Standard error is the log already.
[[noreturn]] void give_up(const char* what) {
  const std::string text = fmt::format("berth: the program cannot be executed: {}: {}\n", what, std::strerror(errno));
  static_cast<void>(::write(STDERR_FILENO, text.data(), text.size()));
  ::_exit(kNotExecutedStatus);
}

void set_limit(decltype(RLIMIT_CORE) which, rlim_t most, const char* name) {
  rlimit limit{.rlim_cur = most, .rlim_max = most};
  if (::setrlimit(which, &limit) == 0) return;
  // Without privileges a limit cannot rise: the lower one holds.
  if (errno != EPERM) give_up(name);
}

void set_limits(const programs::ProgramStart& start) {
  constexpr unsigned kMib = 20;
  set_limit(RLIMIT_CORE, 0, "RLIMIT_CORE");
  set_limit(RLIMIT_NOFILE, static_cast<rlim_t>(start.files_max), "RLIMIT_NOFILE");
  if (start.memory_mib) set_limit(RLIMIT_DATA, static_cast<rlim_t>(*start.memory_mib) << kMib, "RLIMIT_DATA");
  if (start.file_mib) set_limit(RLIMIT_FSIZE, static_cast<rlim_t>(*start.file_mib) << kMib, "RLIMIT_FSIZE");
  if (start.uid) set_limit(RLIMIT_NPROC, kProcessesMax, "RLIMIT_NPROC");
}

/// Where memory runs out the kernel ends programs before the agent, their keepers, `berth up` and the gateway. Set with
/// privileges, it is a bound that the program cannot lower.
void become_killed_first() {
  const Descriptor file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (file.is_open()) static_cast<void>(::write(file.number(), kKilledFirst.data(), kKilledFirst.size()));
}

/// The bounding set must shrink while there are privileges; the other sets are dropped with the user.
void become_user(const programs::ProgramStart& start) {
  constexpr int kCapabilitiesMax = 64;
  for (int number = 0; number < kCapabilitiesMax; ++number) ::prctl(PR_CAPBSET_DROP, number, 0, 0, 0);
  if (start.uid) {
    const auto id = static_cast<uid_t>(*start.uid);
    if (::setgroups(0, nullptr) != 0) give_up("setgroups");
    if (::setresgid(id, id, id) != 0) give_up("setresgid");
    if (::setresuid(id, id, id) != 0) give_up("setresuid");
  }
  // Else it would have the keys of the agent's session keyring. Where the kernel has no keyrings, there are no keys.
  ::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr);
  errno = 0;
  if (!drop_capabilities()) give_up("capabilities");
}

void reset_signals() {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// The line CapEff of /proc/self/status.
std::uint64_t effective_capabilities() {
  std::ifstream status("/proc/self/status");
  std::string word;
  std::uint64_t set = 0;
  while (status >> word) {
    if (word == "CapEff:") status >> std::hex >> set;
  }
  return set;
}

/// Whether a user namespace has all ids of the range.
bool is_mapped(const char* map, const programs::UidRange& range) {
  std::ifstream lines(map);
  std::int64_t inside = 0;
  std::int64_t outside = 0;
  std::int64_t count = 0;
  while (lines >> inside >> outside >> count) {
    if (inside <= range.first && range.last < inside + count) return true;
  }
  return false;
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

void become_program(const programs::ProgramStart& start, const std::string& home, const ProgramStreams& streams) {
  ::setsid();
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing < 0 || ::dup2(nothing, STDIN_FILENO) < 0 || ::dup2(streams.output, STDOUT_FILENO) < 0 ||
      ::dup2(streams.output, STDERR_FILENO) < 0) {
    ::_exit(kNotExecutedStatus);
  }
  reset_signals();
  ::umask(077);
  become_killed_first();
  set_limits(start);
  become_user(start);
  // After the change of the user, which clears it.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) give_up("PR_SET_PDEATHSIG");
  if (::chdir(home.c_str()) != 0) give_up(home.c_str());
  const std::vector<char*> words = pointers_to(start.words);
  const std::vector<char*> environment = pointers_to(start.environment);
  ::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
  if (start.is_serve) {
    ::syscall(SYS_execveat, streams.self, "", words.data(), environment.data(), AT_EMPTY_PATH);
  } else {
    ::execve(words[0], words.data(), environment.data());
  }
  give_up(words[0]);
}

Result<void> make_home(const std::string& home, const programs::ProgramStart& start) {
  const auto trouble = [&](const char* what) {
    return fail(ErrorCode::kUnavailable, fmt::format("{}: {}: {}", home, what, std::strerror(errno)));
  };
  if (::mkdir(home.c_str(), kHomeMode) != 0 && errno != EEXIST) return trouble("cannot be made");
  const int folder = ::open(home.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  const Descriptor closes(folder);
  if (folder < 0) return trouble("cannot be opened");
  if (::fchmod(folder, kHomeMode) != 0) return trouble("its mode cannot be set");
  if (!start.uid) return {};
  const auto id = static_cast<uid_t>(*start.uid);
  return ::fchown(folder, id, id) == 0 ? Result<void>() : trouble("cannot be given to its user");
}

void remove_home(const std::string& home, const programs::ProgramStart& start) {
  const pid_t child = ::fork();
  if (child == 0) {
    become_user(start);
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(home, ignored)) {
      std::filesystem::remove_all(entry.path(), ignored);
    }
    ::_exit(0);
  }
  if (child > 0) {
    // Other programs of its user can stop it, or fill the folder as fast as it is emptied.
    const Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
    pollfd ended{.fd = process.number(), .events = POLLIN, .revents = 0};
    if (::poll(&ended, 1, kRemoveMillisMax) <= 0) ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  ::rmdir(home.c_str());
}

Result<void> check_user_changes(const programs::UidRange& range) {
  // CAP_CHOWN, CAP_KILL, CAP_SETGID, CAP_SETUID
  constexpr std::uint64_t kWanted = (1U << 0U) | (1U << 5U) | (1U << 6U) | (1U << 7U);
  const bool has_capabilities = (effective_capabilities() & kWanted) == kWanted;
  for (const char* const map : {"/proc/self/uid_map", "/proc/self/gid_map"}) {
    if (has_capabilities && is_mapped(map, range)) continue;
    return fail(
        ErrorCode::kUnavailable,
        fmt::format(
            "separate_users: wanted the privileges to become the users {}-{} (root with CAP_SETUID, CAP_SETGID, "
            "CAP_CHOWN and CAP_KILL, outside a user namespace), found user {} without; separate_users: false "
            "runs all programs as this user",
            range.first, range.last, ::geteuid()));
  }
  return {};
}

}  // namespace berth::edges
