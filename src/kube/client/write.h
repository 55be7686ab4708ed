/// Writes whose answers may be lost.
#pragma once

#include <cstdint>
#include <string>

#include "base/core/result.h"
#include "base/yaml/document.h"
#include "domain/ports/kube_api.h"
#include "kube/client/resource.h"
#include "kube/client/status.h"

namespace berth::kube {

/// The manager of every field that Berth writes.
inline constexpr std::string_view kFieldManager = "berth";

enum class WriteKind : std::uint8_t {
  kApply,   ///< server-side apply: creates the object, or owns the fields of `body`
  kPatch,   ///< a merge patch; `version` is required
  kCreate,  ///< POST to the collection
  kDelete,  ///< `uid` is required
};

struct Write {
  WriteKind kind = WriteKind::kPatch;
  Resource resource;
  ObjectName name;
  std::string subresource = {};
  std::string uid = {};      ///< the object that is meant, not another one of its name; empty: any
  std::string version = {};  ///< that the write is based on: another one refuses it
  yaml::Node body = {};      ///< a map; uid and version are added to its metadata
};

enum class WriteFate : std::uint8_t {
  kDone,      ///< carried out; `object` is what stands (nothing after a deletion)
  kConflict,  ///< refused: the object has another version, or is another one (409)
  kGone,      ///< there is no such object
  kRefused,   ///< by the server, for good (other 4xx)
  kUnknown,   ///< the answer was lost, and the object has another version now: `object` shows whether it was this write
};

struct WriteOutcome {
  WriteFate fate = WriteFate::kDone;
  yaml::Node object = {};
  std::string message = {};
};

/// Sends the write. Where the answer is lost, the object is read before anything is repeated: it is repeated, at most
/// `kRepeatsMax` times, if the object still has the version that the write named (of a creation: if there is none; of
/// a deletion: if it still has the uid and is not being deleted). An apply without a version is repeated, because it
/// says the same twice. Errors: those of the port, if the server cannot be asked any more.
[[nodiscard]] Result<WriteOutcome> write_carefully(KubeApi& api, const Write& write);

inline constexpr int kRepeatsMax = 3;

/// The request of a write.
[[nodiscard]] KubeCall call_of(const Write& write);

/// A JSON scalar, and a map of these.
[[nodiscard]] yaml::Node text_node(std::string text);
[[nodiscard]] yaml::Node number_node(std::int64_t number);
[[nodiscard]] yaml::Node truth_node(bool truth);
[[nodiscard]] yaml::Node null_node();
/// Sets a key of a map, or replaces its value. Requires: `map` is a map.
yaml::Node& put(yaml::Node& map, std::string_view key, yaml::Node value);
[[nodiscard]] yaml::Node map_node();

}  // namespace berth::kube
