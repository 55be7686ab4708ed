/// YAML documents from users, read into a tree with positions, within fixed limits. Only this folder uses libyaml.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/core/result.h"
#include "base/core/text.h"

namespace berth::yaml {

struct Node;
struct Entry;

/// What a scalar is. YAML leaves that to the reader: text that looks like a number counts as one where a number is
/// wanted. JSON (base/json/document.h) states it: there "5" is not a number, and 5 is not a text.
enum class ScalarKind { kUntyped, kText, kNumber, kTruth, kNull };

/// A leaf. Numbers stay text: a caller who needs one reads it exactly.
struct Scalar {
  std::string text;
  bool is_plain = true;  ///< untyped and unquoted, so that `null` may mean "no value"
  ScalarKind kind = ScalarKind::kUntyped;
  friend bool operator==(const Scalar&, const Scalar&) = default;
};

using List = std::vector<Node>;
using Map = std::vector<Entry>;  ///< in the order of the file; no key twice

/// A value and the position where it begins (columns count characters). The value of an alias has the position of its
/// anchor.
struct Node {
  TextPlace place;
  std::variant<Scalar, List, Map> value;

  /// Nothing was written: an empty plain scalar, `~` or `null`; in JSON `null`.
  [[nodiscard]] bool is_null() const;
};

/// One key of a map.
struct Entry {
  std::string key;
  TextPlace place;
  Node value;
};

inline constexpr std::size_t kTextBytesMax = 4U << 20U;
inline constexpr int kDepthMax = 32;
/// The most nodes of a tree, counting each expansion of an alias and each copy of an anchor. Their total text is
/// limited likewise.
inline constexpr std::size_t kNodeCountMax = 200'000;
inline constexpr std::size_t kScalarBytesMax = 16U << 20U;

/// The one document of a text in UTF-8 (a byte-order mark and CRLF are accepted). Refused with FILE:LINE:COLUMN:
/// malformed text, no or a second document, a repeated key, a key that is not a scalar, a merge key, a tag outside
/// YAML's core schema, an alias without an anchor, and everything that exceeds the limits above. Time and memory are
/// bounded by them. `file` is for messages.
[[nodiscard]] Result<Node> parse_document(std::string_view text, std::string_view file);

/// All documents of a text, separated by `---`, without empty ones, by the same rules; the limits apply to all
/// documents together. A text without a document is refused, too.
[[nodiscard]] Result<std::vector<Node>> parse_documents(std::string_view text, std::string_view file);

}  // namespace berth::yaml
