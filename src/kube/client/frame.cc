#include "kube/client/frame.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/core/text.h"
#include "base/json/document.h"
#include "base/json/node_text.h"
#include "base/json/tree.h"

namespace berth::kube {
namespace {

std::optional<ChangeKind> change_kind(std::string_view type) {
  if (type == "ADDED") return ChangeKind::kAdded;
  if (type == "MODIFIED") return ChangeKind::kModified;
  if (type == "DELETED") return ChangeKind::kDeleted;
  return std::nullopt;
}

yaml::Node taken_object(yaml::Node& frame) {
  for (yaml::Entry& entry : std::get<yaml::Map>(frame.value)) {
    if (entry.key == "object") return std::move(entry.value);
  }
  return {};
}

}  // namespace

Result<Identity> identity_of(const yaml::Node& object) {
  Identity identity{.name = {.namespace_name = std::string(json::text_at(object, {"metadata", "namespace"})),
                             .name = std::string(json::text_at(object, {"metadata", "name"}))},
                    .uid = std::string(json::text_at(object, {"metadata", "uid"})),
                    .version = std::string(json::text_at(object, {"metadata", "resourceVersion"}))};
  if (identity.name.name.empty() || identity.version.empty()) {
    return fail(ErrorCode::kMalformed, "wanted an object with a name and a resourceVersion, found none");
  }
  return identity;
}

Result<Frame> read_frame(std::string_view line) {
  auto frame = json::parse_document(line, "watch", json::kNoLimits);
  if (!frame) return pass_on(frame.error());
  const std::string type(json::text_at(*frame, {"type"}));
  const yaml::Node* object = json::find_member(*frame, "object");
  if (object == nullptr) return fail(ErrorCode::kMalformed, "watch: wanted a frame with an object, found none");
  if (type == "ERROR") return ErrorFrame{refusal_in(*object)};
  if (type == "BOOKMARK") {
    const std::string_view version = json::text_at(*object, {"metadata", "resourceVersion"});
    if (version.empty()) return fail(ErrorCode::kMalformed, "watch: wanted a bookmark with a version, found none");
    return BookmarkFrame{std::string(version)};
  }
  const auto kind = change_kind(type);
  if (!kind)
    return fail(ErrorCode::kMalformed, fmt::format("watch: wanted a frame of a known type, found {}", in_quotes(type)));
  auto identity = identity_of(*object);
  if (!identity) return pass_on(identity.error());
  return ObjectFrame{*kind, *std::move(identity), taken_object(*frame)};
}

}  // namespace berth::kube
