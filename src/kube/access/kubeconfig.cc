#include "kube/access/kubeconfig.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/core/text.h"
#include "base/yaml/document.h"
#include "base/yaml/reader.h"
#include "kube/access/base64.h"

namespace berth::kube {
namespace {

/// A file that was read.
struct Source {
  std::string path;
  yaml::Node root;

  [[nodiscard]] std::string folder() const {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash + 1);
  }
};

/// A named entry of one of the lists, and the file that it is in.
struct Named {
  const Source* source = nullptr;
  yaml::Value value;
};

Result<std::vector<Source>> read_sources(const Files& files, const KubeconfigChoice& choice) {
  std::vector<Source> sources;
  for (const std::string& path : choice.paths) {
    const auto text = files.read(path);
    if (!text && choice.may_be_missing && text.error().code == ErrorCode::kNotFound) continue;
    if (!text) return pass_on(text.error());
    auto root = yaml::parse_document(*text, path);
    if (!root) return pass_on(root.error());
    sources.push_back({path, *std::move(root)});
  }
  if (sources.empty()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("{}: wanted a kubeconfig file, found none", fmt::join(choice.paths, ":")));
  }
  return sources;
}

/// Reads the lists of all files; its first failure is that of the file in question.
class Sources {
 public:
  explicit Sources(std::vector<Source> sources) : sources_(std::move(sources)) {
    reports_.reserve(sources_.size());
    for (const Source& source : sources_) reports_.emplace_back(source.path);
  }

  /// The entry of a list such as "contexts" with this name, in the first file that has one.
  std::optional<Named> find(std::string_view list, std::string_view kind, std::string_view name) {
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      const yaml::Value entries = yaml::Value(sources_[i].root, reports_[i]).at(list);
      if (!entries.is_present()) continue;
      for (const yaml::Value& entry : entries.items(fmt::format("a list of {}", list))) {
        if (entry.at("name").text("a name") == name) return Named{&sources_[i], entry.at(kind)};
      }
      if (reports_[i].has_failed()) return std::nullopt;
    }
    return std::nullopt;
  }

  std::vector<std::string> names(std::string_view list) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      const yaml::Value entries = yaml::Value(sources_[i].root, reports_[i]).at(list);
      if (!entries.is_present()) continue;
      for (const yaml::Value& entry : entries.items("a list")) names.push_back(entry.at("name").text("a name"));
    }
    return names;
  }

  std::string current_context() {
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      const yaml::Value current = yaml::Value(sources_[i].root, reports_[i]).at("current-context");
      if (!current.is_present()) continue;
      if (std::string name = current.text("the name of a context"); !name.empty()) return name;
    }
    return {};
  }

  [[nodiscard]] Result<void> check() const {
    for (const yaml::Report& report : reports_) {
      if (report.has_failed()) return pass_on(report.failure());
    }
    return {};
  }
  [[nodiscard]] const std::string& first_path() const { return sources_.front().path; }

 private:
  std::vector<Source> sources_;
  std::vector<yaml::Report> reports_;
};

std::string text_of_key(const yaml::Value& map, std::string_view key) {
  const yaml::Value value = map.at(key);
  return value.is_present() ? value.text("a text") : std::string();
}

/// The bytes of `KEY-data`, else of the file that `KEY` names.
std::string bytes_of(const Files& files, const Named& from, std::string_view key) {
  const yaml::Value inline_bytes = from.value.at(fmt::format("{}-data", key));
  if (inline_bytes.is_present()) {
    if (auto bytes = decode_base64(inline_bytes.text("bytes in base64"))) return *std::move(bytes);
    inline_bytes.refuse("bytes in base64", "something else");
    return {};
  }
  const std::string path = text_of_key(from.value, key);
  if (path.empty()) return {};
  auto bytes = files.read(path.starts_with('/') ? path : from.source->folder() + path);
  if (bytes) return *std::move(bytes);
  from.value.at(key).fail_with(bytes.error());
  return {};
}

void read_cluster(const Files& files, const Named& cluster, Access& access) {
  access.server = text_of_key(cluster.value, "server");
  while (access.server.ends_with('/')) access.server.pop_back();
  if (!access.server.starts_with("https://") && !access.server.starts_with("http://")) {
    cluster.value.at("server").refuse("a URL such as https://127.0.0.1:6443");
  }
  access.authority_pem = bytes_of(files, cluster, "certificate-authority");
  access.server_name = text_of_key(cluster.value, "tls-server-name");
  access.proxy = text_of_key(cluster.value, "proxy-url");
  const yaml::Value insecure = cluster.value.at("insecure-skip-tls-verify");
  access.verifies_server = !insecure.is_present() || !insecure.truth();
}

void read_user(const Files& files, const Named& user, Access& access) {
  constexpr std::array<std::string_view, 4> kUnsupported = {"exec", "auth-provider", "username", "password"};
  for (const std::string_view key : kUnsupported) {
    const yaml::Value value = user.value.at(key);
    if (value.is_present()) return value.fail("wanted a token or a client certificate; this is not supported");
  }
  access.certificate_pem = bytes_of(files, user, "client-certificate");
  access.key_pem = bytes_of(files, user, "client-key");
  if (access.certificate_pem.empty() != access.key_pem.empty()) {
    return user.value.fail("wanted client-certificate and client-key, found one of them");
  }
  access.token = text_of_key(user.value, "token");
  const std::string path = text_of_key(user.value, "tokenFile");
  if (path.empty()) return;
  access.token_path = path.starts_with('/') ? path : user.source->folder() + path;
  if (const auto token = files.read(access.token_path); !token) user.value.at("tokenFile").fail_with(token.error());
}

Error unknown(Sources& sources, std::string_view list, std::string_view kind, std::string_view name) {
  const std::vector<std::string> names = sources.names(list);
  const std::vector<std::string_view> known(names.begin(), names.end());
  return {ErrorCode::kInvalidInput,
          fmt::format("{}: wanted the name of a {} ({}), found {}{}", sources.first_path(), kind,
                      names.empty() ? "there is none" : fmt::format("{}", fmt::join(names, ", ")), in_quotes(name),
                      spelling_hint(name, known))};
}

}  // namespace

Result<Access> read_kubeconfig(const Files& files, const KubeconfigChoice& choice) {
  auto read = read_sources(files, choice);
  if (!read) return pass_on(read.error());
  Sources sources(*std::move(read));
  const std::string context_name = choice.context ? *choice.context : sources.current_context();
  if (const auto fine = sources.check(); !fine) return pass_on(fine.error());
  if (context_name.empty()) {
    return invalid(sources.first_path() + ": wanted current-context, or --context NAME, found none");
  }
  const auto context = sources.find("contexts", "context", context_name);
  if (const auto fine = sources.check(); !fine) return pass_on(fine.error());
  if (!context) return pass_on(unknown(sources, "contexts", "context", context_name));
  Access access;
  access.source = fmt::format("{} (context {})", context->source->path, context_name);
  access.namespace_name = text_of_key(context->value, "namespace");
  for (const auto& [list, kind] :
       {std::pair<std::string_view, std::string_view>{"clusters", "cluster"}, {"users", "user"}}) {
    const std::string name = text_of_key(context->value, kind);
    if (name.empty() && kind == "user") continue;  // an API server may let anybody in
    const auto found = sources.find(list, kind, name);
    if (const auto fine = sources.check(); !fine) return pass_on(fine.error());
    if (!found) return pass_on(unknown(sources, list, kind, name));
    if (kind == "cluster") {
      read_cluster(files, *found, access);
    } else {
      read_user(files, *found, access);
    }
    if (const auto fine = sources.check(); !fine) return pass_on(fine.error());
  }
  return access;
}

std::vector<std::string> split_paths(std::string_view list) {
  std::vector<std::string> paths;
  while (!list.empty()) {
    const std::size_t colon = std::min(list.find(':'), list.size());
    if (colon > 0) paths.emplace_back(list.substr(0, colon));
    list.remove_prefix(std::min(colon + 1, list.size()));
  }
  return paths;
}

}  // namespace berth::kube
