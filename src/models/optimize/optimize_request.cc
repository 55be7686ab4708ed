#include "models/optimize/optimize_request.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <span>

namespace berth::models {
namespace {

using Words = std::span<const std::string_view>;

constexpr std::array<std::string_view, 4> kMethodWords = {"fuse", "prune", "int8", "fp16"};
constexpr std::array<std::string_view, 3> kGoalWords = {"latency", "memory", "file"};
constexpr std::array<std::string_view, 2> kKeepWords = {"better", "all"};

template <class Choice>
std::optional<Choice> choice_named(Words words, std::string_view word) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == word) return static_cast<Choice>(i);
  }
  return std::nullopt;
}

template <class Choice>
std::string_view word_of(Words words, Choice choice) {
  return words[static_cast<std::size_t>(choice)];
}

}  // namespace

std::string_view name_of(Method method) { return word_of(kMethodWords, method); }
std::string_view name_of(Goal goal) { return word_of(kGoalWords, goal); }
std::string_view name_of(KeepChoice choice) { return word_of(kKeepWords, choice); }

std::optional<Method> method_named(std::string_view word) { return choice_named<Method>(kMethodWords, word); }
std::optional<Goal> goal_named(std::string_view word) { return choice_named<Goal>(kGoalWords, word); }
std::optional<KeepChoice> keep_choice_named(std::string_view word) {
  return choice_named<KeepChoice>(kKeepWords, word);
}

std::string device_word(const OptimizeTerms& terms) {
  return terms.cuda_index ? fmt::format("cuda:{}", *terms.cuda_index) : "cpu";
}

}  // namespace berth::models
