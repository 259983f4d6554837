#pragma once

#include <filesystem>

#include "sdm/io/bytes.h"

namespace sdm::io {

/// Reads a model file into memory. Errors begin with the path.
Model read(const std::filesystem::path& path, const Limits& limits = {});

/// Maps a model file: the tensors are pages of the file, shared between processes and kept alive by
/// the tensors themselves. Every checksum is verified first. The file must not be changed in place
/// while it is mapped; `write` replaces files and never changes one. Where the system cannot map
/// the file, this reads it.
Model map(const std::filesystem::path& path, const Limits& limits = {});

/// Writes a model file so that `path` holds the old file or the whole new one at every moment: a
/// temporary file in the same folder, flushed to the disk, then renamed. When it fails (disk full,
/// no permission) the old file is untouched, the temporary file is gone and the Error says why.
void write(const std::filesystem::path& path, const Model& model);

}  // namespace sdm::io
