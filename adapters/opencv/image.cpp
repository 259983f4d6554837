#include "sdm/opencv/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/videoio.hpp>

#include "sdm/base/error.h"
#include "sdm/image/grey.h"
#include "sdm/io/file.h"
#include "sdm/opencv/picture_size.h"

namespace sdm::opencv {
namespace {

std::string ending(const std::filesystem::path& path) {
  std::string text = path.extension().string();
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return char(std::tolower(c)); });
  return text;
}

// OpenCV reads a GIF as a video only.
cv::Mat first_frame(const std::filesystem::path& path) {
  cv::Mat frame;
  cv::VideoCapture video(path.string());
  if (video.isOpened()) video.read(frame);
  return frame;
}

// Cameras put 10 and 12 bits into files of 16: what uses a sixteenth of the range is brought up to
// all of it, or it would come out black.
void use_whole_range(cv::Mat& picture) {
  if (picture.depth() != CV_16U) return;
  double largest = 0;
  cv::minMaxLoc(picture.reshape(1), nullptr, &largest);
  if (largest < 1024) {
    picture *= 64;
  } else if (largest < 4096) {
    picture *= 16;
  }
}

cv::Mat read(const std::filesystem::path& path, int flags) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (!std::filesystem::is_regular_file(status))
    throw Error(fmt::format("{}: {}", path.string(),
                            std::filesystem::exists(status) ? "not a file" : "no such file"));
  const std::string bytes = picture_bytes(path);
  cv::Mat picture;
  try {
    // OpenCV is not told the name: it would write it to the terminal as it is.
    const auto size = static_cast<int>(bytes.size());
    if (size > 0)
      picture = cv::imdecode(cv::Mat(1, size, CV_8UC1, const_cast<char*>(bytes.data())), flags);
  } catch (const cv::Exception& error) {
    throw Error(fmt::format("{}: OpenCV cannot read it: {}", path.string(), error.err));
  }
  if (picture.empty() && is_gif(path)) picture = first_frame(path);
  if (picture.empty()) throw Error(fmt::format("{}: not a picture OpenCV can read", path.string()));
  check_pixels(path, picture.size());
  use_whole_range(picture);
  return picture;
}

// One channel or colour of T, by the image room's own conversion.
template <class T>
void convert(const cv::Mat& picture, image::ImageView<std::uint8_t> grey) {
  const auto* data = picture.ptr<T>();
  const auto stride = std::ptrdiff_t(picture.step1());
  const auto layout = picture.channels() == 3 ? image::Layout::bgr : image::Layout::bgra;
  image::to_grey(image::ColourView<T>{data, picture.cols, picture.rows, stride, layout}, grey);
}

}  // namespace

image::ByteView view(const cv::Mat& grey) {
  if (grey.type() != CV_8UC1)
    throw Error(fmt::format("a matrix of {}, expected one channel of 8 bits",
                            std::string(cv::typeToString(grey.type()))));
  return {grey.ptr<std::uint8_t>(), grey.cols, grey.rows, std::ptrdiff_t(grey.step1())};
}

cv::Mat mat(image::ByteView grey) {
  return {grey.height, grey.width, CV_8UC1, const_cast<std::uint8_t*>(grey.data),
          std::size_t(grey.stride)};
}

image::Image<std::uint8_t> to_grey(const cv::Mat& picture) {
  const int channels = picture.channels(), depth = picture.depth();
  if (picture.dims != 2 || channels == 2 || channels > 4)
    throw Error(fmt::format("a picture of {} channels, expected 1, 3 or 4", channels));
  if (depth == CV_32F || depth == CV_64F) {
    cv::Mat bytes;
    picture.convertTo(bytes, CV_8U, 255);
    return to_grey(bytes);
  }
  image::Image<std::uint8_t> grey(picture.cols, picture.rows);
  if (depth == CV_8U && channels == 1) {
    picture.copyTo(cv::Mat(picture.rows, picture.cols, CV_8UC1, grey.view().data));
  } else if (depth == CV_8U) {
    convert<std::uint8_t>(picture, grey);
  } else if (depth == CV_16U && channels == 1) {
    image::to_grey(
        image::ImageView<const std::uint16_t>(picture.ptr<std::uint16_t>(), picture.cols,
                                              picture.rows, std::ptrdiff_t(picture.step1())),
        grey);
  } else if (depth == CV_16U) {
    convert<std::uint16_t>(picture, grey);
  } else {
    throw Error(fmt::format("a picture of {}, expected 8 or 16 bits without sign, or floats",
                            std::string(cv::typeToString(picture.type()))));
  }
  return grey;
}

bool is_gif(const std::filesystem::path& path) { return ending(path) == ".gif"; }

bool is_picture(const std::filesystem::path& path) {
  constexpr std::array endings = {".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".webp",
                                  ".pgm", ".ppm",  ".jp2", ".exr", ".hdr", ".gif"};
  return std::find(endings.begin(), endings.end(), ending(path)) != endings.end();
}

std::vector<std::filesystem::path> pictures_below(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::error_code wrong;
  if (!fs::is_directory(folder, wrong))
    throw Error(fmt::format("{}: no such folder", folder.string()));
  std::vector<fs::path> pictures;
  const auto options = fs::directory_options::skip_permission_denied;
  for (const auto& entry : fs::recursive_directory_iterator(folder, options))
    if (entry.is_regular_file() && is_picture(entry.path())) pictures.push_back(entry.path());
  std::sort(pictures.begin(), pictures.end());
  return pictures;
}

image::Image<std::uint8_t> read_grey(const std::filesystem::path& path) {
  return to_grey(read(path, cv::IMREAD_ANYDEPTH | cv::IMREAD_ANYCOLOR));
}

cv::Mat read_colour(const std::filesystem::path& path) {
  cv::Mat picture = read(path, cv::IMREAD_COLOR | cv::IMREAD_ANYDEPTH);
  if (picture.depth() == CV_16U) picture.convertTo(picture, CV_8U, 1 / 257.0);
  if (picture.depth() == CV_32F || picture.depth() == CV_64F)
    picture.convertTo(picture, CV_8U, 255);
  return picture;
}

void write_image(const std::filesystem::path& path, const cv::Mat& picture) {
  bool written = false;
  std::string why = "OpenCV cannot encode it";
  try {
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
    std::vector<unsigned char> bytes;
    written = cv::imencode(path.extension().string(), picture, bytes);
    if (written) io::write_text(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  } catch (const cv::Exception& error) {
    why = error.err;
  } catch (const std::filesystem::filesystem_error& error) {
    why = error.code().message();
  }
  if (!written) throw Error(fmt::format("{}: cannot be written: {}", path.string(), why));
}

}  // namespace sdm::opencv
