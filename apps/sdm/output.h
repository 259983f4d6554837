#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace sdm::app {

/// The files of a command, checked before its work: better told then than after it, and nothing
/// that is read is ever written over.
///
///   Outputs outputs;
///   outputs.reads(truth).writes(model, Outputs::Kind::whole).writes(plot);
///
/// An empty path is none. Files are compared as the system knows them, so links do not hide one.
/// The writing itself is io::OutputFile's: a temporary file, then a rename.
class Outputs {
 public:
  /// `stream` may be a pipe or a device such as /dev/stdout; `whole` is replaced as one and cannot.
  enum class Kind { stream, whole };

  /// Throws Error where the file is an output already.
  Outputs& reads(const std::filesystem::path& file);
  Outputs& reads(const std::vector<std::filesystem::path>& files);
  /// A word that may be the name of a file, as that of a detector may.
  Outputs& may_read(const std::string& name);

  /// Makes the folder of the file. Throws Error: it is an input or another output; a folder or, if
  /// `whole`, something else that is no file; its name is not UTF-8; its folder cannot be written
  /// into or its disk is full.
  Outputs& writes(const std::filesystem::path& file, Kind kind = Kind::stream);

 private:
  void check(const std::filesystem::path& file, Kind kind);

  std::map<std::string, bool> files_;         // by identity; whether it is written
  std::set<std::filesystem::path> writable_;  // folders
};

}  // namespace sdm::app
