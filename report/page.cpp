#include "report/page.h"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <map>

#include "report/page_parts.h"
#include "sdm/base/error.h"
#include "sdm/io/file.h"

namespace sdm::report {
namespace {

namespace fs = std::filesystem;
using Json = Results::Json;

std::string base64(const std::string& bytes) {
  constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      text += i + k <= bytes.size() ? kLetters[group >> (18 - 6 * k) & 63U] : '=';
  }
  return text;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string duration(double seconds) {
  if (seconds < 100) return fmt::format("{:.{}f} s", seconds, seconds < 10 ? 1 : 0);
  const long whole = std::lround(seconds);
  return fmt::format("{} min {} s", whole / 60, whole % 60);
}

/// What stands before the colon of a description, and what stands after it, as sentences begin.
std::pair<std::string, std::string> heading_of(const std::string& description) {
  const std::size_t colon = description.find(": ");
  std::pair<std::string, std::string> parts{description.substr(0, colon), ""};
  if (colon != std::string::npos) parts.second = description.substr(colon + 2);
  for (std::string* part : {&parts.first, &parts.second})
    if (!part->empty()) (*part)[0] = static_cast<char>(std::toupper((*part)[0]));
  return parts;
}

// Data in a script element: nothing in it may look like the element's end.
std::string script_data(const Json& data) {
  std::string text = data.dump(-1, ' ', false, Json::error_handler_t::replace), safe;
  for (const char c : text) safe += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return safe;
}

/// What an exhibit's HTML needs of the part it stands in.
struct Place {
  fs::path folder;
  Palette palette;
};

std::string html(const Figure& figure, const Place& place) {
  std::string out = "<div class=\"charts\">\n";
  for (const Chart& chart : figure.charts)
    out += fmt::format(
        "<figure data-chart>\n<script type=\"application/json\">{}</script>\n{}</figure>\n",
        script_data(to_json(chart, place.palette)), svg({chart}, 1, place.palette));
  return out + "</div>\n";
}

std::string html(const Table& table, const Place&) {
  if (table.lines.empty()) return "";
  // A heading stands where the column's last cell does.
  const std::vector<std::string>& last = table.lines.back();
  const auto line = [&](const std::vector<std::string>& cells, const char* tag, bool heading) {
    std::string out = "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const bool right =
          i > 0 && looks_numeric(heading ? (i < last.size() ? last[i] : "") : cells[i]);
      out += fmt::format("<{0}{1}>{2}</{0}>", tag, right ? " class=\"number\"" : "",
                         escape_markup(cells[i]));
    }
    return out + "</tr>\n";
  };
  std::string out = "<div class=\"table\" tabindex=\"0\"><table>\n<thead>" +
                    line(table.lines[0], "th", true) + "</thead>\n<tbody>\n";
  for (std::size_t i = 1; i < table.lines.size(); ++i) out += line(table.lines[i], "td", false);
  out += "</tbody></table></div>\n";
  if (table.lines.size() < 40) return out;
  return fmt::format("<details><summary>Show the {} lines</summary>\n{}</details>\n",
                     table.lines.size() - 1, out);
}

std::string html(const Gallery& gallery, const Place& place) {
  std::string out =
      fmt::format("<div class=\"gallery{}\">\n", gallery.pictures.size() < 5 ? " wide" : "");
  for (const Picture& picture : gallery.pictures) {
    const fs::path file = picture.file.is_absolute() ? picture.file : place.folder / picture.file;
    const std::string caption = escape_markup(picture.caption);
    out += fmt::format(
        "<figure><img alt=\"{0}\" src=\"data:image/{1};base64,{2}\"><figcaption>{0}</figcaption>"
        "</figure>\n",
        caption, file.extension() == ".png" ? "png" : "jpeg", base64(io::read_text(file)));
  }
  return out + "</div>\n";
}

std::string html(const Exhibit& exhibit, const std::string& section, const Place& place) {
  std::string out = fmt::format("<article id=\"{}-{}\">\n<h3>{}</h3>\n", section, exhibit.name,
                                escape_markup(exhibit.title));
  if (!exhibit.paper.empty() || !exhibit.remark.empty()) {
    out += "<dl class=\"beside\">";
    for (const auto& [title, said] :
         {std::pair("The paper", exhibit.paper), std::pair("Here", exhibit.remark)})
      if (!said.empty()) out += fmt::format("<dt>{}</dt><dd>{}</dd>", title, escape_markup(said));
    out += "</dl>\n";
  }
  out += std::visit([&](const auto& content) { return html(content, place); }, exhibit.content);
  return out + "</article>\n";
}

std::string badge(const std::string& status) {
  return fmt::format("<span class=\"badge {}\">{}</span>",
                     status == "no data" ? "missing" : escape_markup(status),
                     escape_markup(status));
}

std::string facts(const Results& results) {
  const Json& run = results.run;
  const auto said = [&](const char* key) {
    return escape_markup(text_of(run.value(key, Json(""))));
  };
  std::string out = "<p class=\"facts\">" + badge(run.value("status", "done"));
  if (results.settings.value("quick", false)) out += "<span class=\"badge quick\">quick run</span>";
  out += fmt::format("{}, took {}, seed {}. On {}.</p>\n", said("began"),
                     duration(run.value("seconds", 0.0)),
                     text_of(results.settings.value("seed", Json(0))), said("machine"));
  out += fmt::format("<p class=\"facts\">Just this part: <code>{}</code></p>\n", said("command"));
  if (run.contains("message")) out += fmt::format("<p class=\"message\">{}</p>\n", said("message"));
  return out;
}

std::string settings(const Results& results) {
  Table table{{{"setting", "value"}}};
  for (const auto& [name, value] : results.settings.items())
    table.lines.push_back({name, text_of(value)});
  return fmt::format(
      "<details><summary>Settings</summary>\n{}</details>\n"
      "<p class=\"facts\">{} numbers: <a href=\"{}/results.csv\">CSV</a>, "
      "<a href=\"{}/results.json\">JSON</a></p>\n",
      html(table, {}), results.rows().size(), results.experiment(), results.experiment());
}

/// The template with each @name@ replaced. What is put in is not searched again.
std::string fill(const std::string& page, const std::map<std::string, std::string>& parts) {
  std::string out;
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t open = page.find('@', at);
    const std::size_t close = open == std::string::npos ? open : page.find('@', open + 1);
    if (close == std::string::npos) return out + page.substr(at);
    out += page.substr(at, open - at);
    out += parts.at(page.substr(open + 1, close - open - 1));
    at = close + 1;
  }
  return out;
}

std::string claim_lines(const Json& results, const std::string& title) {
  std::string out;
  for (const Json& claim : results.value("claims", Json::array())) {
    out += fmt::format("<tr><td><a href=\"#{}\" title=\"{}\">{}</a></td>",
                       results.at("experiment").get<std::string>(), escape_markup(title),
                       escape_markup(claim.at("claim").get<std::string>()));
    for (const auto& [key, label] :
         {std::pair("paper", "Paper"), std::pair("ours", "Ours"), std::pair("others", "Others")})
      out += fmt::format("<td data-label=\"{}\">{}</td>", label,
                         escape_markup(claim.at(key).get<std::string>()));
    out += "</tr>\n";
  }
  return out;
}

}  // namespace

void write_section(const Section& section, const Results& results, const fs::path& directory) {
  const auto [title, lead] = heading_of(section.description);
  const fs::path folder = directory / section.name;
  std::string out =
      fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", section.name, escape_markup(title));
  if (!lead.empty()) out += fmt::format("<p>{}.</p>\n", escape_markup(lead));
  out += facts(results);
  const Place place{folder, results.palette()};
  for (const Exhibit& exhibit : results.exhibits) out += html(exhibit, section.name, place);
  write_text(folder / "section.html", out + settings(results) + "</section>\n");
}

void write_page(const std::vector<Section>& sections, const fs::path& directory,
                const fs::path& chart_library) {
  std::string contents, bodies, claims, trouble;
  Json all = Json::array(), rows = Json::array();
  double seconds = 0;
  bool quick = false;
  for (const Section& section : sections) {
    const fs::path folder = directory / section.name;
    if (!fs::exists(folder / "section.html")) continue;
    Json results;
    try {
      results = Json::parse(io::read_text(folder / "results.json"));
    } catch (const Json::exception& error) {
      throw Error(fmt::format("{}: {}", (folder / "results.json").string(), error.what()));
    }
    const std::string title = heading_of(section.description).first;
    const Json run = results.value("run", Json::object());
    const std::string status = run.value("status", "done");
    contents += fmt::format("<li><a href=\"#{}\">{}{}</a></li>\n", section.name,
                            escape_markup(title), status == "done" ? "" : " (" + status + ")");
    if (status != "done")
      trouble +=
          fmt::format("<p class=\"message\">{} <a href=\"#{}\">{}</a>: {}</p>\n", badge(status),
                      section.name, escape_markup(title), escape_markup(run.value("message", "")));
    claims += claim_lines(results, title);
    bodies += io::read_text(folder / "section.html");
    seconds += run.value("seconds", 0.0);
    quick = quick || results.value("settings", Json::object()).value("quick", false);
    for (const Json& row : results.at("rows")) {
      Json line = {{"experiment", section.name}};
      line.update(row);
      rows.push_back(std::move(line));
    }
    all.push_back(std::move(results));
  }
  if (!claims.empty())
    claims =
        "<div class=\"table\" tabindex=\"0\"><table "
        "class=\"claims\">\n<thead><tr><th>What</th><th>The paper</th><th>Ours</th>"
        "<th>Others, same run</th></tr></thead>\n<tbody>\n" +
        claims + "</tbody></table></div>\n";
  std::string facts = fmt::format("<p class=\"facts\">Parts: {}. Time in all: {}.</p>\n",
                                  all.size(), duration(seconds));
  if (quick)
    facts +=
        "<p class=\"facts\"><span class=\"badge quick\">quick run</span>Some parts ran on a "
        "fraction of their samples: they show that everything runs, not what it reaches.</p>\n";
  write_text(directory / "results.json", json_text(all));
  write_text(directory / "results.csv",
             rows_as_csv(rows, {"experiment", "case", "method", "metric", "value", "unit"}));
  write_text(directory / "index.html",
             fill(page_html, {{"css", page_css},
                              {"js", page_js},
                              {"library", chart_library.empty() ? std::string()
                                                                : io::read_text(chart_library)},
                              {"facts", facts},
                              {"contents", contents},
                              {"summary", trouble + claims},
                              {"sections", bodies}}));
}

}  // namespace sdm::report
