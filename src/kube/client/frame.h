/// A line of a watch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/core/result.h"
#include "base/yaml/document.h"
#include "kube/client/resource.h"
#include "kube/client/status.h"

namespace berth::kube {

/// What names an object and its state.
struct Identity {
  ObjectName name;
  std::string uid;
  std::string version;  ///< metadata.resourceVersion: opaque
};

/// Error: kMalformed without a name or a version.
[[nodiscard]] Result<Identity> identity_of(const yaml::Node& object);

enum class ChangeKind : std::uint8_t { kAdded, kModified, kDeleted };

struct ObjectFrame {
  ChangeKind kind = ChangeKind::kAdded;
  Identity identity;
  yaml::Node object;
};
/// The watch has come to this version.
struct BookmarkFrame {
  std::string version;
};
/// The server ends the watch, with HTTP status 200.
struct ErrorFrame {
  Refusal refusal;
};

using Frame = std::variant<ObjectFrame, BookmarkFrame, ErrorFrame>;

/// Error: kMalformed if the line is not a frame of these types.
[[nodiscard]] Result<Frame> read_frame(std::string_view line);

}  // namespace berth::kube
