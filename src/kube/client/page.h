/// A part of a list.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "base/yaml/document.h"
#include "kube/client/frame.h"

namespace berth::kube {

struct PageItem {
  Identity identity;
  yaml::Node object;  ///< the items of a list have neither kind nor apiVersion
};

struct Page {
  std::vector<PageItem> items;
  std::string version;       ///< of the list: where a watch goes on
  std::string continuation;  ///< of the next part; empty: this is the last one
};

/// Error: kMalformed unless the text is a list with a version, each of whose items has an identity.
[[nodiscard]] Result<Page> read_page(std::string_view text);

}  // namespace berth::kube
