#include "edges/model_server/detail/file_sum.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include "edges/files/disk_tree.h"
#include "live/chain/field_hash.h"

namespace berth::edges::detail {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20U;

}  // namespace

std::optional<std::string> sha256_of(const ModelFile& file) {
  const DiskTree tree;
  const auto open = tree.open(file.path);
  if (!open || (*open)->stamp() != file.stamp) return std::nullopt;
  chain::BytesHash hash;
  std::vector<char> piece(kPieceBytes);
  for (std::uint64_t offset = 0; offset < file.stamp.bytes;) {
    const auto count = (*open)->read(offset, piece);
    if (!count || *count == 0) return std::nullopt;
    hash.add(std::string_view(piece.data(), *count));
    offset += *count;
  }
  const auto after = tree.open(file.path);
  if (!after || (*after)->stamp() != file.stamp) return std::nullopt;  // it was written meanwhile
  return chain::hex_of(hash.finish());
}

}  // namespace berth::edges::detail
