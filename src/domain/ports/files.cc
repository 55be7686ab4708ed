#include "domain/ports/files.h"

#include <utility>

namespace berth {
namespace {

class BytesInMemory : public FileBytes {
 public:
  explicit BytesInMemory(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] std::string_view bytes() const override { return text_; }

 private:
  std::string text_;
};

}  // namespace

std::unique_ptr<FileBytes> bytes_in_memory(std::string text) {
  return std::make_unique<BytesInMemory>(std::move(text));
}

Result<std::unique_ptr<FileBytes>> Files::open(const std::string& path) const {
  auto text = read(path);
  if (!text) return pass_on(text.error());
  return bytes_in_memory(*std::move(text));
}

}  // namespace berth
