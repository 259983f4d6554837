#include "sdm/io/file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "tests/io/expect_error.h"
#include "tests/io/sample.h"
#include "tests/temporary_folder.h"

namespace sdm::io {
namespace {

namespace fs = std::filesystem;

class ModelFile : public testing::Test {
 protected:
  std::size_t files_in_folder() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  TemporaryFolder temporary_;
  fs::path folder_ = temporary_.path();
  fs::path path_ = folder_ / "a.sdm";
};

Model large_model(float value) {
  Model model;
  model.kind = "checkpoint";
  model.put("x", to_tensor(std::vector<float>(200000, value)));
  return model;
}

// Runs `f` in a process of its own, so that limits and rights it gives up are not the test's. True
// if it threw an Error with `part` in its text.
template <class F>
bool throws_in_child(F&& f, const std::string& part) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      f();
    } catch (const Error& error) {
      const bool right = std::string(error.what()).find(part) != std::string::npos;
      if (!right) std::fprintf(stderr, "unexpected: %s\n", error.what());
      ::_exit(right ? 0 : 1);
    } catch (...) {
    }
    ::_exit(2);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Root may write anywhere, so the tests of rights are made as nobody.
void give_up_root() {
  if (::geteuid() == 0 && ::seteuid(65534) != 0) ::_exit(3);
}

TEST_F(ModelFile, GivesBackTheModelByReadingAndByMapping) {
  write(path_, sample_model());
  EXPECT_EQ(read(path_), sample_model());
  EXPECT_EQ(map(path_), sample_model());
  EXPECT_EQ(files_in_folder(), 1u);
}

struct AnyModel {
  Model model;
  static AnyModel from_model(const Model& model) { return {model}; }
};

// As `cp new.sdm live.sdm` does it: pages of the file would be gone.
TEST_F(ModelFile, MayBeChangedInPlaceOnceItIsLoaded) {
  write(path_, large_model(2));
  const auto loaded = load<AnyModel>(path_);
  std::ofstream(path_, std::ios::trunc) << "";
  EXPECT_EQ(loaded.model, large_model(2));
}

// The example of docs/model-file.md.
TEST_F(ModelFile, KeepsAPoseModelAsThePageShows) {
  const Eigen::MatrixXd R0 = Eigen::MatrixXd::Ones(6, 16), R1 = 2 * R0;
  Model model;
  model.kind = "pose";
  model.header = R"({"provenance": "synthetic cube", "licence": "CC0-1.0"})";
  model.put("R0", to_tensor(R0));
  model.put_i8("R1", to_tensor(R1), ScalePer::row);
  write(path_, model);

  const Model again = map(path_);
  again.require_kind("pose");
  EXPECT_EQ(again.matrix<double>("R0", 6, 16), R0);
  EXPECT_TRUE(again.matrix<double>("R1", 6, 16).isApprox(R1, 1e-6));
}

TEST_F(ModelFile, HoldsExactlyTheBytesOfTheModel) {
  write(path_, sample_model());
  std::ifstream file(path_, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto bytes = to_bytes(sample_model());
  EXPECT_EQ(text, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

TEST_F(ModelFile, StaysMappedAsLongAsATensorLives) {
  write(path_, large_model(3));
  Tensor tensor = map(path_).tensor("x");
  fs::remove(path_);
  EXPECT_EQ(tensor.as<float>()[199999], 3);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.bytes().data()) % alignment, 0u);
}

TEST_F(ModelFile, ReplacedWhileMappedKeepsTheOldNumbers) {
  write(path_, large_model(1));
  const Model old = map(path_);
  write(path_, large_model(2));
  EXPECT_EQ(old, large_model(1));
  EXPECT_EQ(read(path_), large_model(2));
}

TEST_F(ModelFile, KeepsTheRightsOfTheFileItReplaces) {
  write(path_, sample_model());
  fs::permissions(path_, fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  write(path_, sample_model());
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms(0640));
}

TEST_F(ModelFile, WrittenThroughALinkKeepsTheLink) {
  write(path_, large_model(1));
  fs::create_symlink(path_.filename(), folder_ / "link");
  write(folder_ / "link", large_model(2));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read(path_), large_model(2));
}

TEST_F(ModelFile, WrittenByABareNameGoesToTheCurrentFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  write("b.sdm", sample_model());
  fs::current_path(before);
  EXPECT_EQ(read(folder_ / "b.sdm"), sample_model());
}

TEST_F(ModelFile, SurvivesAFullDisk) {
  write(path_, large_model(1));
  const auto write_on_full_disk = [&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100000, 100000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    write(path_, large_model(2));
  };
  EXPECT_TRUE(throws_in_child(write_on_full_disk, "a.sdm: cannot write: File too large"));
  EXPECT_EQ(read(path_), large_model(1));
  EXPECT_EQ(files_in_folder(), 1u);
}

TEST_F(ModelFile, IsWholeWheneverTheWriterIsKilled) {
  write(path_, large_model(0));
  for (int round = 0; round < 20; ++round) {
    const pid_t child = ::fork();
    if (child == 0)
      for (float value = 1;; ++value) write(path_, large_model(value));
    ::usleep(static_cast<useconds_t>(1000 + 700 * round));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const Model model = read(path_);
    EXPECT_EQ(model, large_model(model.tensor("x").as<float>()[0]));
  }
}

TEST_F(ModelFile, LeavesTheOldFileWhenTheModelIsBad) {
  write(path_, sample_model());
  Model bad = sample_model();
  bad.header = "{";
  expect_error([&] { write(path_, bad); }, "a.sdm: the JSON header is broken");
  EXPECT_EQ(read(path_), sample_model());
  EXPECT_EQ(files_in_folder(), 1u);
}

TEST_F(ModelFile, TellsAFolderWithoutWriteRights) {
  ::chmod(folder_.c_str(), 0555);
  EXPECT_TRUE(throws_in_child(
      [&] {
        give_up_root();
        write(path_, sample_model());
      },
      "a.sdm: cannot create a file in the folder " + folder_.string() + ": Permission denied"));
  ::chmod(folder_.c_str(), 0755);
}

TEST_F(ModelFile, TellsAFileWithoutReadRights) {
  write(path_, sample_model());
  ::chmod(path_.c_str(), 0);
  ::chmod(folder_.c_str(), 0755);
  EXPECT_TRUE(throws_in_child(
      [&] {
        give_up_root();
        read(path_);
      },
      "a.sdm: cannot open: Permission denied"));
}

TEST_F(ModelFile, TellsAMissingFileOrFolder) {
  expect_error([&] { read(path_); }, "a.sdm: cannot open: No such file or directory");
  expect_error([&] { map(path_); }, "a.sdm: cannot open: No such file or directory");
  expect_error(
      [&] { write(folder_ / "no" / "a.sdm", sample_model()); },
      "cannot create a file in the folder " + (folder_ / "no").string() + ": No such file");
}

TEST_F(ModelFile, TellsAFolderOrDeviceInItsPlace) {
  expect_error([&] { read(folder_); }, "is a folder, expected a model file");
  expect_error([&] { map(folder_); }, "is a folder, expected a model file");
  expect_error([&] { write(folder_, sample_model()); }, "is a folder, expected a file name");
  expect_error([&] { read("/dev/null"); }, "/dev/null: is not a regular file");
  expect_error([&] { write("/dev/null", sample_model()); }, "/dev/null: is not a regular file");
}

TEST_F(ModelFile, BeginsEveryErrorWithItsPath) {
  std::ofstream(path_) << "PK\x03\x04";
  expect_error([&] { read(path_); }, path_.string() + ": not a model but a zip archive");
  expect_error([&] { map(path_); }, path_.string() + ": not a model but a zip archive");
  std::ofstream(path_, std::ios::trunc).flush();
  expect_error([&] { map(path_); }, path_.string() + ": the file is empty");
}

TEST_F(ModelFile, OfAbsurdSizeIsRefusedFromItsStart) {
  write(path_, sample_model());
  fs::resize_file(path_, std::uintmax_t{1} << 40);  // sparse: a terabyte that takes no room
  expect_error([&] { read(path_); }, "bytes follow the end of the model");
}

}  // namespace
}  // namespace sdm::io
