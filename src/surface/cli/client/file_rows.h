/// Replaces files that a service's spec names by their rows: the API takes no paths.
#pragma once

#include <string>
#include <vector>

#include "base/yaml/reader.h"
#include "domain/ports/files.h"

namespace berth::cli {

/// Replaces `profile`, also of variants, and `arrivals` that have a `path` by the rows of that file:
/// `{format: csv, model, rows}` (of `csv` and `parvagpu`) and `{format: csv, rows, ..}` (of `csv`, `rps-text` and
/// `azure-llm`, counted by second). Paths are relative to `folder`; the model of a `parvagpu` file is `service`. Rows
/// get the source location of the path. A failure is recorded in the report, and so are warnings of the files of
/// profiles. Returns the paths of the profiles that were replaced: "spec.variants[0].profile". Requires: `root` has the
/// map `spec`.
[[nodiscard]] std::vector<std::string> put_rows_in_place(yaml::Node& root, yaml::Report& report,
                                                         const std::string& folder, const std::string& service,
                                                         const Files& files);

}  // namespace berth::cli
