/// What a model repository says of a version of a model, before it is loaded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "domain/values/tensor.h"
#include "serving/dispatch/request.h"

namespace berth::serving {

struct VersionTerms {
  std::string path;  ///< of its file
  std::int64_t file_bytes = 0;
  std::vector<TensorSignature> inputs = {};  ///< as clients see them: with the dimension of rows, if there is one
  std::vector<TensorSignature> outputs = {};
  RowCount rows_max = 0;               ///< of a batch; 0: the model has no dimension of rows
  bool needs_proof = false;            ///< that its rows may share a batch: nobody says so
  Micros target = Micros(30'000'000);  ///< of requests that do not say how long they wait
  std::int64_t queue_max = 0;          ///< requests; 0: no limit of its own

  friend bool operator==(const VersionTerms&, const VersionTerms&) = default;
};

struct RepositoryVersion {
  std::int64_t number = 1;
  /// Changes when its file or its configuration does.
  std::string fingerprint = {};
  /// The error: why it cannot serve.
  Result<VersionTerms> terms;
};

/// A model with the versions that should serve.
struct RepositoryModel {
  std::string name;
  std::vector<RepositoryVersion> versions = {};  ///< ascending
  std::string reason = {};                       ///< why it has none
};

}  // namespace berth::serving
