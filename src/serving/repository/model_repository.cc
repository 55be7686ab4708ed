#include "serving/repository/model_repository.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/core/control_text.h"
#include "base/core/text.h"
#include "serving/repository/version_choice.h"
#include "serving/repository/version_reader.h"

namespace berth::serving {
namespace {

constexpr std::size_t kNameBytesMax = 63;
constexpr std::size_t kConfigBytesMax = std::size_t{1} << 20U;
constexpr std::string_view kStillWritten = "wanted a file that is unchanged for 1 s, found one that is being written";

/// With escapes for what a text should not have.
std::string printable(std::string_view name) {
  std::string shown;
  for (std::size_t at = 0; at < name.size(); ++at) {
    const bool is_plain = name[at] >= ' ' && name[at] <= '~';
    shown += is_plain ? std::string(1, name[at]) : fmt::format("\\x{:02x}", static_cast<unsigned char>(name[at]));
  }
  return shown;
}

bool is_text(std::string_view name) { return find_bad_utf8(name) == std::string_view::npos && !has_control(name); }

FileStamps stamps_of(const std::vector<FolderEntry>& files) {
  FileStamps stamps;
  for (const FolderEntry& file : files) stamps.emplace_back(file.name, file.stamp);
  return stamps;
}

const FolderEntry* find_model_file(const ListedVersion& version) {
  const auto found = std::ranges::find(version.files, kModelFile, &FolderEntry::name);
  return found == version.files.end() || found->kind != EntryKind::kFile ? nullptr : &*found;
}

const RepositoryVersion* find_version(const RepositoryModel* model, std::int64_t number) {
  if (model == nullptr) return nullptr;
  const auto found = std::ranges::find(model->versions, number, &RepositoryVersion::number);
  return found == model->versions.end() ? nullptr : &*found;
}

/// One look at the repository, compared with the one before.
class Look {
 public:
  Look(const FileTree& tree, std::string_view root, const Sights& seen_before, Micros now)
      : tree_(tree), root_(root), seen_before_(seen_before), now_(now) {}

  RepositoryModel look_at(const ListedModel& listed, const RepositoryModel* before);
  [[nodiscard]] Sights take_seen() { return std::move(seen_); }

 private:
  /// Whether the files at `place` count: nothing has changed since kSettleTime.
  bool are_settled(const std::string& place, const std::vector<FolderEntry>& files);
  /// Reads the config; false if it changed while it was read.
  bool read_config(const ListedModel& listed, const RepositoryModel* before, RepositoryModel& model);
  void choose(const ListedModel& listed, const RepositoryModel* before, RepositoryModel& model);
  /// Nothing if it changed while it was read, and was not known before.
  std::optional<RepositoryVersion> version_of(const ListedModel& listed, std::int64_t number,
                                              const RepositoryModel* before, const RepositoryModel& model);
  [[nodiscard]] std::string place_of(const ListedModel& listed, std::int64_t number) const {
    return fmt::format("{}/{}", listed.name, number);
  }

  const FileTree& tree_;
  std::string_view root_;
  const Sights& seen_before_;
  Micros now_;
  Sights seen_;
  std::vector<std::int64_t> unsettled_;  ///< versions of the model that is looked at
};

RepositoryModel Look::look_at(const ListedModel& listed, const RepositoryModel* before) {
  RepositoryModel model{.name = is_text(listed.name) ? listed.name : printable(listed.name), .fault = listed.fault};
  for (const ListedVersion& version : listed.versions) model.on_disk.push_back(version.number);
  if (!is_text(listed.name)) {
    model.fault = "wanted a name in UTF-8 without control characters, found " + in_quotes(listed.name);
  } else if (listed.name.size() > kNameBytesMax) {
    model.fault = fmt::format("wanted a name of 1 to {} bytes, found {}", kNameBytesMax, listed.name.size());
  }
  if (!model.fault.empty()) return model;

  std::vector<FolderEntry> config;
  if (listed.config) config.push_back(*listed.config);
  const bool is_settled = are_settled(listed.name, config);
  // Also looks at the versions, so that the time of each counts from now on.
  unsettled_.clear();
  for (const ListedVersion& version : listed.versions) {
    if (!are_settled(place_of(listed, version.number), version.files)) unsettled_.push_back(version.number);
  }
  if (!is_settled || !read_config(listed, before, model)) {
    if (before != nullptr) return *before;
    model.fault = fmt::format("{}/{}: {}", listed.name, kConfigFile, kStillWritten);
  }
  if (model.fault.empty()) choose(listed, before, model);
  return model;
}

bool Look::are_settled(const std::string& place, const std::vector<FolderEntry>& files) {
  Micros changed{};
  for (const FolderEntry& file : files) changed = std::max(changed, file.changed);
  // Their own times are believed, so that a server that starts need not wait; a clock that is behind them costs 1 s.
  const bool is_old = !files.empty() && changed + kSettleTime <= now_;
  Sight sight{.files = stamps_of(files), .since = now_};
  const auto before = seen_before_.find(place);
  if (before == seen_before_.end()) {
    if (files.empty()) sight.since = Micros();  // nothing was removed: there was nothing
  } else if (before->second.files == sight.files) {
    sight.since = std::min(before->second.since, now_);
  }
  const bool is_settled = is_old || sight.since + kSettleTime <= now_;
  seen_[place] = std::move(sight);
  return is_settled;
}

bool Look::read_config(const ListedModel& listed, const RepositoryModel* before, RepositoryModel& model) {
  if (!listed.config) return true;
  model.config_stamp = listed.config->stamp;
  if (before != nullptr && before->config && before->config_stamp == model.config_stamp) {
    model.config = before->config;
    return true;
  }
  const std::string name = fmt::format("{}/{}", listed.name, kConfigFile);
  const auto file = tree_.open(fmt::format("{}/{}", root_, name));
  if (!file) {
    model.fault = file.error().message;
    return true;
  }
  if ((*file)->stamp() != listed.config->stamp) return false;
  const auto text = read_whole(**file, kConfigBytesMax);
  if (!text) {
    model.fault = fmt::format("{}: {}", name, text.error().message);
    return true;
  }
  auto config = read_model_config(*text, name, listed.name);
  if (config) {
    model.config = *std::move(config);
  } else {
    model.fault = config.error().message;
  }
  return true;
}

void Look::choose(const ListedModel& listed, const RepositoryModel* before, RepositoryModel& model) {
  VersionsOnDisk on_disk;
  for (const ListedVersion& version : listed.versions) {
    const bool is_unsettled = std::ranges::find(unsettled_, version.number) != unsettled_.end();
    if (is_unsettled && find_version(before, version.number) == nullptr) continue;
    const bool is_complete = is_unsettled || (version.fault.empty() && find_model_file(version) != nullptr);
    (is_complete ? on_disk.complete : on_disk.broken).push_back(version.number);
  }
  const VersionPolicy policy = model.config ? model.config->version_policy : VersionPolicy{};
  for (const std::int64_t number : choose_versions(policy, on_disk)) {
    auto version = version_of(listed, number, before, model);
    if (version) model.versions.push_back(*std::move(version));
  }
  if (!model.versions.empty()) return;
  if (!unsettled_.empty()) {
    model.fault = fmt::format("{}: {}", place_of(listed, unsettled_.back()), kStillWritten);
  } else if (listed.versions.empty()) {
    model.fault = listed.name + ": wanted a folder for each version, such as 1, found none";
  } else if (!listed.versions.back().fault.empty()) {
    model.fault = listed.versions.back().fault;
  } else {
    model.fault =
        fmt::format("{}: wanted a file {}, found none", place_of(listed, listed.versions.back().number), kModelFile);
  }
}

std::optional<RepositoryVersion> Look::version_of(const ListedModel& listed, std::int64_t number,
                                                  const RepositoryModel* before, const RepositoryModel& model) {
  const RepositoryVersion* const known = find_version(before, number);
  const std::string name = place_of(listed, number);
  RepositoryVersion version{.number = number, .path = fmt::format("{}/{}/{}", root_, name, kModelFile)};
  const auto on_disk = std::ranges::find(listed.versions, number, &ListedVersion::number);
  const bool is_unsettled = std::ranges::find(unsettled_, number) != unsettled_.end();
  if (is_unsettled && known != nullptr) {
    version = *known;
    // Its files count as they were. How they are served may have changed, but cannot be read now.
    version.may_differ_next = known->may_differ_next || before->config != model.config;
    return version;
  }
  if (on_disk == listed.versions.end() || is_unsettled) {
    version.terms =
        invalid(is_unsettled ? fmt::format("{}: {}", name, kStillWritten)
                             : fmt::format("{}: wanted a folder, as version_policy says, found none", name));
    return version;
  }
  version.files = stamps_of(on_disk->files);
  if (!on_disk->fault.empty()) {
    version.terms = invalid(on_disk->fault);
    return version;
  }
  const FolderEntry* const file = find_model_file(*on_disk);
  if (file == nullptr) {
    version.terms = invalid(fmt::format("{}: wanted a file {}, found none", name, kModelFile));
    return version;
  }
  const bool is_same = known != nullptr && known->files == version.files && !known->may_differ_next;
  if (is_same && before->config == model.config) return *known;
  VersionReading reading = read_version(tree_, fmt::format("{}/{}", root_, name), name, model.config);
  if (reading.model_stamp && *reading.model_stamp != file->stamp) {
    return known == nullptr ? std::nullopt : std::optional(*known);
  }
  version.terms = std::move(reading.terms);
  if (std::ranges::find(on_disk->files, kVariantCard, &FolderEntry::name) != on_disk->files.end()) {
    version.variant = read_variant(tree_, fmt::format("{}/{}", root_, name));
  }
  version.may_differ_next = reading.may_differ_next;
  return version;
}

void add_version_changes(const RepositoryModel& before, const RepositoryModel& after,
                         std::vector<RepositoryChange>& changes) {
  using Kind = RepositoryChange::Kind;
  for (const RepositoryVersion& version : after.versions) {
    const RepositoryVersion* const known = find_version(&before, version.number);
    if (known == nullptr) {
      changes.push_back({.kind = Kind::kVersionAdded, .model = after.name, .version = version.number});
    } else if (known->files != version.files) {
      changes.push_back({.kind = Kind::kVersionFiles, .model = after.name, .version = version.number});
    } else if (known->terms != version.terms) {
      changes.push_back({.kind = Kind::kVersionTerms, .model = after.name, .version = version.number});
    }
  }
  for (const RepositoryVersion& version : before.versions) {
    if (find_version(&after, version.number) != nullptr) continue;
    changes.push_back({.kind = Kind::kVersionRemoved, .model = before.name, .version = version.number});
  }
}

}  // namespace

std::vector<RepositoryChange> changes_between(const RepositoryModels& before, const RepositoryModels& after) {
  using Kind = RepositoryChange::Kind;
  std::vector<RepositoryChange> changes;
  const auto add = [&](Kind kind, const std::string& model) { changes.push_back({.kind = kind, .model = model}); };
  auto old = before.begin();
  auto young = after.begin();
  while (old != before.end() || young != after.end()) {
    if (young == after.end() || (old != before.end() && old->first < young->first)) {
      add_version_changes(old->second, {.name = old->first}, changes);
      add(Kind::kModelRemoved, old->first);
      ++old;
    } else if (old == before.end() || young->first < old->first) {
      add(Kind::kModelAdded, young->first);
      add_version_changes({.name = young->first}, young->second, changes);
      ++young;
    } else {
      const bool is_same = old->second.config == young->second.config && old->second.fault == young->second.fault;
      if (!is_same) add(Kind::kModelChanged, young->first);
      add_version_changes(old->second, young->second, changes);
      ++old;
      ++young;
    }
  }
  return changes;
}

Result<std::vector<RepositoryChange>> ModelRepository::scan(Micros now) {
  const auto listed = list_repository(tree_, root_);
  if (!listed) return pass_on(listed.error());
  Look look(tree_, root_, sights_, now);
  RepositoryModels models;
  for (const ListedModel& model : *listed) {
    const std::string name = is_text(model.name) ? model.name : printable(model.name);
    const auto before = models_.find(name);
    models[name] = look.look_at(model, before == models_.end() ? nullptr : &before->second);
  }
  auto changes = changes_between(models_, models);
  models_ = std::move(models);
  sights_ = look.take_seen();
  return changes;
}

}  // namespace berth::serving
