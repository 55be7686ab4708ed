#include "surface/cli/client/apply_run.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "base/core/sort_stably.h"
#include "base/yaml/document.h"
#include "surface/cli/client/manifest.h"
#include "surface/cli/client/node.h"

namespace berth::cli {
namespace {

constexpr const char* kStandardInput = "-";

Result<std::string> read_input(std::FILE* in) {
  std::string text;
  std::array<char, 65'536> piece{};
  while (true) {
    const std::size_t count = std::fread(piece.data(), 1, piece.size(), in);
    text.append(piece.data(), count);
    if (text.size() > yaml::kTextBytesMax) {
      return invalid(fmt::format("-: wanted at most {} bytes, found more", yaml::kTextBytesMax));
    }
    if (count < piece.size()) return text;
  }
}

/// The objects of all files, in order; only their names if `has_names_only`.
ClientResult<std::vector<Manifest>> read_files(const std::vector<std::string>& paths, const VerbContext& context,
                                               bool has_names_only) {
  std::vector<Manifest> manifests;
  for (const std::string& path : paths) {
    const auto text = path == kStandardInput ? read_input(context.in) : context.files->read(path);
    if (!text) return bad_input(text.error());
    auto read = has_names_only ? read_names(*text, path) : read_manifests(*text, path, *context.files);
    if (!read) return bad_input(read.error());
    for (const Manifest& manifest : *read) print_warnings(manifest.warnings, context.err);
    manifests.insert(manifests.end(), std::make_move_iterator(read->begin()), std::make_move_iterator(read->end()));
  }
  return manifests;
}

std::string selection_text(const Selection& object) { return title_of(object.kind, object.tenant, object.name); }

/// Whether the next object would fail in the same way.
bool ends_all(ClientStatus status) {
  return status == ClientStatus::kNotAllowed || status == ClientStatus::kTimedOut || status == ClientStatus::kNoServer;
}

/// The stored version; nothing if the object does not exist.
ClientResult<std::optional<std::string>> version_of(const Client& client, const Selection& object) {
  const auto reply = client.get(object_path(object));
  if (reply) return text_at(reply->body, "metadata.resourceVersion");
  if (reply.error().status == ClientStatus::kNotFound) return std::nullopt;
  return client_fail(reply.error());
}

/// Sends an object; returns the outcome: created, configured or unchanged.
ClientResult<std::string> apply_one(const Client& client, const Manifest& manifest) {
  constexpr int kCreated = 201;
  const auto before = version_of(client, manifest.object);
  if (!before) return client_fail(before.error());
  for (const Blob& blob : manifest.blobs) {
    if (auto stored = client.put_blob(blob.sha256, blob.bytes); !stored) return client_fail(stored.error());
  }
  const auto reply = client.send("PUT", object_path(manifest.object), manifest.body);
  if (!reply) return client_fail(reply.error());
  // A server that was killed after it recorded the object may answer a repeat with 200.
  if (reply->status == kCreated || !*before) return "created";
  const auto after = text_at(reply->body, "metadata.resourceVersion");
  return after && after == *before ? "unchanged" : "configured";
}

/// Calls `function` with each object and prints the outcomes.
template <class Function>
void for_each(const std::vector<Manifest>& manifests, VerbOutcome& outcome, Function&& function) {
  for (const Manifest& manifest : manifests) {
    const ClientResult<std::string> done = function(manifest);
    if (done) {
      outcome.out += fmt::format("{} {}\n", selection_text(manifest.object), *done);
      continue;
    }
    const std::string place = manifest.place.empty() ? "" : manifest.place + ": ";
    outcome.add(
        {done.error().status, fmt::format("{}{}: {}", place, selection_text(manifest.object), done.error().message)});
    if (ends_all(done.error().status)) return;
  }
}

/// The objects that `delete` names.
ClientResult<std::vector<Manifest>> objects_to_delete(const DeleteWords& words, const VerbContext& context) {
  if (!words.files.empty()) {
    if (!words.kind.empty()) {
      return client_fail(ClientStatus::kBadInput, "delete: wanted either KIND NAME or --filename FILE, found both");
    }
    if (!words.tenant.empty()) {
      return client_fail(ClientStatus::kBadInput, "--tenant: wanted it with KIND NAME only: FILE names the tenants");
    }
    return read_files(words.files, context, true);
  }
  if (words.kind.empty() || (words.name.empty() && words.kind.find('/') == std::string::npos)) {
    return client_fail(ClientStatus::kBadInput, "delete: wanted KIND NAME, KIND/NAME or --filename FILE");
  }
  const auto object = check_selection(words.kind, words.name, words.tenant);
  if (!object) return client_fail(object.error());
  if (object->kind != Kind::kService && object->kind != Kind::kTenant) {
    return client_fail(ClientStatus::kBadInput,
                       fmt::format("KIND: wanted service or tenant, found {}", word_of(object->kind)));
  }
  if (object->kind == Kind::kService && object->tenant.empty()) {
    return client_fail(ClientStatus::kBadInput, "--tenant: wanted the tenant of the service, found none");
  }
  return std::vector<Manifest>{{.object = *object, .body = "", .place = ""}};
}

}  // namespace

VerbOutcome run_apply(const ApplyWords& words, const VerbContext& context) {
  auto manifests = read_files(words.files, context, false);
  if (!manifests) return outcome_of(client_fail(manifests.error()));
  const auto client = connect(words.server, context);
  if (!client) return outcome_of(client_fail(client.error()));
  sort_stably(*manifests, [](const Manifest& manifest) { return manifest.object.kind != Kind::kTenant; });
  VerbOutcome outcome;
  for_each(*manifests, outcome, [&](const Manifest& manifest) { return apply_one(*client, manifest); });
  return outcome;
}

VerbOutcome run_delete(const DeleteWords& words, const VerbContext& context) {
  auto manifests = objects_to_delete(words, context);
  if (!manifests) return outcome_of(client_fail(manifests.error()));
  const auto client = connect(words.server, context);
  if (!client) return outcome_of(client_fail(client.error()));
  sort_stably(*manifests, [](const Manifest& manifest) { return manifest.object.kind != Kind::kService; });
  VerbOutcome outcome;
  for_each(*manifests, outcome, [&](const Manifest& manifest) -> ClientResult<std::string> {
    const auto reply = client->send("DELETE", object_path(manifest.object), "");
    if (!reply) return client_fail(reply.error());
    return "deleted";
  });
  return outcome;
}

}  // namespace berth::cli
