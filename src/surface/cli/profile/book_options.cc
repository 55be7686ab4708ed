#include "surface/cli/profile/book_options.h"

#include <fmt/format.h>

#include <utility>

#include "base/core/text.h"
#include "domain/mig/catalogue.h"
#include "surface/cli/shared/option_words.h"

namespace berth::cli {
namespace {

OptionRow database_row(std::string& db) { return {"--db", "FILE", "The database of profiles", &db}; }

OptionRow format_row(std::string& format) { return {"--format", "WORD", "table or json", &format}; }

Result<void> check_path(std::string_view option, const std::string& path) {
  if (!path.empty()) return {};
  return invalid(fmt::format("{}: wanted a path, found \"\"", option));
}

}  // namespace

OptionTable list_profiles_option_rows(ListProfilesWords& words) {
  return {database_row(words.db), format_row(words.format)};
}

OptionTable show_profile_option_rows(ShowProfileWords& words) {
  return {{"NAME", "", "The model", &words.name, kRequired},
          database_row(words.db),
          {"--history", "", "Show every run too, the newest last", &words.has_history},
          format_row(words.format)};
}

OptionTable import_profiles_option_rows(ImportProfilesWords& words) {
  return {{"FILE", "", "A csv of profiles in Berth's own format or ParvaGPU's, or a folder of *.csv files", &words.path,
           kRequired},
          database_row(words.db)};
}

OptionTable export_profiles_option_rows(ExportProfilesWords& words) {
  return {database_row(words.db),
          {"--model", "NAME", "Only this model", &words.model},
          {"--as", "GPU:PROFILE", "The GPU and profile that unlabelled machines stand for, such as A30-24GB:1g.6gb",
           &words.as},
          {"--out", "FILE|DIR", "Where to write the csv; default: stdout", &words.out}};
}

OptionTable observe_profiles_option_rows(ObserveProfilesWords& words) {
  return {database_row(words.db),
          {"--url", "URL", "A running `berth serve`, such as http://127.0.0.1:8000", &words.url, kRequired},
          {"--key-file", "FILE", "The key of a tenant, if the server has tenants", &words.key_file}};
}

Result<profile_book::SliceName> parse_as(const std::string& text) {
  auto name = profile_book::slice_name_of(text);
  if (!name) {
    return invalid(fmt::format("--as: wanted GPU:PROFILE such as A30-24GB:1g.6gb, found {}", in_quotes(text)));
  }
  const auto gpu = mig::find_gpu_model(name->gpu);
  if (!gpu) return invalid("--as: " + gpu.error().message);
  if (!mig::find_profile(*gpu, name->profile)) {
    return invalid(fmt::format("--as: wanted a profile of {}, found {}", gpu->name, in_quotes(name->profile)));
  }
  name->gpu = gpu->name;
  return *std::move(name);
}

Result<ListProfilesRequest> check_list_profiles(const ListProfilesWords& words) {
  if (auto given = check_path("--db", words.db); !given) return pass_on(given.error());
  const auto format = parse_format(words.format);
  if (!format) return pass_on(format.error());
  return ListProfilesRequest{.db = words.db, .format = *format};
}

Result<ShowProfileRequest> check_show_profile(const ShowProfileWords& words) {
  const auto listed = check_list_profiles({.db = words.db, .format = words.format});
  if (!listed) return pass_on(listed.error());
  return ShowProfileRequest{
      .name = words.name, .db = words.db, .has_history = words.has_history, .format = listed->format};
}

Result<ImportProfilesRequest> check_import_profiles(const ImportProfilesWords& words) {
  if (auto given = check_path("--db", words.db); !given) return pass_on(given.error());
  if (auto given = check_path("FILE", words.path); !given) return pass_on(given.error());
  return ImportProfilesRequest{.path = words.path, .db = words.db};
}

Result<ExportProfilesRequest> check_export_profiles(const ExportProfilesWords& words) {
  if (auto given = check_path("--db", words.db); !given) return pass_on(given.error());
  if (words.out) {
    if (auto given = check_path("--out", *words.out); !given) return pass_on(given.error());
  }
  ExportProfilesRequest request{.db = words.db, .terms = {.model = words.model}, .out = words.out};
  if (words.as) {
    auto as = parse_as(*words.as);
    if (!as) return pass_on(as.error());
    request.terms.as = *std::move(as);
  }
  return request;
}

Result<ObserveProfilesRequest> check_observe_profiles(const ObserveProfilesWords& words) {
  if (auto given = check_path("--db", words.db); !given) return pass_on(given.error());
  std::string url = words.url;
  const bool is_url = url.starts_with("http://") || url.starts_with("https://");
  if (!is_url || url.find_first_of(" \t\r\n") != std::string::npos) {
    return invalid(fmt::format("--url: wanted an address such as http://127.0.0.1:8000, found {}", in_quotes(url)));
  }
  while (url.ends_with('/')) url.pop_back();
  return ObserveProfilesRequest{.db = words.db, .url = std::move(url), .key_file = words.key_file};
}

}  // namespace berth::cli
