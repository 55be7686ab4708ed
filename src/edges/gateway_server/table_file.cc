#include "edges/gateway_server/table_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "edges/files/file_sink.h"
#include "serving/gateway_wire/gateway_wire.h"

namespace berth::edges {
namespace {

constexpr mode_t kOwnFolder = 0700;
constexpr mode_t kOwnFile = 0600;

}  // namespace

Result<TableFile> TableFile::open(const std::string& folder) {
  if (::mkdir(folder.c_str(), kOwnFolder) != 0 && errno != EEXIST) {
    return fail(ErrorCode::kUnavailable, fmt::format("{}: {}", folder, std::strerror(errno)));
  }
  const std::string path = folder + "/lock";
  const int lock = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kOwnFile);
  if (lock < 0) return fail(ErrorCode::kUnavailable, fmt::format("{}: {}", path, std::strerror(errno)));
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    ::close(lock);
    return fail(ErrorCode::kUnavailable, fmt::format("{}: another gateway uses this folder", folder));
  }
  return TableFile(folder, lock);
}

TableFile::TableFile(TableFile&& other) noexcept
    : folder_(std::move(other.folder_)), lock_(std::exchange(other.lock_, -1)) {}

TableFile::~TableFile() {
  if (lock_ >= 0) ::close(lock_);
}

Result<std::optional<EndpointTable>> TableFile::read(const Files& files) const {
  const auto text = files.read(path());
  if (!text && text.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (!text) return pass_on(text.error());
  auto table = serving::read_endpoint_table(*text, path());
  if (!table) return pass_on(table.error());
  return std::optional(*std::move(table));
}

Result<void> TableFile::write(const EndpointTable& table) const {
  return write_file_whole(path(), serving::endpoint_table_json(table) + "\n");
}

}  // namespace berth::edges
