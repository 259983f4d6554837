#include "apps/sdm/platform.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <string>

#include "sdm/base/error.h"
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

TEST(Platform, AddsToAFileThatIsThere) {
  const TemporaryFolder folder;
  AppendedFile file;
  file.open(folder / "lines");
  file.append("one\n");
  file.close();
  file.append("two\n");  // opens it again
  file.open(folder / "lines");
  file.append("three\n");
  std::ifstream text(folder / "lines");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(text), {}), "one\ntwo\nthree\n");
}

TEST(Platform, TellsThatADiskIsFull) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  AppendedFile file;
  file.open("/dev/full");
  EXPECT_THROW(file.append("a line\n"), Error);
  EXPECT_THROW(file.append("a line\n"), Error);
}

}  // namespace
}  // namespace sdm::app
