#include "surface/cli/optimize/variant_options.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/core/text.h"
#include "domain/mig/catalogue.h"
#include "surface/cli/shared/option_words.h"

namespace berth::cli {
namespace {

constexpr const char* kFolderHelp = "What `berth optimize --out` wrote";

OptionRow folder_row(std::string& folder) { return {"DIR", "TEXT", kFolderHelp, &folder, kRequired}; }

Result<void> check_given(std::string_view option, const std::optional<std::string>& path) {
  if (path && path->empty()) return invalid(fmt::format("{}: wanted a path, found an empty one", option));
  return {};
}

}  // namespace

OptionTable verify_variants_option_rows(VerifyVariantsWords& words) {
  return {
      folder_row(words.folder),
      {"--original", "FILE", "The model [as the manifest says]", &words.original},
      {"--calibration", "DATA", "The rows [as the manifest says]", &words.calibration},
      {"--evaluation", "DATA", "The rows [as the manifest says]", &words.evaluation},
      {"--engine", "FILE", "The library of ONNX Runtime [where scripts/setup puts it]", &words.engine},
      {"--format", "WORD", "table or json", &words.format},
  };
}

OptionTable export_variants_option_rows(ExportVariantsWords& words) {
  return {folder_row(words.folder),
          {"--as", "GPU:PROFILE", "What the figures count as, such as A30-24GB:1g.6gb", &words.as, kRequired}};
}

OptionTable publish_variant_option_rows(PublishVariantWords& words) {
  return {folder_row(words.folder),
          {"--variant", "NAME", "One that is kept [the recommended one]", &words.variant},
          {"--repository", "REPO/MODEL", "The folder of the model in a repository of `berth serve`", &words.repository,
           kRequired}};
}

Result<CheckedVerify> check_verify_variants(const VerifyVariantsWords& words) {
  using Path = std::pair<std::string_view, std::optional<std::string>>;
  const std::array<Path, 5> paths = {{{"DIR", words.folder},
                                      {"--original", words.original},
                                      {"--calibration", words.calibration},
                                      {"--evaluation", words.evaluation},
                                      {"--engine", words.engine}}};
  for (const auto& [option, path] : paths) {
    if (auto given = check_given(option, path); !given) return pass_on(given.error());
  }
  const auto format = parse_format(words.format);
  if (!format) return pass_on(format.error());
  return CheckedVerify{.request = {.folder = words.folder,
                                   .original = words.original,
                                   .calibration = words.calibration,
                                   .evaluation = words.evaluation,
                                   .engine = words.engine},
                       .format = *format};
}

Result<ExportVariantsRequest> check_export_variants(const ExportVariantsWords& words) {
  if (auto given = check_given("DIR", words.folder); !given) return pass_on(given.error());
  const std::size_t colon = words.as.find(':');
  if (colon == std::string::npos) {
    return invalid(fmt::format("--as: wanted GPU:PROFILE such as A30-24GB:1g.6gb, found {}", in_quotes(words.as)));
  }
  const auto gpu = mig::find_gpu_model(words.as.substr(0, colon));
  if (!gpu) return invalid("--as: " + gpu.error().message);
  std::string profile = words.as.substr(colon + 1);
  if (!mig::find_profile(*gpu, profile)) {
    return invalid(fmt::format("--as: wanted a profile of {}, found {}", gpu->name, in_quotes(profile)));
  }
  return ExportVariantsRequest{.folder = words.folder, .gpu = gpu->name, .profile = std::move(profile)};
}

Result<PublishVariantRequest> check_publish_variant(const PublishVariantWords& words) {
  if (auto given = check_given("DIR", words.folder); !given) return pass_on(given.error());
  std::filesystem::path place = std::filesystem::path(words.repository).lexically_normal();
  if (!place.has_filename()) place = place.parent_path();
  const std::string model = place.filename().string();
  if (model.empty() || model == "." || model == ".." || model.starts_with('.')) {
    return invalid(
        fmt::format("--repository: wanted REPO/MODEL such as models/digits, found {}", in_quotes(words.repository)));
  }
  const std::string around = place.parent_path().string();
  return PublishVariantRequest{
      .folder = words.folder, .variant = words.variant, .repository = around.empty() ? "." : around, .model = model};
}

}  // namespace berth::cli
