#include "edges/files/spill.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "edges/files/detail/descriptor.h"
#include "edges/files/detail/mapped_bytes.h"

namespace berth::edges {
namespace {

constexpr std::size_t kSpillBufferBytes = 1U << 20U;

}  // namespace

struct Spill::State {
  detail::Descriptor file;
  std::string folder;
  std::string buffer = {};
  std::size_t size = 0;

  Result<void> flush() {
    if (const int number = detail::write_all(file, buffer); number != 0) {
      return detail::system_error(folder, "write", number);
    }
    size += buffer.size();
    buffer.clear();
    return {};
  }
};

Spill::Spill(std::unique_ptr<State> state) : state_(std::move(state)) {}
Spill::Spill(Spill&&) noexcept = default;
Spill& Spill::operator=(Spill&&) noexcept = default;
Spill::~Spill() = default;

Result<Spill> Spill::open(const std::string& folder) {
  std::string path = folder + "/.spill.XXXXXX";
  detail::Descriptor file(::mkostemp(path.data(), O_CLOEXEC));
  if (!file.is_open()) return detail::system_error(folder, "write", errno);
  ::unlink(path.c_str());
  return Spill(std::make_unique<State>(State{.file = std::move(file), .folder = folder}));
}

Result<void> Spill::append(std::string_view bytes) {
  state_->buffer += bytes;
  return state_->buffer.size() < kSpillBufferBytes ? Result<void>() : state_->flush();
}

Result<std::unique_ptr<FileBytes>> Spill::map() {
  if (auto flushed = state_->flush(); !flushed) return pass_on(flushed.error());
  if (state_->size == 0) return bytes_in_memory("");
  return detail::map_bytes(state_->file, state_->size, state_->folder);
}

}  // namespace berth::edges
