/// A file without a name, which another process can open while this object lives. Nothing of it is left, however this
/// process ends.
#pragma once

#include <string>
#include <string_view>

#include "base/core/result.h"

namespace berth::optimizer {

class UnnamedFile {
 public:
  /// In the system's folder for temporary files. Errors: kUnavailable.
  [[nodiscard]] static Result<UnnamedFile> write(std::string_view bytes);

  UnnamedFile(UnnamedFile&& other) noexcept;
  UnnamedFile& operator=(UnnamedFile&&) = delete;
  ~UnnamedFile();

  /// A path that opens it.
  [[nodiscard]] std::string path() const;

 private:
  explicit UnnamedFile(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace berth::optimizer
