#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sdm/face/data/annotations.h"
#include "sdm/face/model.h"

namespace sdm::face {

/// The name of boxes that are the whole picture.
inline constexpr const char* kWholePicture = "picture";

/// The boxes of each picture. A picture in which nothing was found has none.
using Boxes = std::map<std::string, std::vector<Box>>;

/// The boxes of several detectors in the same pictures.
struct BoxTable {
  std::filesystem::path path;
  std::vector<std::string> detectors;  // in the order of the file; "" has no name
  std::vector<Boxes> boxes;            // of each of them

  /// Where there is one detector it need not be named, neither here nor in the file; `box` is no
  /// name. Throws: `detector` is not in the file, or is needed.
  const Boxes& of(const std::string& detector) const;
  /// The detectors with names, the one to start from first: haar_alt2 where it is there, since the
  /// paper started from OpenCV's detector, of which alt2 varies least. `box` where none has a name.
  std::vector<std::string> by_preference() const;
};

/// Reads `file,x,y,w,h`, or several detectors side by side as
/// `file,NAME_x,NAME_y,NAME_w,NAME_h,...`. Empty cells: nothing found. Throws: a bad line, named by
/// FILE:LINE.
BoxTable read_box_table(const std::filesystem::path& path);
/// Those of one detector. Throws: what reading and BoxTable::of throw.
Boxes read_boxes(const std::filesystem::path& path, const std::string& detector = "");
void write_boxes(const std::filesystem::path& path, const Boxes& boxes,
                 const std::string& detector = "");

/// Gives each face the box of its picture that covers its points best, the only one even if it
/// touches none of them; a face in a picture without boxes has none then, whatever it had before.
/// `give_box` does it for one face.
void give_boxes(Annotations& annotations, const Boxes& boxes);
void give_box(Annotation& face, const std::vector<Box>& boxes);

/// The boxes of every face by each of these detectors, chosen in the same way; without width where
/// nothing was found. Throws: BoxTable::of throws.
std::vector<std::vector<Box>> boxes_of(const Annotations& annotations, const BoxTable& table,
                                       const std::vector<std::string>& detectors);

/// Where boxes are if nobody says it: in test_boxes.csv beside test.csv.
std::filesystem::path boxes_beside(const std::filesystem::path& annotations);

/// A box such as a detector might have drawn around these true points, for a face on which it found
/// nothing: the similarity that brings the mean shape to the points, upright, moved and scaled by
/// normal noise of the convention's deviations, as the convention's box. The same seed and index
/// give the same box. Throws: fewer than two different known points; another number of points than
/// `mean` has.
Box perturbed_box(const Shape& points, const Shape& mean, const BoxConvention& convention,
                  std::uint64_t seed, std::uint64_t index = 0);

}  // namespace sdm::face
