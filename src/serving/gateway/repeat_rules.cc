#include "serving/gateway/repeat_rules.h"

#include <algorithm>

namespace berth::serving {
namespace {

bool is_infer(std::string_view path) {
  constexpr std::string_view kModels = "/v2/models/";
  constexpr std::string_view kInfer = "/infer";
  constexpr std::string_view kVersions = "/versions/";
  path = path.substr(0, path.find('?'));
  if (!path.starts_with(kModels) || !path.ends_with(kInfer)) return false;
  path.remove_prefix(kModels.size());
  if (path.size() <= kInfer.size()) return false;
  path.remove_suffix(kInfer.size());
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos) return true;
  if (slash == 0) return false;
  const std::string_view rest = path.substr(slash);
  return rest.starts_with(kVersions) && rest.size() > kVersions.size() &&
         rest.find('/', kVersions.size()) == std::string_view::npos;
}

}  // namespace

bool is_repeatable(std::string_view method, std::string_view path, std::span<const HttpField> headers) {
  if (method == "GET" || method == "HEAD") return true;
  if (method == "POST" && is_infer(path)) return true;
  const auto key = find_header(headers, "Idempotency-Key");
  return key && !key->empty();
}

}  // namespace berth::serving
