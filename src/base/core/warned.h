/// A value that was read from files, and warnings about what is accepted there and probably not meant.
#pragma once

#include <string>
#include <vector>

namespace berth {

template <class T>
struct Warned {
  T value;
  std::vector<std::string> warnings;  ///< a line each, in the order of the files; each text once
};

}  // namespace berth
