/// The files that a scenario names, or that a service of an API may not name. Traces and tables that several services
/// name are read once and kept in a bounded store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/yaml/reader.h"
#include "domain/ports/files.h"
#include "domain/scenario/service_object.h"
#include "domain/values/arrivals.h"
#include "domain/values/performance.h"
#include "domain/values/rows_blobs.h"

namespace berth::scenario::detail {

/// A cache of values by the key that names them; emptied when its limit would be exceeded.
template <class T>
class Store {
 public:
  [[nodiscard]] const T* find(const std::string& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second;
  }
  void keep(const std::string& key, const T& value, std::size_t bytes) {
    constexpr std::size_t kBytesMax = 256U << 20U;
    if (bytes > kBytesMax) return;
    if (bytes_ + bytes > kBytesMax) {
      values_.clear();
      bytes_ = 0;
    }
    values_.emplace(key, value);
    bytes_ += bytes;
  }

 private:
  std::map<std::string, T> values_;
  std::size_t bytes_ = 0;
};

using ArrivalSource = decltype(Arrivals::source);

struct SourceFile {
  std::string path;         ///< as opened and printed
  const std::string* text;  ///< valid until the next file is read
};

class Sources {
 public:
  /// For a scenario file: paths are relative to its folder.
  Sources(const std::string& scenario_path, const Files& files);
  /// Without files: tables and traces are rows within the value.
  Sources() = default;
  /// Without files: tables and traces are rows within the value, or in blobs unless `find_rows` is empty. `root` is the
  /// path of the service's spec.
  Sources(const std::string& root, const FindBlobRows& find_rows)
      : root_(root), find_rows_(find_rows ? &find_rows : nullptr) {}

  [[nodiscard]] bool has_files() const { return files_ != nullptr; }
  /// Fails if a value that must have its rows within itself names a path.
  static void refuse_path(const yaml::Value& value);

  /// The rows of the blob to which `rows` of a value refers; nothing if it is not a reference, if references are not
  /// allowed, or after a failure.
  [[nodiscard]] std::optional<BlobRows> find_rows(const yaml::Value& value);
  /// The references found so far.
  [[nodiscard]] const RowsBlobs& blobs() const { return blobs_; }
  /// Reports at the reference a failure of the blob's rows, which are read with a report of their own.
  static void keep_failure(const yaml::Value& value, const yaml::Failure& failure);

  // Require: has_files().

  /// The path that a value names, relative to the current folder; "" after a failure.
  [[nodiscard]] std::string resolve(const yaml::Value& path) const;
  /// The content of the file; nothing after a failure. The file read last is kept.
  [[nodiscard]] std::optional<SourceFile> read(const yaml::Value& path);

  Store<ArrivalSource> arrivals;
  Store<PerformanceTable> tables;
  std::size_t arrival_bytes = 0;  ///< of all services together

  // Of a service without files.
  std::int64_t table_rows = 0;            ///< of its tables so far
  std::size_t table_count = 0;            ///< its tables so far
  std::vector<ExcessiveTable> excessive;  ///< of them
  std::int64_t table_rows_max = kTableRowsMax;
  std::int64_t variants_max = kVariantsMax;

 private:
  std::string folder_;
  const Files* files_ = nullptr;
  std::string last_path_;
  std::string last_text_;
  std::string root_;
  const FindBlobRows* find_rows_ = nullptr;
  RowsBlobs blobs_;
};

}  // namespace berth::scenario::detail
