#include "sdm/io/bytes.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/formatted.h"
#include "base/json.h"
#include "io/crc32c.h"
#include "io/format.h"
#include "sdm/base/error.h"

namespace sdm::io {
namespace {

template <class T>
T load(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span<const T, 1>(&value, 1));
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

[[noreturn]] void damaged(std::string_view what) {
  throw Error(formatted("the file is damaged: {}", what));
}

// Files that people hand over by mistake, told by how they begin.
struct Foreign {
  std::string_view start;
  std::string_view what;
};
constexpr Foreign foreign[] = {
    {"version https://git-lfs", "a Git-LFS pointer: fetch the real file with 'git lfs pull'"},
    {"PK\x03\x04", "a zip archive: unpack it first"},
    {"PK\x05\x06", "an empty zip archive"},
    {"\x1f\x8b", "a gzip file: unpack it first"},
    {"BZh", "a bzip2 file: unpack it first"},
    {"\xFD"
     "7zXZ",
     "an xz file: unpack it first"},
    {"\x28\xB5\x2F\xFD", "a zstd file: unpack it first"},
    {"<!DOCTYPE", "an HTML page: the download gave a web page instead of the file"},
    {"<!doctype", "an HTML page: the download gave a web page instead of the file"},
    {"<html", "an HTML page: the download gave a web page instead of the file"},
};

bool only_zeros(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

void check_kind(std::string_view kind) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyz0123456789-_";
  if (kind.empty() || kind.size() > sizeof(Prelude::kind) ||
      kind.find_first_not_of(allowed) != kind.npos)
    throw Error(
        formatted("the model's kind has {} characters, expected 1 to {} of a-z, 0-9, - and _",
                  kind.size(), sizeof(Prelude::kind)));
}

void check_name(std::string_view name, std::size_t index) {
  constexpr std::string_view allowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/";
  if (name.empty() || name.size() > max_name)
    throw Error(formatted("the name of tensor {} has {} characters, expected 1 to {}", index,
                          name.size(), max_name));
  if (const auto at = name.find_first_not_of(allowed); at != name.npos)
    throw Error(
        formatted("the name of tensor {} holds byte 0x{:02x}, expected letters, digits, . _ - /",
                  index, static_cast<unsigned char>(name[at])));
}

void check_header(std::string_view header) {
  using nlohmann::json;
  // Code that walks the parsed header may recurse, so depth is bounded here once for all of it.
  const auto shallow = [](int depth, json::parse_event_t, json&) {
    if (depth > static_cast<int>(max_header_depth))
      throw Error(formatted("the JSON header nests deeper than {} levels", max_header_depth));
    return true;
  };
  try {
    json parsed = json::parse(header, shallow);
    const Dismantling<json> after(parsed);
    if (!parsed.is_object()) throw Error("the JSON header is not an object: expected {...}");
  } catch (const json::parse_error& error) {
    throw Error(formatted("the JSON header is broken at byte {} of {}", error.byte, header.size()));
  } catch (const json::out_of_range&) {
    throw Error("the JSON header holds a number that does not fit a double");
  }
}

// One entry of the table; `rest` loses what was read.
struct NamedEntry {
  Entry entry;
  Shape shape;
  std::string name;
};

NamedEntry read_entry(std::span<const std::byte>& rest, std::size_t index) {
  const auto take = [&](std::size_t n) {
    if (rest.size() < n) damaged(formatted("the tensor table ends inside entry {}", index));
    const auto taken = rest.first(n);
    rest = rest.subspan(n);
    return taken;
  };
  NamedEntry result;
  result.entry = load<Entry>(take(sizeof(Entry)));
  if (result.entry.rank > max_rank)
    throw Error(formatted("tensor {} has rank {}, at most {} is allowed", index, result.entry.rank,
                          max_rank));
  for (std::size_t i = 0; i < result.entry.rank; ++i) {
    const auto n = load<std::uint64_t>(take(sizeof(std::uint64_t)));
    if (n > std::numeric_limits<std::size_t>::max())
      throw Error(formatted("tensor {} has a size of {}, too large for this machine", index, n));
    result.shape.push_back(static_cast<std::size_t>(n));
  }
  result.name = text_of(take(result.entry.name_bytes));
  check_name(result.name, index);
  return result;
}

Tensor read_tensor(const NamedEntry& named, std::span<const std::byte> file, std::uint64_t offset,
                   const std::shared_ptr<const void>& owner) {
  const auto& [entry, shape, name] = named;
  const auto type = static_cast<ElementType>(entry.type);
  if (size_of(type) == 0)
    throw Error(formatted("tensor '{}' has element type {}, which this program does not know", name,
                          entry.type));
  std::uint64_t bytes;
  try {
    bytes = bytes_needed(type, shape);
  } catch (const Error& error) {
    throw Error(formatted("tensor '{}': {}", name, error.what()));
  }
  if (entry.offset != offset)
    damaged(formatted("tensor '{}' starts at byte {}, expected {}", name, entry.offset, offset));
  if (bytes > file.size() - offset)
    damaged(formatted("tensor '{}' needs {} bytes from byte {}, the file has {}", name, bytes,
                      offset, file.size()));
  const auto data = file.subspan(offset, bytes);
  if (crc32c(data) != entry.checksum)
    damaged(formatted("the checksum of tensor '{}' does not match", name));
  if (!only_zeros(file.subspan(offset + bytes, aligned(bytes) - bytes)))
    damaged(formatted("the padding after tensor '{}' is not zero", name));
  return {type, shape, data, owner};
}

}  // namespace

Prelude read_prelude(std::span<const std::byte> start, std::uint64_t file_bytes,
                     const Limits& limits) {
  if (file_bytes == 0) throw Error("the file is empty, expected a model");
  const std::string_view text = text_of(start);
  for (const auto& [signature, what] : foreign)
    if (text.starts_with(signature)) throw Error(formatted("not a model but {}", what));
  const std::string_view begun = text.substr(0, magic.size());
  if (!magic.starts_with(begun)) {
    if (begun.starts_with(magic.substr(0, 4)))
      damaged("line ends were changed in transfer; transfer it as binary");
    throw Error("not a model file: it does not begin with the bytes 89 'SDM'");
  }
  if (start.size() >= 12) {
    // Before any checksum: a newer version may lay out everything after this number in another way.
    const auto version = load<std::uint32_t>(start.subspan(8));
    if (version > format_version)
      throw Error(
          formatted("format version {}, but this program reads up to {}: a newer program is "
                    "needed",
                    version, format_version));
    if (version == 0) damaged("format version 0");
  }
  if (start.size() < sizeof(Prelude))
    throw Error(formatted("cut at byte {}, expected at least {}", file_bytes, sizeof(Prelude)));
  const auto prelude = load<Prelude>(start);
  if (crc32c(start.first(sizeof(Prelude) - sizeof(prelude.checksum))) != prelude.checksum)
    damaged("the checksum of its first 64 bytes does not match");
  if (file_bytes < prelude.file_bytes)
    throw Error(formatted("cut at byte {}, expected {}", file_bytes, prelude.file_bytes));
  if (file_bytes > prelude.file_bytes)
    throw Error(formatted("{} bytes follow the end of the model at byte {}",
                          file_bytes - prelude.file_bytes, prelude.file_bytes));
  if (file_bytes % alignment != 0)
    damaged(formatted("its size of {} bytes is not a multiple of {}", file_bytes, alignment));
  if (file_bytes > limits.file_bytes)
    throw Error(formatted("the file has {} bytes, the limit is {}", file_bytes, limits.file_bytes));
  if (prelude.header_bytes > limits.header_bytes)
    throw Error(formatted("the header has {} bytes, the limit is {}", prelude.header_bytes,
                          limits.header_bytes));
  if (prelude.tensors > limits.tensors)
    throw Error(
        formatted("the file has {} tensors, the limit is {}", prelude.tensors, limits.tensors));
  // Each alone first, so that the sum cannot overflow.
  const auto head = [&] {
    return sizeof(Prelude) + aligned(prelude.header_bytes) + aligned(prelude.table_bytes);
  };
  if (prelude.header_bytes > file_bytes || prelude.table_bytes > file_bytes || head() > file_bytes)
    damaged(formatted("header and tensor table claim {} and {} bytes, the file has {}",
                      prelude.header_bytes, prelude.table_bytes, file_bytes));
  return prelude;
}

Model parse(std::span<const std::byte> file, const Limits& limits,
            const std::shared_ptr<const void>& owner) {
  const Prelude prelude =
      read_prelude(file.first(std::min(file.size(), sizeof(Prelude))), file.size(), limits);
  const std::uint64_t table_at = sizeof(Prelude) + aligned(prelude.header_bytes);
  std::uint64_t offset = table_at + aligned(prelude.table_bytes);
  if (crc32c(file.subspan(sizeof(Prelude), offset - sizeof(Prelude))) != prelude.head_checksum)
    damaged("the checksum of the header and tensor table does not match");

  Model model;
  const std::string_view kind(prelude.kind.data(), prelude.kind.size());
  model.kind = kind.substr(0, kind.find('\0'));
  check_kind(model.kind);
  if (kind.find_first_not_of('\0', model.kind.size()) != kind.npos)
    damaged("the kind is not padded with zeros");
  model.header = text_of(file.subspan(sizeof(Prelude), prelude.header_bytes));
  check_header(model.header);

  auto table = file.subspan(table_at, prelude.table_bytes);
  if (!only_zeros(file.subspan(sizeof(Prelude) + prelude.header_bytes,
                               aligned(prelude.header_bytes) - prelude.header_bytes)) ||
      !only_zeros(file.subspan(table_at + table.size(), aligned(table.size()) - table.size())))
    damaged("the padding after the header or the tensor table is not zero");
  for (std::size_t i = 0; i < prelude.tensors; ++i) {
    NamedEntry named = read_entry(table, i);
    if (!model.tensors.empty()) {
      const std::string& last = model.tensors.rbegin()->first;
      if (named.name == last) damaged(formatted("tensor '{}' appears twice", named.name));
      if (named.name < last)
        damaged(formatted("tensor '{}' comes after '{}': names must ascend", named.name, last));
    }
    Tensor tensor = read_tensor(named, file, offset, owner);
    offset += aligned(tensor.bytes().size());
    model.tensors.emplace_hint(model.tensors.end(), std::move(named.name), std::move(tensor));
  }
  if (!table.empty()) damaged(formatted("{} bytes follow the last table entry", table.size()));
  if (offset != file.size())
    damaged(formatted("{} bytes follow the last tensor", file.size() - offset));
  return model;
}

Model read(std::span<const std::byte> file, const Limits& limits) {
  Model model = parse(file, limits, nullptr);
  for (auto& [name, tensor] : model.tensors) tensor = tensor.clone();
  return model;
}

Model view(std::span<const std::byte> file, const Limits& limits) {
  if (reinterpret_cast<std::uintptr_t>(file.data()) % alignment != 0)
    throw Error(
        formatted("the bytes to view start at an address that is not a multiple of {}; "
                  "read() copies them instead",
                  alignment));
  return parse(file, limits, nullptr);
}

void serialize(const Model& model, const std::function<void(std::span<const std::byte>)>& sink) {
  const auto append = [](std::string& to, std::span<const std::byte> bytes) {
    to += text_of(bytes);
  };
  const auto pad = [](std::string& text) { text.resize(aligned(text.size())); };
  check_kind(model.kind);
  check_header(model.header);
  const Limits limits;
  if (model.header.size() > limits.header_bytes || model.tensors.size() > limits.tensors)
    throw Error(
        formatted("a header of {} bytes and {} tensors: at most {} and {} can be read again",
                  model.header.size(), model.tensors.size(), limits.header_bytes, limits.tensors));
  std::size_t table_bytes = 0;
  for (const auto& [name, tensor] : model.tensors) {
    check_name(name, 0);
    if (tensor.shape().size() > max_rank)
      throw Error(formatted("tensor '{}' has rank {}, at most {} is allowed", name,
                            tensor.shape().size(), max_rank));
    table_bytes += sizeof(Entry) + tensor.shape().size() * sizeof(std::uint64_t) + name.size();
  }

  std::string head = model.header;
  pad(head);
  std::uint64_t offset = sizeof(Prelude) + head.size() + aligned(table_bytes);
  for (const auto& [name, tensor] : model.tensors) {
    append(head, bytes_of(Entry{.checksum = crc32c(tensor.bytes()),
                                .type = static_cast<std::uint8_t>(tensor.type()),
                                .rank = static_cast<std::uint8_t>(tensor.shape().size()),
                                .name_bytes = static_cast<std::uint16_t>(name.size()),
                                .offset = offset}));
    for (const std::uint64_t n : tensor.shape()) append(head, bytes_of(n));
    head += name;
    offset += aligned(tensor.bytes().size());
  }
  pad(head);

  Prelude prelude{.magic = {},
                  .version = format_version,
                  .tensors = static_cast<std::uint32_t>(model.tensors.size()),
                  .file_bytes = offset,
                  .header_bytes = model.header.size(),
                  .table_bytes = table_bytes,
                  .kind = {},
                  .head_checksum = crc32c(bytes_of(head)),
                  .checksum = 0};
  std::copy(magic.begin(), magic.end(), prelude.magic.begin());
  std::copy(model.kind.begin(), model.kind.end(), prelude.kind.begin());
  prelude.checksum = crc32c(bytes_of(prelude).first(sizeof(Prelude) - sizeof(prelude.checksum)));

  sink(bytes_of(prelude));
  sink(bytes_of(head));
  constexpr std::array<std::byte, alignment> zeros{};
  for (const auto& [name, tensor] : model.tensors) {
    sink(tensor.bytes());
    sink(std::span(zeros).first(aligned(tensor.bytes().size()) - tensor.bytes().size()));
  }
}

std::vector<std::byte> to_bytes(const Model& model) {
  std::vector<std::byte> file;
  serialize(model, [&](auto piece) { file.insert(file.end(), piece.begin(), piece.end()); });
  return file;
}

}  // namespace sdm::io
