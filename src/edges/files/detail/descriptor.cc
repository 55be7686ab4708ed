#include "edges/files/detail/descriptor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace berth::edges::detail {
namespace {

ErrorCode code_of(int number) {
  switch (number) {
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::kNotFound;
    case EACCES:
    case EPERM:
    case EISDIR:
    case ELOOP:
    case EROFS:
    case ENAMETOOLONG:
      return ErrorCode::kInvalidInput;
    default:
      return ErrorCode::kUnavailable;
  }
}

}  // namespace

Descriptor::~Descriptor() {
  if (is_open()) ::close(number_);
}

bool Descriptor::close() { return ::close(std::exchange(number_, -1)) == 0; }

tl::unexpected<Error> system_error(const std::string& path, std::string_view doing, int number) {
  return fail(code_of(number), fmt::format("{}: cannot {}: {}", path, doing, std::generic_category().message(number)));
}

int write_all(const Descriptor& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.number(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace berth::edges::detail
