#include "base/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace sdm {
namespace {

TEST(JsonWriter, WritesWhatATreeOfItWouldBeDumpedAs) {
  const std::vector<int> sizes{1, 2};
  nlohmann::ordered_json tree{{"name", "a \"b\"\n\x01 é"},
                              {"empty", nlohmann::ordered_json::array()},
                              {"third", 1 / 3.0F},
                              {"most", std::numeric_limits<std::uint64_t>::max()},
                              {"not", std::nan("")},
                              {"none", nullptr},
                              {"words", {"x", "y"}},
                              {"inner", {{"yes", true}, {"deep", {{"size", -1}}}}},
                              {"void", nlohmann::ordered_json::object()},
                              {"list", {{{"size", 1}}, {{"size", 2}}}}};
  for (const int indent : {-1, 0, 1, 4}) {
    JsonWriter<nlohmann::json> writer(indent);
    writer.put("name", "a \"b\"\n\x01 é").put("empty", std::vector<int>()).put("third", 1 / 3.0F);
    writer.put("most", std::numeric_limits<std::uint64_t>::max()).put("not", std::nan(""));
    writer.put("none", nullptr).put("words", std::vector<std::string>{"x", "y"});
    writer.object("inner", [](auto& inner) {
      inner.put("yes", true).object("deep", [](auto& deep) { deep.put("size", -1); });
    });
    writer.object("void", [](auto&) {});
    writer.objects("list", sizes, [](auto& json, int size) { json.put("size", size); });
    EXPECT_EQ(writer.text(), tree.dump(indent));
  }
  EXPECT_EQ(JsonWriter<nlohmann::json>(1).text(), "{}");
}

TEST(JsonWriter, ReplacesWhatIsNoUtf8) {
  JsonWriter<nlohmann::json> writer;
  EXPECT_EQ(writer.put("name", "m\xff").text(), "{\"name\":\"m\xef\xbf\xbd\"}");
}

}  // namespace
}  // namespace sdm
