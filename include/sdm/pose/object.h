#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "sdm/pose/points.h"

namespace sdm::pose {

/// Fewest points that fix a pose: three leave up to four poses.
inline constexpr Eigen::Index least_points = 4;

/// How far the points spread: 1 on a line, 2 in a plane, 3 in space, and 0 if they are all one.
/// A spread under a thousandth of the largest counts as none.
int dimension(const Points3& points);

/// Throws Error unless a pose can be found from these points: at least four, all finite, not on one
/// line. Points in one plane are allowed; seen from far away they have two poses of nearly the same
/// reprojection error, and the estimator returns one of them.
void check_object(const Points3& points);

/// The corners of the paper's cube, centred; corner i has the signs of the bits of i.
Points3 cube(double side = 200);

/// The vertices of a Wavefront OBJ text in file order. With a group, only the vertices that the
/// faces of `g GROUP` use. `name` begins the messages. Throws Error, with the line, on a vertex
/// that is not three finite numbers, on a face that names no vertex, and when nothing is left.
Points3 parse_obj(std::string_view text, std::string_view name, std::string_view group = {});

/// Points X,Y,Z, one a line, separated by commas or spaces; '#' comments and a heading, a first
/// line without a number, are passed over. Throws Error with the line.
Points3 parse_points(std::string_view text, std::string_view name);

/// An object's points from a file: parse_obj where the name ends in .obj, in letters of any case,
/// else parse_points. Throws Error as they do, and on a group of a file that is not .obj.
Points3 read_object(const std::filesystem::path& path, std::string_view group = {});

/// `count` of the points, spread over the object: each is the one farthest from those before it.
/// Returns their indices, first the point farthest from the centre.
std::vector<Eigen::Index> spread_points(const Points3& points, Eigen::Index count);

}  // namespace sdm::pose
