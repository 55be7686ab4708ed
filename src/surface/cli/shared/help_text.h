/// The help of the program and its verbs, as lines that fit a terminal.
#pragma once

#include <string>
#include <string_view>

namespace berth::cli {

inline constexpr std::size_t kHelpColumns = 80;

/// Breaks sentences of more than 80 columns between words: plain paragraphs at the margin, and descriptions beside
/// options and verbs, which go on in their own column. Other indented lines are examples to be copied, and stay whole,
/// as does a single long word.
[[nodiscard]] std::string wrapped_help(std::string_view help);

}  // namespace berth::cli
