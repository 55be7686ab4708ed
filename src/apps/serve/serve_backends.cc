#include "apps/serve/serve_backends.h"

#include <fmt/format.h>

#include "base/core/text.h"

namespace berth::serve {

Result<std::vector<openai::Backend>> read_backends(const serving::ServeConfig& config, const Files& files) {
  std::vector<openai::Backend> backends;
  for (const serving::ConfiguredBackend& configured : config.backends) {
    openai::Backend backend{.configured = configured};
    if (configured.key_file) {
      const auto text = files.read(*configured.key_file);
      if (!text)
        return invalid(fmt::format("backend {}: key_file: {}", in_quotes(configured.name), text.error().message));
      auto key = openai::backend_key(*text, *configured.key_file);
      if (!key) return pass_on(key.error());
      backend.key = *std::move(key);
    }
    backends.push_back(std::move(backend));
  }
  return backends;
}

Result<void> check_models_are_apart(const serving::ServeConfig& config, const serving::RepositoryModels& models,
                                    const std::string& repository) {
  for (const serving::ConfiguredBackend& backend : config.backends) {
    for (const std::string& model : backend.models) {
      if (!models.contains(model)) continue;
      return invalid(fmt::format("backend {}: wanted models that are not in the repository, found {} in {}",
                                 in_quotes(backend.name), in_quotes(model), repository));
    }
  }
  return {};
}

}  // namespace berth::serve
