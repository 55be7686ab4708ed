/// The output of `berth mig import|export`: mig-parted files as placed layouts, and layouts as mig-parted files.
#pragma once

#include <string>

#include "base/core/result.h"
#include "domain/ports/files.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

struct MigImportOptions {
  std::string path;
  std::string gpu;                ///< empty: every GPU that an entry fits
  std::string label;              ///< empty: all
  bool skips_other_gpus = false;  ///< leave out entries with profiles of other GPUs instead of refusing them
  OutputFormat format = OutputFormat::kTable;
};

struct MigExportOptions {
  std::string gpu;
  std::string state;
  std::string label = "current";  ///< as mig-parted's own export calls it
  bool has_all_labels = false;    ///< the labels that mig-parted generates, instead of a state
};

/// The layouts of a mig-parted file's labels.
[[nodiscard]] Result<std::string> mig_import_report(const MigImportOptions& options, const Files& files);
/// A mig-parted file. The format has no placements: a comment gives them to the reader.
[[nodiscard]] Result<std::string> mig_export_report(const MigExportOptions& options);

}  // namespace berth::cli
