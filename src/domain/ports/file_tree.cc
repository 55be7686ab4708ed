#include "domain/ports/file_tree.h"

#include <algorithm>

namespace berth {
namespace {

class FileOverBytes final : public OpenFile {
 public:
  explicit FileOverBytes(std::string_view bytes) : bytes_(bytes) {}
  [[nodiscard]] FileStamp stamp() const override { return {.bytes = bytes_.size()}; }
  [[nodiscard]] Result<std::size_t> read(std::uint64_t offset, std::span<char> place) const override {
    if (offset >= bytes_.size()) return 0;
    return bytes_.copy(place.data(), place.size(), static_cast<std::size_t>(offset));
  }

 private:
  std::string_view bytes_;
};

}  // namespace

std::unique_ptr<OpenFile> file_over(std::string_view bytes) { return std::make_unique<FileOverBytes>(bytes); }

Result<std::string> read_whole(const OpenFile& file, std::size_t bytes_max) {
  // The size is only a hint: the file may have grown since it was opened, or shrunk.
  std::string bytes(static_cast<std::size_t>(std::min<std::uint64_t>(file.stamp().bytes, bytes_max)) + 1, '\0');
  const auto count = file.read(0, bytes);
  if (!count) return pass_on(count.error());
  if (*count > bytes_max) return invalid("wanted at most " + std::to_string(bytes_max) + " bytes, found more");
  bytes.resize(*count);
  return bytes;
}

}  // namespace berth
