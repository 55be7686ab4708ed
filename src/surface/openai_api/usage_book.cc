#include "surface/openai_api/usage_book.h"

#include <limits>

namespace berth::openai {
namespace {

void add_tokens(std::optional<std::int64_t>& sum, std::optional<std::int64_t> count) {
  if (!count) return;
  std::int64_t total = 0;
  if (__builtin_add_overflow(sum.value_or(0), *count, &total)) total = std::numeric_limits<std::int64_t>::max();
  sum = total;
}

}  // namespace

void UsageBook::add(const ProxiedRequest& request) {
  if (request.outcome == ProxiedOutcome::kRejected) return;
  const std::scoped_lock lock(mutex_);
  ModelUsage& usage = usage_[{request.tenant, request.model}];
  usage.tenant = request.tenant;
  usage.model = request.model;
  ++usage.requests;
  add_tokens(usage.tokens.prompt_tokens, request.usage.prompt_tokens);
  add_tokens(usage.tokens.completion_tokens, request.usage.completion_tokens);
}

std::vector<ModelUsage> UsageBook::all() const {
  const std::scoped_lock lock(mutex_);
  std::vector<ModelUsage> all;
  all.reserve(usage_.size());
  for (const auto& [key, usage] : usage_) all.push_back(usage);
  return all;
}

}  // namespace berth::openai
