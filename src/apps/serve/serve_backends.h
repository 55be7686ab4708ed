/// The other servers that a configuration names.
#pragma once

#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/files.h"
#include "serving/config/serve_config.h"
#include "serving/repository/model_repository.h"
#include "surface/openai_api/openai_api.h"

namespace berth::serve {

/// With the keys in their files. Errors: a key file that cannot be read, or holds no key.
[[nodiscard]] Result<std::vector<openai::Backend>> read_backends(const serving::ServeConfig& config,
                                                                 const Files& files);

/// Errors: a model of a backend is in the repository, too.
[[nodiscard]] Result<void> check_models_are_apart(const serving::ServeConfig& config,
                                                  const serving::RepositoryModels& models,
                                                  const std::string& repository);

}  // namespace berth::serve
