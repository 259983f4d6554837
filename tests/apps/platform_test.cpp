#include "apps/sdm/platform.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "tests/temporary_folder.h"

namespace sdm::app {
namespace {

namespace fs = std::filesystem;

#ifdef SDM_STANDARD_ONLY
constexpr bool knows_the_system = false;
#else
constexpr bool knows_the_system = true;
#endif

TEST(Platform, KnowsThePathOfTheProgramOrSaysThatItDoesNot) {
  EXPECT_EQ(program_path(), knows_the_system ? fs::canonical("/proc/self/exe") : fs::path());
}

TEST(Platform, TellsAFileFromATerminal) {
  std::FILE* file = std::tmpfile();
  ASSERT_TRUE(file);
  EXPECT_FALSE(is_terminal(file));
  std::fclose(file);
}

TEST(Platform, MayWriteIntoAFolderOfItsOwn) {
  const TemporaryFolder folder;
  EXPECT_EQ(error_of_writing_into(folder.path()), 0);
}

TEST(Platform, KnowsWhyAFolderCannotBeWrittenInto) {
  const TemporaryFolder folder;
  EXPECT_EQ(error_of_writing_into(folder / "none"), knows_the_system ? ENOENT : 0);
}

}  // namespace
}  // namespace sdm::app
