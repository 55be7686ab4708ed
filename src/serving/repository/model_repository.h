/// The models of a repository, followed from scan to scan.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "domain/ports/file_tree.h"
#include "serving/model_config/model_config.h"
#include "serving/model_config/version_terms.h"
#include "serving/repository/repository_listing.h"

namespace berth::serving {

/// Files by name, and which content they have.
using FileStamps = std::vector<std::pair<std::string, FileStamp>>;

struct RepositoryVersion {
  std::int64_t number = 0;
  std::string path = {};                              ///< of model.onnx
  FileStamps files = {};                              ///< of its folder
  Result<VersionTerms> terms = VersionTerms{};        ///< the error: why it is UNAVAILABLE
  std::optional<std::string> variant = std::nullopt;  ///< of another model, as its berth.json says
  bool may_differ_next = false;                       ///< the next scan reads it again

  friend bool operator==(const RepositoryVersion&, const RepositoryVersion&) = default;
};

struct RepositoryModel {
  std::string name;        ///< a text in UTF-8; in a fault's case perhaps with escapes
  std::string fault = {};  ///< why no version can serve; empty: `versions` say it
  std::optional<ModelConfig> config = std::nullopt;
  std::optional<FileStamp> config_stamp = std::nullopt;
  std::vector<RepositoryVersion> versions = {};  ///< that the policy chooses, ascending
  std::vector<std::int64_t> on_disk = {};        ///< all versions that have a folder, ascending

  friend bool operator==(const RepositoryModel&, const RepositoryModel&) = default;
};

using RepositoryModels = std::map<std::string, RepositoryModel>;

struct RepositoryChange {
  enum class Kind {
    kModelAdded,      ///< its versions follow as kVersionAdded
    kModelChanged,    ///< its config or its fault
    kModelRemoved,    ///< its folder is gone; its versions come before it, as kVersionRemoved
    kVersionAdded,    ///< the policy chooses it now
    kVersionFiles,    ///< its files have another content
    kVersionTerms,    ///< the same files are served in another way
    kVersionRemoved,  ///< the policy does not choose it any more: another one is later, or its folder is gone
  };
  Kind kind = Kind::kModelAdded;
  std::string model;
  std::int64_t version = 0;  ///< of the kinds kVersion...

  friend bool operator==(const RepositoryChange&, const RepositoryChange&) = default;
};

/// In the byte order of the models' names; of a model first the model, then versions, ascending (removed: the other way
/// round).
[[nodiscard]] std::vector<RepositoryChange> changes_between(const RepositoryModels& before,
                                                            const RepositoryModels& after);

/// How long a file must be unchanged before it counts.
inline constexpr Micros kSettleTime = Micros::seconds(1);

/// Since when the files of a folder are as they are now.
struct Sight {
  FileStamps files;
  Micros since;
};
using Sights = std::map<std::string, Sight>;

class ModelRepository {
 public:
  /// The tree must live as long.
  ModelRepository(const FileTree& tree, std::string root) : tree_(tree), root_(std::move(root)) {}

  /// Looks at everything again, and reads what is new or has changed. `now`: since 1970, by the clock of the files.
  /// What is being written stays as it was: a new version is not there yet. Errors: the root cannot be listed; then all
  /// stays as it was.
  [[nodiscard]] Result<std::vector<RepositoryChange>> scan(Micros now);

  [[nodiscard]] const RepositoryModels& models() const { return models_; }

 private:
  const FileTree& tree_;
  std::string root_;
  RepositoryModels models_;
  Sights sights_;
};

}  // namespace berth::serving
