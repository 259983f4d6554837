#include "experiments/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "sdm/base/error.h"
#include "tests/temporary_folder.h"

namespace sdm::experiments {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

std::string read(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class Report : public testing::Test {
 protected:
  ExperimentContext context() const {
    ExperimentContext context;
    context.output = folder;
    return context;
  }
  // Under a name that the page knows.
  static Experiment experiment(Results (*run)(const ExperimentContext&)) {
    return {"analytic", "scalar functions: a test", run};
  }

  static std::vector<Section> sections() {
    return {all_experiments().begin(), all_experiments().end()};
  }

  TemporaryFolder temporary;
  const fs::path folder = temporary.path();
};

Results one_of_each(const ExperimentContext& context) {
  Results results("analytic");
  write_text(context.output / "analytic" / "dot.png", "Man");
  LineChart chart;
  chart.title = "a </script> b";
  chart.series = {{"ours", {0, 1}, {1, 2}}};
  results.exhibits = {{"chart", "A chart", "what <it> says", "what we see", Figure{{chart}, 1}},
                      {"table", "A table", "", "", Table{{{"a & b", "c"}, {"x", "1.5"}}}},
                      {"pictures", "Pictures", "", "", Gallery{{{"dot.png", "a dot"}}}}};
  results.claims = {{"it works", "yes", "1 < 2", "no"}};
  results.add("case", "ours", "error", 0.5);
  return results;
}

TEST_F(Report, ShowsFiguresTablesPicturesAndClaimsAsSafeText) {
  run_and_write(experiment(one_of_each), context());
  write_page(sections(), folder);
  const std::string page = read(folder / "index.html");
  EXPECT_THAT(page, HasSubstr("what &lt;it&gt; says"));
  EXPECT_THAT(page, HasSubstr("<th>a &amp; b</th>"));
  EXPECT_THAT(page, HasSubstr("1 &lt; 2"));
  EXPECT_THAT(page, HasSubstr("src=\"data:image/png;base64,TWFu\""));  // RFC 4648: "Man" is TWFu
  EXPECT_THAT(page, HasSubstr("a \\u003c/script> b"));
  EXPECT_THAT(page, Not(HasSubstr("a </script>")));
  EXPECT_TRUE(fs::exists(folder / "analytic" / "chart.svg"));
}

TEST_F(Report, CarriesEveryNumberOfEveryPart) {
  run_and_write(experiment(one_of_each), context());
  write_page(sections(), folder);
  const auto all = nlohmann::json::parse(read(folder / "results.json"));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].at("rows").at(0).at("value"), 0.5);
  EXPECT_EQ(all[0].at("run").at("status"), "done");
  EXPECT_THAT(all[0].at("run").at("command").get<std::string>(),
              HasSubstr("sdm reproduce analytic"));
  EXPECT_EQ(read(folder / "results.csv"),
            "experiment,case,method,metric,value,unit\nanalytic,case,ours,error,0.5,\n");
}

TEST_F(Report, TellsWhyAPartIsMissingAndIsWrittenAllTheSame) {
  const auto results = run_and_write(
      experiment([](const ExperimentContext&) -> Results { throw NoData("nothing in the bag"); }),
      context());
  EXPECT_EQ(results.run.at("status"), "no data");
  write_page(sections(), folder);
  EXPECT_THAT(read(folder / "index.html"), HasSubstr("nothing in the bag"));

  const auto failed = run_and_write(
      experiment([](const ExperimentContext&) -> Results { throw Error("it fell over"); }),
      context());
  EXPECT_EQ(failed.run.at("status"), "failed");
  write_page(sections(), folder);
  EXPECT_THAT(read(folder / "index.html"), HasSubstr("it fell over"));
  EXPECT_THAT(read(folder / "index.html"), Not(HasSubstr("nothing in the bag")));
}

TEST_F(Report, RoundsSecondsIntoTheNextMinute) {
  Results results = one_of_each(context());
  results.run["seconds"] = 119.7;
  write_section(experiment(one_of_each), results, folder);
  EXPECT_THAT(read(folder / "analytic" / "section.html"), HasSubstr("took 2 min 0 s"));
}

TEST_F(Report, NamesTheFileOfAPartItCannotRead) {
  run_and_write(experiment(one_of_each), context());
  write_text(folder / "analytic" / "results.json", "{");
  try {
    write_page(sections(), folder);
    FAIL() << "read it";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("results.json"));
  }
}

TEST(Registry, NamesTheExperimentsThereAre) {
  EXPECT_EQ(find_experiment("nist").name, "nist");
  try {
    find_experiment("nest");
    FAIL() << "found it";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("nest"));
    EXPECT_THAT(error.what(), HasSubstr("analytic"));
  }
}

TEST(Registry, SaysWhichOptionNamesTheDataWhenItIsMissing) {
  ExperimentContext context;
  context.data = "/no/such/folder";
  EXPECT_THROW(find_data(context, "nls"), Error);
  context.data.clear();
  try {
    find_data(context, "no-such-data");
    FAIL() << "found it";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no-such-data"));
    EXPECT_THAT(error.what(), HasSubstr("--data"));
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("..")));  // no folder of the user's is guessed
  }
}

TEST(WriteText, NeedsNoFolderInTheName) {
  const std::filesystem::path name = "sdm_write_text_test.txt";
  write_text(name, "text");
  EXPECT_EQ(std::filesystem::file_size(name), 4U);
  std::filesystem::remove(name);
}

}  // namespace
}  // namespace sdm::experiments
