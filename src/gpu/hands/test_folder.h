/// A folder of a test, removed with its content.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "base/core/ensure.h"

namespace berth::edges {

class TestFolder {
 public:
  TestFolder() : path_((std::filesystem::temp_directory_path() / "berth-hands-XXXXXX").string()) {
    ENSURE(::mkdtemp(path_.data()) != nullptr);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace berth::edges
