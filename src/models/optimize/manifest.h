/// `manifest.json` next to the variants: what was found, from which files, by which programs, on which machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/core/result.h"
#include "models/optimize/findings.h"
#include "models/optimize/optimize_request.h"

namespace berth::models {

inline constexpr std::string_view kManifestFile = "manifest.json";
inline constexpr std::string_view kRefusedFolder = "refused";
inline constexpr std::string_view kVariantFile = "model.onnx";
inline constexpr std::string_view kMasksFile = "masks.npz";  ///< next to a pruned variant

/// A file or folder that was read.
struct SourceFile {
  std::string path;
  std::string sha256;  ///< of the content; of a folder, over the names and contents of its files

  friend bool operator==(const SourceFile&, const SourceFile&) = default;
};

struct Manifest {
  std::string version;  ///< of this program
  std::string engine;   ///< such as "ONNX Runtime 1.32.0"
  std::string device;   ///< the flags of the processor, or the card and its driver
  SourceFile model = {};
  SourceFile calibration = {};
  std::optional<SourceFile> evaluation = std::nullopt;
  OptimizeTerms terms = {};
  KeepChoice keep = KeepChoice::kBetter;
  Findings findings = {};

  friend bool operator==(const Manifest&, const Manifest&) = default;
};

/// Indented JSON. The same manifest gives the same bytes, and is read as the same.
[[nodiscard]] std::string write_manifest(const Manifest& manifest);

/// Errors, "FILE: key: wanted .., found ..": no JSON, a key that is missing or of another kind, a later format.
[[nodiscard]] Result<Manifest> read_manifest(std::string_view text, std::string_view file);

/// Where the variant is, relative to the folder of the manifest: "NAME/model.onnx" or "refused/NAME/model.onnx".
[[nodiscard]] std::string variant_path(const VariantRecord& variant, std::string_view file = kVariantFile);

}  // namespace berth::models
