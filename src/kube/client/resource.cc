#include "kube/client/resource.h"

#include <fmt/format.h>

namespace berth::kube {

std::string api_version(const Resource& resource) {
  return resource.group.empty() ? std::string(resource.version)
                                : fmt::format("{}/{}", resource.group, resource.version);
}

std::string collection_path(const Resource& resource) { return collection_path(resource, ""); }

std::string collection_path(const Resource& resource, std::string_view namespace_name) {
  std::string path = fmt::format("/{}/{}", resource.group.empty() ? "api" : "apis", api_version(resource));
  if (!namespace_name.empty()) path += "/namespaces/" + percent_encoded(namespace_name);
  return fmt::format("{}/{}", path, resource.plural);
}

std::string object_path(const Resource& resource, const ObjectName& name, std::string_view subresource) {
  std::string path = collection_path(resource, name.namespace_name) + "/" + percent_encoded(name.name);
  if (!subresource.empty()) path += fmt::format("/{}", subresource);
  return path;
}

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                          c == '_' || c == '.' || c == '~';
    if (is_plain) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

}  // namespace berth::kube
