/// Files of objects, as `apply -f` and `delete -f` read them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/files.h"
#include "surface/cli/client/blob_rows.h"
#include "surface/cli/client/kinds.h"

namespace berth::cli {

/// An object to send.
struct Manifest {
  Selection object;              ///< a tenant or a service
  std::string body;              ///< JSON: apiVersion, kind, metadata, spec
  std::string place;             ///< "service.yaml:7", where its document begins
  std::vector<Blob> blobs = {};  ///< that the body refers to
  /// About rows whose columns contradict each other and names that stand for several boards; a line each.
  std::vector<std::string> warnings = {};
};

/// The objects of a text, YAML or JSON, in its order: documents separated by `---`, each an object or a list of objects
/// under `items`. Files that specs name become rows (file_rows.h), their paths relative to the folder of `path`.
/// Everything is checked as by the server, except pins, which need its fleet. `status`, `uid` and `creationTimestamp`,
/// which `get` prints, are dropped. Long rows become blobs; a spec that already refers to a blob is left to the server
/// to check. Errors have FILE:LINE:COLUMN, field and message.
[[nodiscard]] Result<std::vector<Manifest>> read_manifests(std::string_view text, const std::string& path,
                                                           const Files& files);
/// The same without specs, which are not read; bodies are empty. For callers that need only kinds and names.
[[nodiscard]] Result<std::vector<Manifest>> read_names(std::string_view text, const std::string& path);

}  // namespace berth::cli
