
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/formatted.h"
#include "base/json.h"
#include "sdm/base/error.h"
#include "sdm/io/model.h"

namespace sdm::io {
namespace {

using json = nlohmann::ordered_json;

// Without the control characters (ASCII, and U+0080 to U+009F) that could drive a terminal.
std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool c1 =
        c == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (c1) ++i;
    out += c1 || c < 0x20 || c == 0x7F ? '?' : text[i];
  }
  return out;
}

std::string in_units(std::uint64_t bytes) {
  if (bytes < 1000) return formatted("{} bytes", bytes);
  if (bytes < 1000000) return formatted("{:.1f} kB", static_cast<double>(bytes) * 1e-3);
  return formatted("{:.1f} MB", static_cast<double>(bytes) * 1e-6);
}

std::string in_words(const json& value) {
  if (value.is_string()) return printable(value.get_ref<const std::string&>());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_null()) return "none";
  if (value.is_object()) return formatted("({} fields)", value.size());
  if (!value.is_array()) return value.dump();
  constexpr std::size_t shown = 6;
  std::string out;
  for (std::size_t i = 0; i < std::min(shown, value.size()); ++i) {
    if (i > 0) out += ", ";
    out += value[i].is_array() ? formatted("({} values)", value[i].size()) : in_words(value[i]);
  }
  if (value.size() > shown) out += formatted(", ... ({} in all)", value.size());
  return value.empty() ? "none" : out;
}

void list_fields(std::string& out, const json& object, std::size_t indent) {
  for (const auto& [key, value] : object.items()) {
    out += formatted("{:{}}{}:", "", indent, printable(key));
    if (value.is_object() && !value.empty()) {
      out += '\n';
      list_fields(out, value, indent + 2);
    } else {
      out += formatted(" {}\n", in_words(value));
    }
  }
}

std::string shape_in_words(const Shape& shape) {
  return shape.empty() ? "one number" : joined(shape, " x ");
}

}  // namespace

std::string describe(const Model& model) {
  json header = json::parse(model.header, nullptr, false);
  const Dismantling<json> after(header);
  if (!header.is_object()) throw Error("the model's header is not a JSON object");
  std::uint64_t bytes = 0;
  std::size_t widest = 0;
  for (const auto& [name, tensor] : model.tensors) {
    bytes += tensor.bytes().size();
    widest = std::max(widest, name.size());
  }
  std::string out =
      formatted("A {} model: {} tensor{}, {}.\n", printable(model.kind), model.tensors.size(),
                model.tensors.size() == 1 ? "" : "s", in_units(bytes));
  list_fields(out, header, 2);
  for (const char* field : {"provenance", "licence"})
    if (!header.contains(field)) out += formatted("  {}: not stated\n", field);
  if (!model.tensors.empty()) out += "Tensors:\n";
  for (const auto& [name, tensor] : model.tensors)
    out += formatted("  {:<{}}  {:<3}  {}, {}\n", printable(name), widest, name_of(tensor.type()),
                     shape_in_words(tensor.shape()), in_units(tensor.bytes().size()));
  return out;
}

std::string describe_json(const Model& model) {
  nlohmann::ordered_json out;
  out["kind"] = model.kind;
  out["header"] = nlohmann::ordered_json::parse(model.header);
  out["tensors"] = nlohmann::ordered_json::array();
  for (const auto& [name, tensor] : model.tensors)
    out["tensors"].push_back({{"name", name},
                              {"type", name_of(tensor.type())},
                              {"shape", tensor.shape()},
                              {"bytes", tensor.bytes().size()}});
  return out.dump(2);
}

}  // namespace sdm::io
