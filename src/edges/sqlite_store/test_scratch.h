/// A folder for a test, removed afterwards.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace berth::edges::testing {

struct Scratch {
  std::filesystem::path path;
  Scratch() {
    std::string made = (std::filesystem::temp_directory_path() / "berth-store-XXXXXX").string();
    path = ::mkdtemp(made.data());
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::filesystem::remove_all(path); }

  [[nodiscard]] std::string database() const { return (path / "journal.db").string(); }
};

}  // namespace berth::edges::testing
