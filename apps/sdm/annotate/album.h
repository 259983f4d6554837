#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "apps/sdm/annotate/marks.h"
#include "apps/sdm/annotation_file.h"
#include "sdm/face/data/annotations.h"
#include "sdm/face/data/boxes.h"

namespace sdm::app {

class Journal;

struct AlbumOptions {
  std::filesystem::path pictures;  // a folder, with those below it
  std::filesystem::path output;
  /// Asked for; empty: as the output or its journal has them.
  std::vector<std::string> points{};
  /// Give objects without a box one around their points, larger by this share of it on every side;
  /// below 0: none.
  double derived_margin = -1;
};

/// The pictures of a folder and what is marked in them, kept so that nothing is lost: every change
/// is appended to a journal beside the output and on the disk before it is answered, and finished
/// pictures go to the output, which is replaced as a whole. Thread-safe.
class Album {
 public:
  /// Takes up the output and the journal where they are there. Throws Error: there are no pictures;
  /// nobody says what the points are, or two say otherwise; another program has the album open.
  explicit Album(const AlbumOptions& options);
  ~Album();
  Album(const Album&) = delete;
  Album& operator=(const Album&) = delete;

  const face::Annotations& markup() const { return markup_; }  // ids and names, no faces
  std::size_t points() const { return markup_.ids.size(); }
  std::size_t size() const { return pictures_.size(); }
  const std::filesystem::path& folder() const { return folder_; }
  const std::filesystem::path& output() const { return output_; }
  const std::string& file(std::size_t picture) const { return pictures_[picture].file; }
  std::filesystem::path path(std::size_t picture) const;
  MarkedPicture picture(std::size_t picture) const;

  bool is_begun(std::size_t picture) const;  // or done
  bool derives_boxes() const { return derived_margin_ >= 0; }

  /// A letter a picture: 'o' open, 'b' begun, 'd' done.
  std::string states() const;
  std::size_t done() const;
  std::size_t done_with_objects() const;

  struct Change {
    bool conflict = false;
    MarkedPicture now{};  // as it is afterwards
  };
  /// Throws Error where the objects cannot be kept, or are called done while points are open.
  void require_whole(const std::vector<MarkedObject>& objects, bool done) const;
  /// Replaces what is marked in a picture if nobody has since `revision`. Throws Error where it
  /// cannot be kept on the disk; the objects have been required to be whole.
  Change change(std::size_t picture, std::int64_t revision, std::vector<MarkedObject> objects,
                bool done);

  /// The objects of finished pictures, with the pictures named relative to their folder.
  face::Annotations finished() const;

  /// Why the output could not be written the last time; empty: it could.
  std::string failure() const;
  /// Waits until the output is written.
  void settle();

 private:
  void take_up(const AlbumOptions& options);
  void take_up_boxes();
  void take_up_output();
  void take_up_journal();
  void take_names(const std::vector<std::string>& names, const std::string& who);
  std::vector<std::string> drafts() const;
  void write_pts_files(const face::Annotations& all);
  void write_output();
  void write_boxes_beside(const face::Annotations& all);
  void write_as_needed();

  std::filesystem::path folder_, output_;
  Format format_;
  double derived_margin_;
  face::Annotations markup_;
  bool named_ = false;                    // the points' names are final
  std::vector<face::Annotation> others_;  // of pictures that are not in the folder
  face::Boxes boxes_;                     // that were beside the output and are of no object
  std::string detector_;                  // whose they are
  std::vector<std::string> gone_;         // the journal's lines of pictures that are not there
  std::map<std::filesystem::path, face::Shape> written_;  // .pts files of ours

  mutable std::mutex mutex_;
  std::vector<MarkedPicture> pictures_;
  std::unique_ptr<Journal> journal_;
  std::string failure_;
  std::condition_variable wake_, settled_;
  bool wanted_ = false, writing_ = false, ending_ = false;
  std::thread writer_;
};

}  // namespace sdm::app
