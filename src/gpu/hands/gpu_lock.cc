#include "gpu/hands/gpu_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/core/text.h"

namespace berth::edges {
namespace {

constexpr mode_t kFolderMode = 0755;
constexpr mode_t kFileMode = 0644;

tl::unexpected<GpuLock::Refusal> trouble(const std::string& path) {
  return tl::unexpected(GpuLock::Refusal{
      .owner_pid = std::nullopt, .message = fmt::format("{}: cannot be locked: {}", path, std::strerror(errno))});
}

std::optional<std::int64_t> read_pid(int file) {
  std::array<char, 32> buffer{};
  const ssize_t count = ::pread(file, buffer.data(), buffer.size(), 0);
  if (count <= 0) return std::nullopt;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(count));
  const auto pid = parse_count(text.substr(0, text.find('\n')), INT32_MAX);
  return pid ? std::optional(*pid) : std::nullopt;
}

tl::unexpected<GpuLock::Refusal> owned_by_another(int file) {
  const std::optional<std::int64_t> pid = read_pid(file);
  const std::string who = pid ? fmt::format("pid {}", *pid) : "its pid is not known";
  return tl::unexpected(
      GpuLock::Refusal{.owner_pid = pid, .message = fmt::format("another berth process ({}) owns it", who)});
}

}  // namespace

std::string gpu_lock_folder() {
  const char* const folder = std::getenv("BERTH_GPU_LOCKS");
  return folder != nullptr && *folder != '\0' ? folder : "/run/lock/berth";
}

tl::expected<GpuLock, GpuLock::Refusal> GpuLock::take(const std::string& folder, const std::string& uuid,
                                                      const Owner& owner) {
  // So that the name cannot leave the folder.
  if (uuid.empty() || uuid.starts_with('.') || uuid.find('/') != std::string::npos) {
    return tl::unexpected(Refusal{.owner_pid = std::nullopt, .message = in_quotes(uuid) + " cannot name a lock"});
  }
  if (::mkdir(folder.c_str(), kFolderMode) != 0 && errno != EEXIST) return trouble(folder);
  const std::string path = fmt::format("{}/{}.lock", folder, uuid);
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kFileMode));
  if (!file.is_open()) return trouble(path);
  if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0) {
    return errno == EWOULDBLOCK ? owned_by_another(file.number()) : trouble(path);
  }
  const std::string text = fmt::format("{}\n{}\n", owner.pid, owner.world);
  const auto size = static_cast<ssize_t>(text.size());
  if (::ftruncate(file.number(), 0) != 0 || ::pwrite(file.number(), text.data(), text.size(), 0) != size) {
    return trouble(path);
  }
  return GpuLock(std::move(file));
}

}  // namespace berth::edges
