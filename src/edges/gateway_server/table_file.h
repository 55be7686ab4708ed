/// The last table of endpoints, kept in a folder that one gateway uses at a time.
#pragma once

#include <optional>
#include <string>

#include "base/core/result.h"
#include "domain/ports/files.h"
#include "domain/values/endpoints.h"

namespace berth::edges {

class TableFile {
 public:
  /// Makes the folder, for this user alone, if it does not exist, and locks it until this is destroyed. Errors:
  /// "FOLDER: why"; kUnavailable if another gateway uses it or it cannot be written.
  [[nodiscard]] static Result<TableFile> open(const std::string& folder);

  TableFile(TableFile&& other) noexcept;
  TableFile& operator=(TableFile&&) = delete;
  ~TableFile();

  /// Nothing if there is none. Error: it is not a table.
  [[nodiscard]] Result<std::optional<EndpointTable>> read(const Files& files) const;
  /// Atomically: a reader finds the former one or this. It holds keys of replicas; the folder keeps others out.
  [[nodiscard]] Result<void> write(const EndpointTable& table) const;

 private:
  TableFile(std::string folder, int lock) : folder_(std::move(folder)), lock_(lock) {}
  [[nodiscard]] std::string path() const { return folder_ + "/table.json"; }

  std::string folder_;
  int lock_;  ///< a descriptor; -1: moved from
};

}  // namespace berth::edges
