#include "sdm/face/data/annotations.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <random>
#include <sstream>

#include "tests/io/expect_error.h"
#include "tests/temporary_folder.h"

namespace sdm::face {
namespace {

using io::expect_error;
using testing::ElementsAre;
using testing::HasSubstr;

Annotations two_faces() {
  Annotations annotations;
  annotations.ids = {0, 1, 2};
  Shape points(2, 3);
  points << 1.25F, 20, 300.0625F, -4, 5.5F, 0.1F;
  annotations.faces.push_back({"a.jpg", points, Box{1, 2, 30, 40}});
  points.col(1).setConstant(std::nanf(""));
  annotations.faces.push_back({"b, with comma.jpg", points, Box{5, 6, 7, 8}});
  return annotations;
}

void expect_same_points(const Shape& a, const Shape& b, float tolerance = 0) {
  ASSERT_EQ(a.cols(), b.cols());
  for (Eigen::Index i = 0; i < a.size(); ++i) {
    EXPECT_EQ(std::isnan(a(i)), std::isnan(b(i)));
    if (!std::isnan(a(i))) {
      EXPECT_NEAR(a(i), b(i), tolerance);
    }
  }
}

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(Annotations, CsvKeepsEveryBitAndTheMissingPoints) {
  const TemporaryFolder folder;
  Annotations written = two_faces();
  written.ids = {17, 18, 36};
  write_csv(folder / "faces.csv", written);
  const Annotations read = read_annotations(folder / "faces.csv");
  EXPECT_EQ(read.ids, written.ids);
  ASSERT_EQ(read.faces.size(), 2u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(read.faces[std::size_t(i)].file, written.faces[std::size_t(i)].file);
    expect_same_points(read.faces[std::size_t(i)].points, written.faces[std::size_t(i)].points);
  }
  EXPECT_EQ(read.path(read.faces[0]), folder / "a.jpg");
}

TEST(Annotations, CsvMayComeFromOtherSystems) {
  const TemporaryFolder folder;
  const auto path = folder.write("faces.csv",
                                 "\xEF\xBB\xBF"
                                 "file,x0,y0\r\na.jpg, 1.5 ,+2\r\n\r\nb.jpg,nan,NaN\r\n");
  const Annotations read = read_csv(path);
  ASSERT_EQ(read.faces.size(), 2u);
  EXPECT_EQ(read.faces[0].points(0, 0), 1.5F);
  EXPECT_EQ(read.faces[0].points(1, 0), 2);
  EXPECT_TRUE(read.faces[1].points.hasNaN());
}

TEST(Annotations, CsvKeepsNamesGroupsAndScales) {
  const TemporaryFolder folder;
  const Annotations read = read_annotations(
      folder.write("wings.csv",
                   "file,group,tip.x,tip.y,\"base, left.x\",\"base, left.y\",scale\n"
                   "a.jpg,fly 7,1,2,3,4,0.0125\nb.jpg,,5,6,,,\n"));
  EXPECT_THAT(read.names, ElementsAre("tip", "base, left"));
  EXPECT_THAT(read.ids, ElementsAre(0, 1));
  EXPECT_EQ(read.faces[0].group, "fly 7");
  EXPECT_EQ(read.faces[0].scale, 0.0125);
  EXPECT_EQ(read.faces[0].points(1, 1), 4);
  EXPECT_EQ(read.faces[1].scale, 0);
  EXPECT_TRUE(std::isnan(read.faces[1].points(0, 1)));
  EXPECT_EQ(read.faces[1].where, (folder / "wings.csv").string() + ":3");
  write_csv(folder / "again.csv", read);
  const Annotations again = read_csv(folder / "again.csv");
  EXPECT_EQ(again.names, read.names);
  EXPECT_EQ(again.faces[0].group, "fly 7");
  EXPECT_EQ(again.faces[0].scale, 0.0125);
  expect_same_points(again.faces[1].points, read.faces[1].points);
  const auto fails = [&](const std::string& heading, const std::string& why) {
    expect_error([&] { read_csv(folder.write("h.csv", heading + "\na.jpg,1,2,3,4\n")); },
                 "h.csv:1: " + why);
  };
  fails("file,tip.x,tip.y,tip.x,tip.y", "the heading has the point 'tip' twice");
  fails("file,tip.x,tip.y,x1,y1", "the heading has points with numbers and points with names");
  fails("file,tip.x,top.y,x1,y1", "the heading has 'tip.x,top.y', expected");
  expect_error([&] { read_csv(folder.write("s.csv", "file,x0,y0,scale\na.jpg,1,2,-3\n")); },
               "s.csv:2: the scale -3");
}

TEST(Annotations, OtherNamesOfPointsAreToldByTheFirst) {
  const TemporaryFolder folder;
  const auto names = [&](const std::string& text) {
    return point_names(read_annotations(folder.write("n.csv", text)));
  };
  const auto ear_tail = names("file,ear.x,ear.y,tail.x,tail.y\na.jpg,1,2,3,4\n");
  const auto tail_ear = names("file,tail.x,tail.y,ear.x,ear.y\na.jpg,1,2,3,4\n");
  const auto plain = names("a.jpg,1,2,3,4\n");
  const auto from_one = names("file,x1,y1,x2,y2\na.jpg,1,2,3,4\n");
  EXPECT_THAT(from_one, ElementsAre("1", "2"));
  EXPECT_TRUE(plain.empty());
  require_same_points(ear_tail, "a.csv", ear_tail, "b.csv");
  require_same_points(plain, "a.csv", ear_tail, "b.csv");  // nothing is known
  expect_error([&] { require_same_points(tail_ear, "a.csv", ear_tail, "b.csv"); },
               "a.csv: point 0 is 'tail', expected 'ear' as in b.csv");
  expect_error([&] { require_same_points({"ear"}, "a.csv", ear_tail, "b.csv"); },
               "a.csv: 1 points, expected 2 as in b.csv");
}

// The trainer makes sizes of them, which must not overflow.
TEST(Annotations, CoordinatesThatNoPictureHasAreRefused) {
  const TemporaryFolder folder;
  const auto fails = [&](const std::string& name, const std::string& text) {
    expect_error([&] { read_annotations(folder.write(name, text)); },
                 "'1e12', expected at most 1000000 pixels");
  };
  fails("f.csv", "file,x0,y0,x1,y1\n0.pgm,0,0,1e12,1\n");
  fails("f.txt", "0.pgm 0 0 1e12 1\n");
  fails("f.pts", "n_points: 1\n{\n1e12 1\n}\n");
  fails("f.xml", "<image file='a'><box top='1' left='1e12' width='3' height='4'/></image>");
}

TEST(Annotations, PicturesMayBeElsewhere) {
  const TemporaryFolder folder;
  folder.write("pictures/sub/a.png", "");
  write_pts(folder.write("pts/sub/a.pts", ""), Shape::Constant(2, 2, 7));
  const Annotations pts = read_annotations(folder / "pts", {.pictures = folder / "pictures"});
  EXPECT_EQ(pts.faces[0].file, "sub/a.png");
  EXPECT_EQ(pts.path(pts.faces[0]), folder / "pictures/sub/a.png");
  const Annotations csv =
      read_annotations(folder.write("a.csv", "sub/a.png,1,2\n"), {.pictures = folder / "pictures"});
  EXPECT_EQ(csv.path(csv.faces[0]), folder / "pictures/sub/a.png");
}

TEST(Annotations, CsvNeedsNoHeading) {
  const TemporaryFolder folder;
  const Annotations read = read_csv(folder.write("faces.csv", "a.jpg,1,2,3,4\n"));
  EXPECT_THAT(read.ids, ElementsAre(0, 1));
  EXPECT_EQ(read.faces[0].points(1, 1), 4);
}

TEST(Annotations, AWrongLineIsNamed) {
  const TemporaryFolder folder;
  const std::string good = "file,x0,y0,x1,y1\na.jpg,1,2,3,4\n";
  const auto fails = [&](const std::string& line, const std::string& why) {
    expect_error([&] { read_csv(folder.write("faces.csv", good + line)); }, "faces.csv:3: " + why);
  };
  fails("b.jpg,1,2,3\n", "3 numbers, expected 4");
  fails("b.jpg,1,2,3,4,5\n", "5 numbers, expected 4");
  fails("b.jpg,1,2,x,4\n", "'x', expected a number");
  fails("b.jpg,1,2,3,4px\n", "'4px', expected a number");
  fails("b.jpg,1,2,inf,4\n", "'inf', expected a number");
  fails("b.jpg,1,2,1e300,4\n", "'1e300', expected a number");
  fails("b.jpg,1,2,,4\n", "point 1 has one coordinate");
  fails(",1,2,3,4\n", "no file name");
  expect_error([&] { read_csv(folder.write("h.csv", "file,x0,y0,x1,z1\n")); }, "h.csv:1: ");
  expect_error([&] { read_csv(folder.write("h.csv", "file,x0,y0,x1\n")); }, "h.csv:1: ");
  expect_error([&] { read_csv(folder.write("e.csv", "")); }, "no face in it");
  expect_error([&] { read_csv(folder / "missing.csv"); }, "missing.csv: cannot be opened");
  expect_error([&] { read_annotations(folder.write("a.doc", "")); }, "'.doc' tells no format");
}

TEST(Annotations, SkipBadGoesOnAndReports) {
  const TemporaryFolder folder;
  const auto path = folder.write("faces.csv", "a.jpg,1,2\nb.jpg,1\nc.jpg,x,2\nd.jpg,5,6\n");
  const Annotations read = read_csv(path, {.skip_bad = true});
  ASSERT_EQ(read.faces.size(), 2u);
  EXPECT_EQ(read.faces[1].file, "d.jpg");
  EXPECT_THAT(read.skipped, ElementsAre(HasSubstr(":2: "), HasSubstr(":3: ")));
  const auto all_bad = folder.write("bad.csv", "file,x0,y0\nb.jpg,1\n");
  expect_error([&] { read_csv(all_bad, {.skip_bad = true}); }, "1 bad entries were skipped");
}

TEST(Annotations, PtsCountPixelsFromOne) {
  const TemporaryFolder folder;
  folder.write("face.png", "");
  const auto path = folder.write("face.pts", "version: 1\nn_points:  2\n{\n1.0 1.0\n11.5 21\n}\n");
  const Annotations read = read_annotations(path);
  EXPECT_EQ(read.faces[0].file, "face.png");
  // The first pixel is (1, 1) on disk and (0, 0) here.
  EXPECT_EQ(read.faces[0].points.col(0), Eigen::Vector2f(0, 0));
  EXPECT_EQ(read.faces[0].points.col(1), Eigen::Vector2f(10.5F, 20));
  write_pts(folder / "written.pts", Shape::Zero(2, 1));
  EXPECT_THAT(text_of(folder / "written.pts"), HasSubstr("n_points: 1\n{\n1 1\n}"));
}

TEST(Annotations, PtsKeepEveryBit) {
  const TemporaryFolder folder;
  for (const Annotation& face : two_faces().faces) {
    write_pts(folder / "face.pts", face.points);
    expect_same_points(read_pts(folder / "face.pts").faces[0].points, face.points);
  }
}

TEST(Annotations, AFolderOfPtsIsReadInOrderOfNames) {
  const TemporaryFolder folder;
  write_pts(folder.write("b.pts", ""), Shape::Constant(2, 2, 7));
  write_pts(folder.write("sub/c.pts", ""), Shape::Constant(2, 2, 8));
  write_pts(folder.write("a.pts", ""), Shape::Constant(2, 2, 9));
  folder.write("sub/c.jpg", "");
  const Annotations read = read_annotations(folder.path());
  ASSERT_EQ(read.faces.size(), 3u);
  EXPECT_EQ(read.faces[0].points(0, 0), 9);
  EXPECT_EQ(read.faces[2].file, "sub/c.jpg");
  write_pts(folder / "odd.pts", Shape::Zero(2, 3));
  expect_error([&] { read_pts(folder.path()); }, "odd.pts: 3 points, expected 2");
  EXPECT_THAT(read_pts(folder.path(), {.skip_bad = true}).skipped, ElementsAre(HasSubstr("odd")));
}

TEST(Annotations, ABrokenPtsFileIsNamed) {
  const TemporaryFolder folder;
  const auto fails = [&](const std::string& text, const std::string& why) {
    expect_error([&] { read_pts(folder.write("face.pts", text)); }, "face.pts" + why);
  };
  fails("version: 1\nn_points: 2\n{\n1 1\n}\n", ": 1 points, expected 2");
  fails("version: 1\nn_points: 1\n{\n1 1\n", ": ends before the closing brace");
  fails("version: 1\nn_points: 1\n{\n1 1 1\n}\n", ":4: 3 numbers, expected 2");
  fails("version: 1\nn_points: 1\n{\n1 a\n}\n", ":4: 'a', expected a number");
  fails("n_points: many\n{\n1 1\n}\n", ":1: ");
  fails("\x89PNG\r\n", ":1: ");
  fails("n_points: 1\n{\n1 nan\n}\n", ": point 0 has one coordinate");
}

// As imglab itself writes them, with a box to ignore, a face without one part, and comments.
const char* const imglab =
    "<?xml version='1.0' encoding='ISO-8859-1'?>\n"
    "<?xml-stylesheet type='text/xsl' href='image_metadata_stylesheet.xsl'?>\n"
    "<dataset>\n<name>a > b</name>\n<comment>x</comment>\n<!-- <image file='no.jpg'> -->\n"
    "<images>\n"
    "  <image file='d/a &amp; b.jpg' width='10' height='10'>\n"
    "    <box top='74' left='94' width='115' height='116'>\n      <label>face</label>\n"
    "      <part name='00' x='107' y='126'/>\n      <part name='01' x='107' y='-3'/>\n    </box>\n"
    "    <box top='1' left='2' width='3' height='4' ignore='1'/>\n"
    "  </image>\n"
    "  <image file=\"b.jpg\">\n"
    "    <box top='5' left='6' width='7' height='8'><part name='01' x='9' y='10'/></box>\n"
    "    <box top='15' left='16' width='17' height='18'/>\n"
    "  </image>\n"
    "</images>\n</dataset>\n";

TEST(Annotations, ImglabGivesBoxesAndParts) {
  const TemporaryFolder folder;
  const Annotations read = read_annotations(folder.write("faces.xml", imglab));
  EXPECT_THAT(read.ids, ElementsAre(0, 1));
  ASSERT_EQ(read.faces.size(), 3u);
  EXPECT_EQ(read.faces[0].file, "d/a & b.jpg");
  EXPECT_EQ(read.faces[0].box->x, 94);
  EXPECT_EQ(read.faces[0].box->height, 116);
  EXPECT_EQ(read.faces[0].points.col(1), Eigen::Vector2f(107, -3));
  EXPECT_TRUE(std::isnan(read.faces[1].points(0, 0)));
  EXPECT_EQ(read.faces[1].points(1, 1), 10);
  EXPECT_EQ(read.faces[2].box->y, 15);
  EXPECT_EQ(read.faces[2].points.cols(), 2);
}

TEST(Annotations, ImglabComesBackAsWritten) {
  const TemporaryFolder folder;
  const Annotations first = read_imglab(folder.write("faces.xml", imglab));
  write_imglab(folder / "again.xml", first);
  const Annotations second = read_imglab(folder / "again.xml");
  EXPECT_EQ(second.ids, first.ids);
  ASSERT_EQ(second.faces.size(), first.faces.size());
  for (std::size_t i = 0; i < first.faces.size(); ++i) {
    EXPECT_EQ(second.faces[i].file, first.faces[i].file);
    EXPECT_EQ(second.faces[i].box->width, first.faces[i].box->width);
    expect_same_points(second.faces[i].points, first.faces[i].points);
  }
  Annotations boxless = two_faces();
  boxless.faces[0].box.reset();
  expect_error([&] { write_imglab(folder / "b.xml", boxless); }, "'a.jpg' has no box");
}

TEST(Annotations, PartsWithNamesAreNumberedByTheAlphabet) {
  const TemporaryFolder folder;
  const Annotations read = read_imglab(folder.write(
      "faces.xml",
      "<dataset><images><image file='a.jpg'><box top='0' left='0' width='9' height='9'>"
      "<part name='tail' x='1' y='2'/><part name='ear' x='3' y='4'/></box></image></images>"
      "</dataset>"));
  EXPECT_THAT(read.ids, ElementsAre(0, 1));
  EXPECT_THAT(read.names, ElementsAre("ear", "tail"));
  EXPECT_EQ(read.faces[0].points(0, 0), 3);
  write_imglab(folder / "again.xml", read);
  EXPECT_EQ(read_imglab(folder / "again.xml").names, read.names);
  EXPECT_TRUE(read_imglab(folder.write("numbers.xml", imglab)).names.empty());
}

TEST(Annotations, ABrokenImglabFileIsNamed) {
  const TemporaryFolder folder;
  const auto fails = [&](const std::string& text, const std::string& why) {
    expect_error([&] { read_imglab(folder.write("f.xml", text)); }, why);
  };
  fails("<dataset>\n<image file='a.jpg'>\n<box top='1' left='2' width='3'>", "f.xml:3: a box");
  fails("<image file='a'>\n<box top='1' left='b' width='3' height='4'/>", "f.xml:2: 'b'");
  fails("<image file='a'>\n<box top='1' left='2' width='3' height='4'>\n</image>",
        "f.xml:3: </image>, expected </box> for line 2");
  fails(
      "<image file='a'>\n<box top='1' left='2' width='3' height='4'>\n<part name='1' x='1' y='1'/>",
      "f.xml:2: <box> is not closed");
  fails("<image file='a'>\n<box top='1' left='2' width='3' height='4'/></image></image>",
        "f.xml:2: </image> closes nothing");
  fails("<image>", "f.xml:1: a image without the attribute 'file'");
  fails("<part name='1' x='1' y='1'/>", "f.xml:1: a part outside of a box");
  fails("<image file='a'>\n<box top=1", "f.xml:2: not well-formed");
  fails("<image file='a'>\n<box top='1", "f.xml:2: not well-formed");
  fails("<image file='a'\n", "not well-formed");
  fails("nothing", "no face in it");
  const auto path = folder.write(
      "g.xml",
      "<image file='a'>\n<box top='1' left='b' width='3' height='4'>\n<part name='1' x='1' y='1'/>"
      "</box>\n<box top='1' left='2' width='3' height='4'/></image>");
  const Annotations read = read_imglab(path, {.skip_bad = true});
  EXPECT_EQ(read.faces.size(), 1u);
  EXPECT_THAT(read.skipped, ElementsAre(HasSubstr("g.xml:2: ")));
}

TEST(Annotations, AStrayImglabPartDoesNotCostTheNextFace) {
  const TemporaryFolder folder;
  const auto path = folder.write(
      "f.xml",
      "<image file='a'>\n<part name='7' x='1' y='1'/>\n<box top='1' left='2' width='3' height='4'>"
      "<part name='0' x='5' y='6'/></box>\n<box top='7' left='8' width='9' height='9'/></image>");
  const Annotations read = read_imglab(path, {.skip_bad = true});
  EXPECT_THAT(read.skipped, ElementsAre(HasSubstr("f.xml:2: a part outside of a box")));
  EXPECT_THAT(read.ids, ElementsAre(0));
  ASSERT_EQ(read.faces.size(), 2u);
  EXPECT_EQ(read.faces[0].points.col(0), Eigen::Vector2f(5, 6));
}

// Each name makes room in every box: few bytes could fill the memory.
TEST(Annotations, ImglabWithAnotherNameInEveryBoxIsRefused) {
  const TemporaryFolder folder;
  std::string text = "<images>";
  for (int i = 0; i < 5000; ++i)
    text += "<image file='a'><box top='1' left='2' width='3' height='4'><part name='n" +
            std::to_string(i) + "' x='1' y='1'/></box></image>";
  expect_error([&] { read_imglab(folder.write("f.xml", text + "</images>")); },
               "f.xml: 5000 points in 5000 faces, of which 5000 are known");
}

// A million of them took minutes, when each looked for its end in all that followed.
TEST(Annotations, ImglabReadsManyAmpersandsInOnePass) {
  const TemporaryFolder folder;
  const std::string name(1'000'000, '&');
  const Annotations read = read_imglab(folder.write(
      "f.xml",
      "<image file='" + name + "&lt;'><box top='1' left='2' width='3' height='4'/></image>"));
  EXPECT_EQ(read.faces[0].file, name + "<");
}

// dlib numbers parts in the order of their names as text.
TEST(Annotations, ImglabNamesOfManyPartsAreInTheOrderOfTheirNumbers) {
  const TemporaryFolder folder;
  Annotations many;
  for (int id = 0; id < 101; ++id) many.ids.push_back(id);
  many.faces = {{"a.jpg", Shape::Constant(2, 101, 3), Box{1, 2, 3, 4}}};
  write_imglab(folder / "many.xml", many);
  const std::string text = text_of(folder / "many.xml");
  EXPECT_THAT(text, HasSubstr("<part name='007'"));
  EXPECT_THAT(text, HasSubstr("<part name='100'"));
  EXPECT_EQ(read_imglab(folder / "many.xml").ids, many.ids);
}

TEST(Annotations, ListsHoldBoxesPointsOrPtsFiles) {
  const TemporaryFolder folder;
  write_pts(folder / "c.pts", Shape::Constant(2, 2, 5));
  const Annotations read = read_annotations(folder.write(
      "faces.txt",
      "# a comment\na.jpg 2 1 2 3 4 5 6 7 8\n\"b c.jpg\" 10 20 30 40\nc.jpg  c.pts\n\n"));
  ASSERT_EQ(read.faces.size(), 4u);
  EXPECT_EQ(read.faces[1].box->x, 5);
  EXPECT_TRUE(read.faces[0].points.hasNaN());
  EXPECT_EQ(read.faces[2].file, "b c.jpg");
  EXPECT_EQ(read.faces[2].points(1, 0), 20);
  EXPECT_EQ(read.faces[3].points(0, 0), 5);
  const auto fails = [&](const std::string& line, const std::string& why) {
    expect_error([&] { read_list(folder.write("l.txt", "a.jpg 1 2 3 4\n" + line)); },
                 "l.txt:2: " + why);
  };
  fails("b.jpg 2 1 2 3 4", "4 numbers after the count 2, expected 8");
  fails("b.jpg .5 2 243", "2 numbers after the count 0.5, expected a whole count");
  fails("b.jpg 1.5 1 2 3 4 5 6", "6 numbers after the count 1.5, expected a whole count");
  fails("b.jpg 1 2", "1 points, expected 2");
  fails("b.jpg", "a picture alone");
  fails("b.jpg no.pts", "");
}

TEST(Annotations, AListOfBoxesBesideOneLineOfVeryManyPointsIsRefused) {
  const TemporaryFolder folder;
  std::string text = "a.jpg";
  for (int i = 0; i < 4000; ++i) text += " 1";
  text += '\n';
  for (int i = 0; i < 4000; ++i) text += "b.jpg 1 1 2 3 4\n";
  expect_error([&] { read_list(folder.write("l.txt", text)); },
               "l.txt: 2000 points in 4001 faces, of which 2000 are known");
}

TEST(Annotations, ListsComeBackAsWritten) {
  const TemporaryFolder folder;
  const Annotations written = two_faces();
  write_list(folder / "faces.lst", written);
  const Annotations read = read_list(folder / "faces.lst");
  ASSERT_EQ(read.faces.size(), 2u);
  EXPECT_EQ(read.faces[1].file, written.faces[1].file);
  expect_same_points(read.faces[1].points, written.faces[1].points);
}

TEST(Annotations, AListKeepsTheBoxOfAFaceWithoutKnownPoints) {
  const TemporaryFolder folder;
  Annotations written = two_faces();
  written.faces[1].points.setConstant(std::nanf(""));
  write_list(folder / "faces.lst", written);
  const Annotations read = read_list(folder / "faces.lst");
  ASSERT_EQ(read.faces.size(), 2u);
  ASSERT_TRUE(read.faces[1].box);
  EXPECT_EQ(read.faces[1].box->width, written.faces[1].box->width);
  expect_same_points(read.faces[1].points, written.faces[1].points);
}

// Whatever is in a file, reading it gives faces or an Error, and nothing else.
TEST(Annotations, DamagedFilesEndInFacesOrAnError) {
  const TemporaryFolder folder;
  const std::pair<std::string, std::string> files[] = {
      {"f.csv", "file,x0,y0,x1,y1\n\"a,b.jpg\",1,2,3,4\nc.jpg,nan,nan,5,6\n"},
      {"f.pts", "version: 1\nn_points: 2\n{\n1 1\n11.5 21\n}\n"},
      {"f.xml", imglab},
      {"f.tps", "LM=2\n1 2\n3. 4\nIMAGE=a.jpg\nID=1\nLM=2\n-1 -1\n5 6\nIMAGE=b.jpg\nSCALE=.5\n"},
      {"f.txt", "a.jpg 1 1 2 3 4\nb.jpg 10 20 30 40\nc.jpg f.pts\n"}};
  std::mt19937 random(1);
  for (const auto& [name, text] : files) {
    for (int round = 0; round < 300; ++round) {
      std::string damaged = text;
      for (int i = 0; i <= round % 4; ++i) {
        const std::size_t at = random() % damaged.size();
        if (random() % 3 == 0) {
          damaged.resize(at + 1);
        } else {
          damaged[at] = "<>\"'&;,:{}/=\n\r -.0919e\0\xff"[random() % 24];
        }
      }
      const auto path = folder.write(name, damaged);
      for (bool skip_bad : {false, true}) {
        try {
          const Annotations read =
              read_annotations(path, {.skip_bad = skip_bad, .size_of = [](const auto&) {
                                        return PictureSize{100, 100};
                                      }});
          EXPECT_FALSE(read.faces.empty());
          for (const Annotation& face : read.faces)
            EXPECT_EQ(face.points.cols(), Eigen::Index(read.ids.size()));
        } catch (const Error&) {
        }
      }
    }
  }
}

TEST(Annotations, TheRealTestSetIsRead) {
  const std::filesystem::path path =
      std::filesystem::path(SDM_SHARED_DATA) / "faces" / "lfpw_test.csv";
  if (!std::filesystem::exists(path)) {
    std::puts("skipped: needs ../shared/data");
    GTEST_SKIP();
  }
  const Annotations read = read_annotations(path);
  EXPECT_EQ(read.faces.size(), 224u);
  EXPECT_EQ(read.ids.size(), 68u);
  EXPECT_TRUE(std::filesystem::exists(read.path(read.faces[0])));
}

TEST(Annotations, NameFilesOfTheirRootAlone) {
  const TemporaryFolder folder;
  folder.write("out.pts", "n_points: 1\n{\n1 1\n}\n");
  ReadOptions options;
  options.root = folder / "in";
  options.size_of = [](const std::filesystem::path&) { return PictureSize{10, 10}; };
  const auto csv = [&](const std::string& file) {
    return folder.write("in/a.csv", "file,x0,y0\n" + file + ",1,2\n");
  };
  std::filesystem::create_directories(folder / "in/deep");
  std::filesystem::create_symlink("..", folder / "in/up");
  for (const char* inside : {"x.jpg", "deep/x.jpg", "deep/../x.jpg", "..data.jpg"})
    EXPECT_EQ(read_annotations(csv(inside), options).faces.size(), 1u) << inside;
  for (const char* outside : {"../x.jpg", "/etc/passwd", "deep/../../x.jpg", "up/x.jpg"})
    expect_error([&] { read_annotations(csv(outside), options); }, "lies outside of");
  expect_error([&] { read_annotations(folder.write("in/a.txt", "x.jpg ../out.pts\n"), options); },
               "lies outside of");
  expect_error(
      [&] { read_annotations(folder.write("in/a.tps", "LM=1\n1 1\nIMAGE=../x.jpg\n"), options); },
      "lies outside of");
  expect_error(
      [&] {
        read_annotations(folder.write("in/a.xml",
                                      "<image file='../x'><box top='1' left='1' width='3' "
                                      "height='4'/></image>"),
                         options);
      },
      "lies outside of");
  options.root.clear();
  EXPECT_EQ(read_annotations(csv("../x.jpg"), options).faces.size(), 1u);
}

// Whoever opens such a file would open another.
TEST(Annotations, RefuseNamesWithAZeroByte) {
  const TemporaryFolder folder;
  const std::string zero(1, '\0');
  for (const auto& [name, text] : std::vector<std::pair<std::string, std::string>>{
           {"a.csv", "file,x0,y0\nx.jpg" + zero + "y,1,2\n"},
           {"a.txt", "x" + zero + ".jpg 1 2\n"},
           {"a.tps", "LM=1\n1 1\nIMAGE=x" + zero + ".jpg\n"}}) {
    ReadOptions options;
    options.size_of = [](const std::filesystem::path&) { return PictureSize{10, 10}; };
    expect_error([&, path = folder.write(name, text)] { read_annotations(path, options); },
                 "zero byte");
  }
}

TEST(Annotations, AreRefusedBeyondTheirLimits) {
  const TemporaryFolder folder;
  const auto path = folder.write("a.csv", "file,x0,y0\nx.jpg,1,2\n");
  ReadOptions options;
  options.text.bytes = 10;
  expect_error([&] { read_annotations(path, options); }, "more than 10 bytes");
  std::string boxes;
  for (int i = 0; i < 20; ++i)
    boxes += "<box top='1' left='1' width='3' height='4'><part name='" + std::to_string(i) +
             "' x='1' y='1'/></box>";
  options = {};
  options.most_points = 399;
  const auto xml = folder.write("a.xml", "<image file='x'>" + boxes + "</image>");
  expect_error([&] { read_annotations(xml, options); },
               "20 faces of 20 points, the limit is 399 points in all");
  options.most_points = 400;
  EXPECT_EQ(read_annotations(xml, options).faces.size(), 20u);
}

TEST(Annotations, NamePointsInUtf8) {
  const TemporaryFolder folder;
  expect_error(
      [&] { read_annotations(folder.write("a.csv", "file,t\xff.x,t\xff.y\na.jpg,1,2\n")); },
      "a.csv: the name of point 0 is not UTF-8");
}

}  // namespace
}  // namespace sdm::face
