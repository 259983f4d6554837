#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "apps/sdm/commands.h"
#include "apps/sdm/tell.h"

// The manual page and the shell completion, made from the same declarations that parse the command
// line, so that neither can fall behind it.
namespace sdm::app {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  std::vector<const CLI::App*> commands =
      app.get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); });
  std::sort(commands.begin(), commands.end(),
            [](const auto* a, const auto* b) { return a->get_name() < b->get_name(); });
  return commands;
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* o) { return !o->get_group().empty(); });
}

// Text of ours as roff: a backslash and a leading dot or quote mean something there.
std::string roff(const std::string& text) {
  std::string out;
  for (char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    if (c == '\\' || c == '-') out += '\\';
    out += c;
  }
  return out;
}

void print_man_options(const CLI::App& command) {
  for (const CLI::Option* option : options_of(command)) {
    if (option->get_name() == "--help") continue;
    const std::string type = option->get_type_size() > 0 && !option->get_positional()
                                 ? " " + option->get_type_name()
                                 : "";
    say(".TP\n\\fB{}\\fR{}\n{}\n", roff(option->get_name(option->get_positional(), true)),
        roff(type), roff(option->get_description()));
  }
}

void print_man_command(const CLI::App& command, const std::string& name) {
  const auto inner = commands_of(command);
  say(".SS \"{}\"\n{}.\n", roff(name), roff(command.get_description()));
  print_man_options(command);
  for (const CLI::App* child : inner) print_man_command(*child, name + " " + child->get_name());
}

void print_man(const CLI::App& app) {
  say(".TH SDM 1 \"\" \"sdm " SDM_VERSION
      "\" \"User Commands\"\n"
      ".SH NAME\nsdm \\- nonlinear least squares by learned descent\n"
      ".SH SYNOPSIS\n.B sdm\n.I COMMAND\n[\\fIOPTIONS\\fR]\n"
      ".SH DESCRIPTION\n{}\n.SH OPTIONS OF EVERY COMMAND\n",
      roff(app.get_description()));
  print_man_options(app);
  say(".SH COMMANDS\n");
  for (const CLI::App* command : commands_of(app))
    print_man_command(*command, "sdm " + command->get_name());
  say(".SH EXAMPLES AND EXIT CODES\n.nf\n{}\n.fi\n", roff(app.get_footer()));
}

// What an option can be, apart by spaces: {a,b} in the name of its type, where CLI11 has it.
std::string choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos) return "";
  std::string words = type.substr(open + 1, close - open - 1);
  std::replace(words.begin(), words.end(), ',', ' ');
  return words;
}

std::string child_path(const std::string& path, const CLI::App& child) {
  return path.empty() ? child.get_name() : path + " " + child.get_name();
}

// The words that may follow `path` ("train", "pose estimate"): inner commands, arguments, options.
void print_bash_words(const CLI::App& command, const std::string& path) {
  std::vector<std::string> words;
  for (const CLI::App* child : commands_of(command)) words.push_back(child->get_name());
  for (const CLI::Option* option : options_of(command))
    if (option->get_positional() && !choices_of(*option).empty())
      words.push_back(choices_of(*option));
  for (const CLI::Option* option : options_of(command)) {
    for (const std::string& name : option->get_lnames()) words.push_back(fmt::format("--{}", name));
    for (const std::string& name : option->get_snames()) words.push_back(fmt::format("-{}", name));
  }
  say("    '{}') words='{}' ;;\n", path, fmt::join(words, " "));
  for (const CLI::App* child : commands_of(command))
    print_bash_words(*child, child_path(path, *child));
}

// The words that may follow an option of `path`.
void print_bash_choices(const CLI::App& command, const std::string& path) {
  for (const CLI::Option* option : options_of(command))
    for (const std::string& name : option->get_lnames())
      if (const std::string choices = choices_of(*option); !choices.empty())
        say("    '{} --{}') words='{}'; only=yes ;;\n", path, name, choices);
  for (const CLI::App* child : commands_of(command))
    print_bash_choices(*child, child_path(path, *child));
}

void print_bash(const CLI::App& app) {
  // As parent and name, for an experiment may be called as a command is.
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(app)) {
    names.push_back(fmt::format("' {}'", command->get_name()));
    for (const CLI::App* child : commands_of(*command))
      names.push_back(fmt::format("'{}'", child_path(command->get_name(), *child)));
  }
  say(
      R"(# bash completion for sdm (zsh: autoload bashcompinit && bashcompinit first)
_sdm() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} path='' words='' only='' word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$path $word" in {}) path="${{path:+$path }}$word" ;; esac
  done
  case $path in
)",
      fmt::join(names, "|"));
  print_bash_words(app, "");
  say("  esac\n  case \"$path ${{COMP_WORDS[COMP_CWORD-1]}}\" in\n");
  print_bash_choices(app, "");
  say(
      R"(  esac
  case $current in
    -*) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current") ;;
    *)
      if [ -z "$path" ] || [ -n "$only" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
      else
        mapfile -t COMPREPLY < <(compgen -W "${{words//-*/}}" -- "$current"; compgen -f -- "$current")
      fi
      ;;
  esac
}}
complete -o filenames -F _sdm sdm
)");
}

}  // namespace

void add_describe(CLI::App& app) {
  CLI::App* command = app.add_subcommand("describe", "Print the manual page or bash's completion");
  command->group("");  // for packages, not for people
  auto what = std::make_shared<std::string>();
  command->add_option("WHAT", *what, "man or bash")
      ->required()
      ->check(CLI::IsMember({"man", "bash"}));
  command->callback([&app, what] { *what == "man" ? print_man(app) : print_bash(app); });
}

}  // namespace sdm::app
