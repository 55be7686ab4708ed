/// A folder of models as ONNX Runtime has optimised them, one file for each content, version of the library and kind of
/// processor. Several servers may share it.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "base/core/result.h"

namespace berth::edges::detail {

/// Each file ends with its own name and a checksum of all before, as metadata of the model (onnx.proto, field 14). So a
/// file that is damaged, cut off or foreign is never given to the library. That does not protect from those who may
/// write the folder.
class ModelCache {
 public:
  /// `environment`: part of the names, such as "onnxruntime-1.32.0.x86-64-v3". Makes the folder if it is missing, and
  /// removes what processes left that were killed while they wrote.
  ModelCache(std::string folder, std::string environment);

  /// The path of the file for a model with this content; nothing if there is none. Reads it once. Errors: it is damaged
  /// or foreign; it cannot be read.
  [[nodiscard]] Result<std::optional<std::string>> find(const std::string& sha256) const;

  /// A new empty file for the optimised model. Errors: the folder cannot be written.
  [[nodiscard]] Result<std::string> begin(const std::string& sha256);
  /// Puts what was written there in place. Errors: those of writing; the new file is gone then.
  [[nodiscard]] Result<void> keep(const std::string& sha256, const std::string& written);
  static void discard(const std::string& written);

 private:
  [[nodiscard]] std::string name_of(const std::string& sha256) const;
  void remove_left_overs() const;

  std::string folder_;
  std::string environment_;
  int begun_ = 0;
};

}  // namespace berth::edges::detail
