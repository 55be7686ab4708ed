#include "edges/files/detail/mapped_bytes.h"

#include <sys/mman.h>

#include <cerrno>
#include <string_view>

namespace berth::edges::detail {
namespace {

/// A mapping of a file, read only.
class MappedBytes : public FileBytes {
 public:
  MappedBytes(void* begin, std::size_t size) : begin_(begin), size_(size) {}
  MappedBytes(const MappedBytes&) = delete;
  MappedBytes& operator=(const MappedBytes&) = delete;
  ~MappedBytes() override { ::munmap(begin_, size_); }
  [[nodiscard]] std::string_view bytes() const override { return {static_cast<const char*>(begin_), size_}; }

 private:
  void* begin_;
  std::size_t size_;
};

}  // namespace

Result<std::unique_ptr<FileBytes>> map_bytes(const Descriptor& file, std::size_t size, const std::string& path) {
  void* const begin = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (begin == MAP_FAILED) return system_error(path, "map", errno);
  return std::make_unique<MappedBytes>(begin, size);
}

}  // namespace berth::edges::detail
