#include "experiments/tracking/sequences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sdm/base/error.h"

namespace sdm::experiments {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::filesystem::path write_truth(const std::vector<std::string>& files) {
  const auto path =
      std::filesystem::path(testing::TempDir()) /
      (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".csv");
  std::ofstream out(path);
  for (const std::string& file : files) {
    out << file;
    for (int i = 0; i < 136; ++i) out << ',' << i;
    out << '\n';
  }
  return path;
}

TEST(FaceSequences, OfAVideoAreTheFoldersOfItsFrames) {
  ExperimentContext context;
  context.data = write_truth({"anna/1.png", "anna/2.png", "ben/1.png", "ben/2.png", "ben/3.png"});
  const FaceSequences sequences = load_face_sequences(context);
  EXPECT_EQ(sequences.kind, "video");
  ASSERT_EQ(sequences.all.size(), 2U);
  EXPECT_EQ(sequences.all[0].name, "anna");
  EXPECT_EQ(sequences.all[1].name, "ben");
  EXPECT_EQ(sequences.all[1].frames, 3);
  EXPECT_THAT([&] { sequences.all[0].frame(0); }, ThrowsMessage<Error>(HasSubstr("anna/1.png")));
}

TEST(FaceSequences, NeedTwoFramesEach) {
  ExperimentContext context;
  context.data = write_truth({"anna/1.png", "anna/2.png", "ben/1.png"});
  EXPECT_THAT([&] { load_face_sequences(context); },
              ThrowsMessage<Error>(HasSubstr("ben has one frame")));
}

}  // namespace
}  // namespace sdm::experiments
