#include "surface/cli/profile/import_run.h"

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "base/core/text.h"
#include "domain/profile_book/imported.h"
#include "domain/scenario/catalogue_resolver.h"
#include "edges/sqlite_store/profile_file.h"
#include "surface/cli/profile/wall_time.h"

namespace berth::cli {
namespace {

/// The files at a path: itself, or the *.csv files of a folder.
Result<std::vector<std::string>> imported_paths(const std::string& path, const Files& files) {
  const auto names = files.list(path);
  if (!names) return pass_on(names.error());
  if (!*names) return std::vector<std::string>{path};
  std::vector<std::string> paths;
  for (const std::string& name : **names) {
    if (name.ends_with(".csv") && !name.starts_with('.')) {
      paths.push_back((std::filesystem::path(path) / name).string());
    }
  }
  if (paths.empty()) return invalid(fmt::format("{}: wanted a folder with *.csv files, found none in it", path));
  return paths;
}

/// What was read of all files, and what they repeat.
struct ReadFiles {
  std::vector<ProfileRun> runs = {};
  std::vector<std::string> warnings = {};
  std::set<std::pair<std::string, std::string>> places = {};  ///< model and label
};

Result<void> read_file(const std::string& path, std::int64_t now_us, const Files& files, ReadFiles& all) {
  const auto text = files.read(path);
  if (!text) return pass_on(text.error());
  scenario::CatalogueResolver resolve;
  auto imported = profile_book::import_profiles(
      *text, {.file = path, .started_us = now_us, .berth_version = BERTH_VERSION}, std::ref(resolve));
  if (!imported) return pass_on(imported.error());
  if (!imported->contradictions.empty()) {
    all.warnings.push_back(fmt::format("{}: {}", path, imported->contradictions.text("line ")));
  }
  for (const std::string& remark : resolve.remarks()) all.warnings.push_back(fmt::format("{}: {}", path, remark));
  for (ProfileRun& run : imported->runs) {
    if (!all.places.emplace(run.model.name, run.label).second) {
      return invalid(fmt::format("{}: wanted each model and slice in one file, found {} on {} also in another one",
                                 path, in_quotes(run.model.name), run.label));
    }
    all.runs.push_back(std::move(run));
  }
  return {};
}

std::string imported_words(const ReadFiles& all, const std::string& db) {
  std::size_t points = 0;
  std::set<std::string> models;
  for (const ProfileRun& run : all.runs) {
    points += run.points.size();
    models.insert(run.model.name);
  }
  return fmt::format("{}: {} points of {} models, as {} runs\n", db, points, models.size(), all.runs.size());
}

}  // namespace

Result<std::string> run_import_profiles(const ImportProfilesRequest& request, const VerbContext& context) {
  const auto paths = imported_paths(request.path, *context.files);
  if (!paths) return pass_on(paths.error());
  ReadFiles all;
  const std::int64_t now_us = wall_time_us();
  for (const std::string& path : *paths) {
    if (auto read = read_file(path, now_us, *context.files, all); !read) return pass_on(read.error());
  }
  const auto store = edges::open_profile_store(request.db, edges::ProfileFileMode::kWrite);
  if (!store) return pass_on(store.error());
  const auto added = (*store)->add_all(all.runs);
  if (!added) return pass_on(added.error());
  print_warnings(all.warnings, context.err);
  return imported_words(all, request.db);
}

}  // namespace berth::cli
