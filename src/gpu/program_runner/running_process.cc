#include "gpu/program_runner/running_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <string_view>

#include "base/core/text.h"

namespace berth::edges {
namespace {

struct ProcFolderClose {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

std::optional<std::string> read_stat(pid_t pid) {
  const Descriptor file(::open(fmt::format("/proc/{}/stat", pid).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return std::nullopt;
  std::array<char, 1024> buffer{};
  const ssize_t count = ::read(file.number(), buffer.data(), buffer.size());
  if (count <= 0) return std::nullopt;
  return std::string(buffer.data(), static_cast<std::size_t>(count));
}

/// Field 4.
std::optional<pid_t> parent_in_stat(std::string_view stat) {
  const std::size_t name_end = stat.rfind(") ");
  if (name_end == std::string_view::npos || stat.size() < name_end + 5) return std::nullopt;
  std::string_view rest = stat.substr(name_end + 4);  // after the state
  const auto parent = parse_count(rest.substr(0, rest.find(' ')), INT32_MAX);
  return parent ? std::optional(static_cast<pid_t>(*parent)) : std::nullopt;
}

std::multimap<pid_t, programs::ProcessIdentity> children_of_all() {
  std::multimap<pid_t, programs::ProcessIdentity> children;
  const std::unique_ptr<DIR, ProcFolderClose> folder(::opendir("/proc"));
  if (!folder) return children;
  while (const dirent* const entry = ::readdir(folder.get())) {
    const auto pid = parse_count(static_cast<const char*>(entry->d_name), INT32_MAX);
    if (!pid) continue;
    const auto stat = read_stat(static_cast<pid_t>(*pid));
    const auto parent = stat ? parent_in_stat(*stat) : std::nullopt;
    const auto started = stat ? programs::start_time_in_stat(*stat) : std::nullopt;
    if (parent && started) children.emplace(*parent, programs::ProcessIdentity{.pid = *pid, .started = *started});
  }
  return children;
}

}  // namespace

std::optional<programs::ProcessIdentity> identity_of(pid_t pid) {
  const auto stat = read_stat(pid);
  const auto started = stat ? programs::start_time_in_stat(*stat) : std::nullopt;
  if (!started) return std::nullopt;
  return programs::ProcessIdentity{.pid = pid, .started = *started};
}

Descriptor open_process(const programs::ProcessIdentity& identity) {
  const auto pid = static_cast<pid_t>(identity.pid);
  Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  // Whoever has the number now is what the descriptor means: only then is its start time compared.
  if (!process.is_open() || identity_of(pid) != identity) return {};
  return process;
}

bool has_ended(const Descriptor& process) {
  if (!process.is_open()) return true;
  pollfd place{.fd = process.number(), .events = POLLIN, .revents = 0};
  return ::poll(&place, 1, 0) > 0;
}

void send_signal(const Descriptor& process, int signal) {
  ::syscall(SYS_pidfd_send_signal, process.number(), signal, nullptr, 0);
}

std::vector<programs::ProcessIdentity> descendants() {
  const std::multimap<pid_t, programs::ProcessIdentity> children = children_of_all();
  std::vector<programs::ProcessIdentity> found;
  const auto add_children_of = [&](pid_t parent) {
    const auto [begin, end] = children.equal_range(parent);
    for (auto each = begin; each != end; ++each) found.push_back(each->second);
  };
  add_children_of(::getpid());
  for (std::size_t i = 0; i < found.size() && i < children.size(); ++i) {
    add_children_of(static_cast<pid_t>(found[i].pid));
  }
  return found;
}

}  // namespace berth::edges
