#include "surface/cli/shared/distinct_paths.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "base/core/text.h"

namespace berth::cli {
namespace {

/// Whether writing to one path would change the content of the other.
bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  const auto status = std::filesystem::status(a, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return false;
  if (std::filesystem::equivalent(a, b, error) && !error) return true;
  const auto left = std::filesystem::weakly_canonical(std::filesystem::absolute(a), error);
  if (error) return a == b;
  const auto right = std::filesystem::weakly_canonical(std::filesystem::absolute(b), error);
  return error ? a == b : left == right;
}

}  // namespace

Result<void> check_outputs_are_distinct(const std::vector<NamedPath>& inputs, const std::vector<NamedPath>& outputs) {
  std::vector<NamedPath> known = inputs;
  for (const NamedPath& output : outputs) {
    if (!output.path) continue;
    for (const NamedPath& other : known) {
      if (!other.path || !is_same_file(*output.path, *other.path)) continue;
      return invalid(fmt::format("{}: wanted another file than that of {}, found {}", output.option, other.option,
                                 in_quotes(*output.path)));
    }
    known.push_back(output);
  }
  return {};
}

}  // namespace berth::cli
