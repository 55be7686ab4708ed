#include "gpu/program_runner/left_processes.h"

#include <dirent.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <thread>

#include "base/core/text.h"
#include "gpu/program_runner/running_process.h"
#include "gpu/programs/program_record.h"

namespace berth::edges {
namespace {

constexpr int kEndRounds = 50;
constexpr std::chrono::milliseconds kEndPause{10};
constexpr std::string_view kKeeperName = "berth-keeper";

struct LeftFolderClose {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

std::string text_of_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The first word after "NAME:" in /proc/PID/status.
std::string_view status_word(std::string_view status, std::string_view name) {
  const std::string front = fmt::format("\n{}:\t", name);
  const std::size_t at = status.find(front);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = status.substr(at + front.size());
  return rest.substr(0, rest.find_first_of("\t\n"));
}

bool has_home(std::int64_t pid, const std::string& home) {
  const std::string environment = text_of_file(fmt::format("/proc/{}/environ", pid));
  const std::string variable = fmt::format("HOME={}", home);
  std::string_view left = environment;
  while (!left.empty()) {
    const std::string_view each = left.substr(0, left.find('\0'));
    if (each == variable) return true;
    left.remove_prefix(std::min(each.size() + 1, left.size()));
  }
  return false;
}

std::optional<ProcessSight> sight_of(std::int64_t pid, const ProcessesOf& whose) {
  // From status, as the owner of /proc/PID is root for a process that forbids to be dumped.
  const std::string status = text_of_file(fmt::format("/proc/{}/status", pid));
  const auto parent = parse_count(status_word(status, "PPid"), INT32_MAX);
  const auto uid = parse_count(status_word(status, "Uid"), UINT32_MAX);
  const auto identity = identity_of(static_cast<pid_t>(pid));
  if (!parent || !uid || !identity) return std::nullopt;
  const bool is_ended = status_word(status, "State").starts_with('Z');
  ProcessSight sight{.pid = pid, .started = identity->started, .parent = *parent, .uid = *uid};
  // Others can take the name, but not the user.
  sight.is_keeper = status.starts_with(fmt::format("Name:\t{}\n", kKeeperName)) && *uid == ::getuid();
  if (is_ended || sight.is_keeper || pid == ::getpid()) return sight;
  sight.is_theirs = whose.uids ? *uid >= whose.uids->first && *uid <= whose.uids->last
                               : *uid == ::getuid() && has_home(pid, whose.home);
  return sight;
}

std::vector<ProcessSight> all_processes(const ProcessesOf& whose) {
  std::vector<ProcessSight> all;
  const std::unique_ptr<DIR, LeftFolderClose> folder(::opendir("/proc"));
  if (!folder) return all;
  while (const dirent* const entry = ::readdir(folder.get())) {
    const auto pid = parse_count(static_cast<const char*>(entry->d_name), INT32_MAX);
    const auto sight = pid ? sight_of(*pid, whose) : std::nullopt;
    if (sight) all.push_back(*sight);
  }
  return all;
}

}  // namespace

std::vector<ProcessSight> without_keeper(const std::vector<ProcessSight>& all) {
  std::map<std::int64_t, const ProcessSight*> by_pid;
  for (const ProcessSight& each : all) by_pid.emplace(each.pid, &each);
  std::vector<ProcessSight> left;
  for (const ProcessSight& each : all) {
    if (!each.is_theirs) continue;
    const ProcessSight* at = &each;
    while (at != nullptr && !at->is_keeper && at->parent != 0) {
      const auto parent = by_pid.find(at->parent);
      // A number that was used again since then is another process's.
      const bool is_known = parent != by_pid.end() && parent->second->started <= at->started;
      at = is_known ? parent->second : nullptr;
    }
    if (at != nullptr && !at->is_keeper) left.push_back(each);
  }
  return left;
}

std::size_t end_left_processes(const ProcessesOf& whose) {
  std::size_t count = 0;
  for (int round = 0; round < kEndRounds; ++round) {
    const std::vector<ProcessSight> left = without_keeper(all_processes(whose));
    count = left.size();
    if (count == 0) return 0;
    // All are stopped before one is killed, as they could fork faster than they are found.
    for (const int signal : {SIGSTOP, SIGKILL}) {
      for (const ProcessSight& each : left) {
        const Descriptor process = open_process({.pid = each.pid, .started = each.started});
        if (process.is_open()) send_signal(process, signal);
      }
    }
    std::this_thread::sleep_for(kEndPause);
  }
  return count;
}

}  // namespace berth::edges
