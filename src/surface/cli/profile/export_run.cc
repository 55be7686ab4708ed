#include "surface/cli/profile/export_run.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>

#include "edges/files/file_sink.h"
#include "surface/cli/profile/read_book.h"
#include "surface/cli/shared/distinct_paths.h"
#include "surface/cli/shared/printable.h"
#include "surface/cli/shared/unwritable.h"

namespace berth::cli {
namespace {

constexpr std::string_view kCsv = ".csv";
constexpr std::string_view kCpuCsv = ".cpu.csv";

/// The path of the file: in a folder it is named after the slice of --as, or `profiles`.
std::string exported_path(const ExportProfilesRequest& request, bool is_elsewhere) {
  std::string path = *request.out;
  std::error_code unknown;
  if (path.ends_with('/') || std::filesystem::is_directory(path, unknown)) {
    const auto& as = request.terms.as;
    const std::string name = as ? fmt::format("{}_{}", as->gpu, as->profile) : "profiles";
    path = (std::filesystem::path(path) / (name + std::string(kCsv))).string();
  }
  if (!is_elsewhere || path.ends_with(kCpuCsv)) return path;
  if (path.ends_with(kCsv)) path.resize(path.size() - kCsv.size());
  return path + std::string(kCpuCsv);
}

}  // namespace

Result<std::string> run_export_profiles(const ExportProfilesRequest& request, const VerbContext& context) {
  const auto book = read_profile_book(request.db);
  if (!book) return pass_on(book.error());
  auto exported = profile_book::export_profiles(book->models, request.terms);
  if (!exported) return fail(exported.error().code, fmt::format("{}: {}", request.db, exported.error().message));
  for (const std::string& note : exported->notes) {
    fmt::print(context.err, "berth: note: {}\n", printable(note));
  }
  if (!request.out) return std::move(exported->csv);
  const std::string path = exported_path(request, exported->is_elsewhere);
  if (auto distinct = check_outputs_are_distinct({{"--db", request.db}}, {{"--out", path}}); !distinct) {
    return pass_on(distinct.error());
  }
  if (auto written = edges::write_file_whole(path, exported->csv); !written) return unwritable(written.error());
  return path + "\n";
}

}  // namespace berth::cli
