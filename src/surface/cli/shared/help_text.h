/// The help of the program and its verbs, as lines that fit a terminal.
#pragma once

#include <string>
#include <string_view>

namespace berth::cli {

inline constexpr std::size_t kHelpColumns = 80;

/// Wraps lines of more than 80 columns between words: plain paragraphs at the margin, and descriptions of options and
/// verbs, which continue in their own column. Other indented lines are examples to copy and are never broken, nor is a
/// single long word.
[[nodiscard]] std::string wrapped_help(std::string_view help);

}  // namespace berth::cli
