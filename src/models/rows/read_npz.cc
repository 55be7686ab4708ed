#include "models/rows/read_npz.h"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/core/text.h"

namespace berth::models {
namespace {

constexpr std::string_view kSuffix = ".npy";
constexpr std::int64_t kArrayCountMax = 4096;
constexpr std::size_t kBlockBytes = std::size_t{1} << 20U;
/// A byte of a packed file becomes at most 1032 (RFC 1951: a code of two bits for 258 bytes); the rest for its tables.
constexpr std::uint64_t kUnpackedPerByteMax = 1100;

/// Frees what the library has made.
struct Release {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Archive = std::unique_ptr<zip_t, Release>;
using ArchiveFile = std::unique_ptr<zip_file_t, Release>;

struct Entry {
  zip_uint64_t index = 0;
  std::string name = {};  ///< without the suffix
  std::uint64_t unpacked = 0;
};

Result<Archive> open_archive(std::string_view bytes) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  Archive archive(source == nullptr ? nullptr : zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error));
  if (archive == nullptr && source != nullptr) zip_source_free(source);
  const std::string why = archive == nullptr ? zip_error_strerror(&error) : "";
  zip_error_fini(&error);
  if (archive == nullptr) return invalid(fmt::format("wanted an archive of NumPy (.npz), found none: {}", why));
  return archive;
}

Result<Entry> entry_at(zip_t* archive, zip_uint64_t index) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  constexpr zip_uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  if (zip_stat_index(archive, index, 0, &stat) != 0 || (stat.valid & kNeeded) != kNeeded) {
    return invalid(fmt::format("wanted an array, found a damaged entry {}", index));
  }
  const std::string_view name = stat.name;
  if (!name.ends_with(kSuffix)) return invalid(fmt::format("wanted arrays (.npy) only, found {}", in_quotes(name)));
  const std::string array(name.substr(0, name.size() - kSuffix.size()));
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) {
    return invalid(fmt::format("{}: wanted it stored or deflated, found method {}", in_quotes(array),
                               static_cast<int>(stat.comp_method)));
  }
  if (stat.size > kArrayBytesMax || stat.comp_size > stat.size + kBlockBytes ||
      stat.size / kUnpackedPerByteMax > stat.comp_size) {
    return invalid(fmt::format("{}: wanted at most {} bytes that come from its {} bytes, found {} declared",
                               in_quotes(array), kArrayBytesMax, stat.comp_size, stat.size));
  }
  return Entry{.index = index, .name = array, .unpacked = stat.size};
}

/// All entries, when all of them can be read within the limits.
Result<std::vector<Entry>> list_entries(zip_t* archive) {
  const zip_int64_t count = zip_get_num_entries(archive, 0);
  if (count < 1) return invalid("wanted arrays, found none");
  if (count > kArrayCountMax) return invalid(fmt::format("wanted at most {} arrays, found {}", kArrayCountMax, count));
  std::vector<Entry> entries;
  std::set<std::string> names;
  std::uint64_t unpacked = 0;
  for (zip_int64_t i = 0; i < count; ++i) {
    auto entry = entry_at(archive, static_cast<zip_uint64_t>(i));
    if (!entry) return pass_on(entry.error());
    unpacked += entry->unpacked;
    if (unpacked > kArrayBytesMax) {
      return invalid(fmt::format("wanted at most {} bytes of arrays, found more", kArrayBytesMax));
    }
    if (!names.insert(entry->name).second) {
      return invalid(fmt::format("{}: wanted one array of that name, found two", in_quotes(entry->name)));
    }
    entries.push_back(std::move(*entry));
  }
  return entries;
}

/// Its unpacked bytes: as many as were declared, with the right checksum. Memory grows with what is really there.
Result<std::string> unpack(zip_t* archive, const Entry& entry) {
  const ArchiveFile file(zip_fopen_index(archive, entry.index, 0));
  if (file == nullptr) return invalid(zip_error_strerror(zip_get_error(archive)));
  std::string bytes;
  while (bytes.size() <= entry.unpacked) {
    const std::size_t before = bytes.size();
    bytes.resize(before + std::min<std::size_t>(kBlockBytes, entry.unpacked - before + 1));
    const zip_int64_t count = zip_fread(file.get(), bytes.data() + before, bytes.size() - before);
    if (count < 0) return invalid(zip_error_strerror(zip_file_get_error(file.get())));
    bytes.resize(before + static_cast<std::size_t>(count));
    if (count == 0) break;
  }
  if (bytes.size() != entry.unpacked) {
    return invalid(fmt::format("wanted {} bytes, as declared, found {}", entry.unpacked, bytes.size()));
  }
  return bytes;
}

Result<std::vector<Tensor>> read_arrays(std::string_view bytes) {
  const auto archive = open_archive(bytes);
  if (!archive) return pass_on(archive.error());
  const auto entries = list_entries(archive->get());
  if (!entries) return pass_on(entries.error());
  std::vector<Tensor> arrays;
  for (const Entry& entry : *entries) {
    const auto unpacked = unpack(archive->get(), entry);
    auto array = unpacked ? read_npy(*unpacked, entry.name) : pass_on(unpacked.error());
    if (!array) return invalid(fmt::format("{}: {}", in_quotes(entry.name), array.error().message));
    arrays.push_back(std::move(*array));
  }
  return arrays;
}

}  // namespace

Result<std::vector<Tensor>> read_npz(std::string_view bytes, std::string_view name) {
  auto arrays = read_arrays(bytes);
  if (!arrays) return invalid(fmt::format("{}: {}", name, arrays.error().message));
  return arrays;
}

}  // namespace berth::models
