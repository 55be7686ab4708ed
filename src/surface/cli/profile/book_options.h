/// The options of what is done with the database of `berth profile`: list, show, import, export, observe.
#pragma once

#include <optional>
#include <string>

#include "base/core/result.h"
#include "domain/profile_book/exported.h"
#include "surface/cli/shared/option_row.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// The database where none is named.
inline constexpr const char* kProfileDatabase = "profiles.db";

/// As typed.
struct ListProfilesWords {
  std::string db = kProfileDatabase;
  std::string format = "table";
};
struct ShowProfileWords {
  std::string name = {};
  std::string db = kProfileDatabase;
  bool has_history = false;
  std::string format = "table";
};
struct ImportProfilesWords {
  std::string path = {};
  std::string db = kProfileDatabase;
};
struct ExportProfilesWords {
  std::string db = kProfileDatabase;
  std::optional<std::string> model = std::nullopt;
  std::optional<std::string> as = std::nullopt;
  std::optional<std::string> out = std::nullopt;
};
struct ObserveProfilesWords {
  std::string db = kProfileDatabase;
  std::string url = {};
  std::optional<std::string> key_file = std::nullopt;
};

struct ListProfilesRequest {
  std::string db;
  OutputFormat format = OutputFormat::kTable;
};
struct ShowProfileRequest {
  std::string name;
  std::string db;
  bool has_history = false;
  OutputFormat format = OutputFormat::kTable;
};
struct ImportProfilesRequest {
  std::string path;
  std::string db;
};
struct ExportProfilesRequest {
  std::string db;
  profile_book::ExportTerms terms;
  std::optional<std::string> out;  ///< a file or a folder; absent: stdout
};
struct ObserveProfilesRequest {
  std::string db;
  std::string url;  ///< without a slash at its end
  std::optional<std::string> key_file;
};

[[nodiscard]] OptionTable list_profiles_option_rows(ListProfilesWords& words);
[[nodiscard]] OptionTable show_profile_option_rows(ShowProfileWords& words);
[[nodiscard]] OptionTable import_profiles_option_rows(ImportProfilesWords& words);
[[nodiscard]] OptionTable export_profiles_option_rows(ExportProfilesWords& words);
[[nodiscard]] OptionTable observe_profiles_option_rows(ObserveProfilesWords& words);

[[nodiscard]] Result<ListProfilesRequest> check_list_profiles(const ListProfilesWords& words);
[[nodiscard]] Result<ShowProfileRequest> check_show_profile(const ShowProfileWords& words);
[[nodiscard]] Result<ImportProfilesRequest> check_import_profiles(const ImportProfilesWords& words);
[[nodiscard]] Result<ExportProfilesRequest> check_export_profiles(const ExportProfilesWords& words);
[[nodiscard]] Result<ObserveProfilesRequest> check_observe_profiles(const ObserveProfilesWords& words);

/// A slice of the catalogue, "A30-24GB:1g.6gb", with the full name of the GPU. The error says "--as: ..".
[[nodiscard]] Result<profile_book::SliceName> parse_as(const std::string& text);

}  // namespace berth::cli
