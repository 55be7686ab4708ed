#include "gpu/nvml/detail/process_users.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <vector>

#include "gpu/nvml/detail/answers.h"

namespace berth::edges::detail {
namespace {

constexpr std::size_t kNamesMax = 4096;

/// Empty: the process does not exist, or is hidden.
std::string status_of_process(std::uint32_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Empty: the user database has no such user, or does not answer.
std::string look_up_name(uid_t user) {
  constexpr std::size_t kBytes = 16 * 1024;  // glibc suggests 1 KiB; entries of a directory service may be longer
  std::vector<char> buffer(kBytes);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) return {};
  return text_of(std::string_view(found->pw_name));
}

}  // namespace

std::optional<uid_t> user_id_in(std::string_view status) {
  constexpr std::string_view kLine = "\nUid:\t";
  const std::size_t line = status.find(kLine);
  if (line == std::string_view::npos) return std::nullopt;
  const std::string_view rest = status.substr(line + kLine.size());
  uid_t user = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), user);
  return error == std::errc() ? std::optional(user) : std::nullopt;
}

std::string ProcessUsers::user_of(std::uint32_t pid) {
  const auto user = user_id_in(status_of_process(pid));
  return user ? name_of(*user) : std::string();
}

std::string ProcessUsers::name_of(uid_t user) {
  {
    const std::scoped_lock hold(mutex_);
    if (const auto known = names_.find(user); known != names_.end()) return known->second;
  }
  std::string name = look_up_name(user);  // may take long, so without the lock
  if (name.empty()) return std::to_string(user);
  const std::scoped_lock hold(mutex_);
  if (names_.size() < kNamesMax) names_.emplace(user, name);
  return name;
}

}  // namespace berth::edges::detail
