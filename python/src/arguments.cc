#include <memory>

#include "bindings.h"
#include "convert.h"
#include "hearth/train/program_flags.h"
#include "settings.h"

namespace hearth::python {
namespace {

constexpr const char* kSource = "TrainingArguments";

const char* name_of(Arguments::Support support) {
  return support == Arguments::Support::works     ? "works"
         : support == Arguments::Support::ignored ? "ignored"
                                                  : "refused";
}

// Every option of the one declaration (train/training_options.cc): name, help, support and choices, with the default.
nb::list declared_options() {
  TrainingArguments defaults;
  Arguments options;
  declare(options, defaults);
  nb::dict values;
  for (const Arguments::Resolved& resolved : options.values())
    values[resolved.name.c_str()] = to_python(resolved.value);
  nb::list list;
  for (const Arguments::Declared& each : options.declared()) {
    nb::dict entry;
    entry["name"] = each.name;
    entry["help"] = each.help;
    entry["support"] = name_of(each.support);
    entry["is_switch"] = each.is_switch;
    entry["aliases"] = nb::cast(each.aliases);
    entry["choices"] = nb::cast(each.choices);
    entry["default"] = values.contains(each.name.c_str()) ? nb::object(values[each.name.c_str()]) : nb::none();
    list.append(entry);
  }
  return list;
}

}  // namespace

Settings::Settings() { declare(options, args); }

void bind_arguments(nb::module_& m) {
  m.def("declared_options", declared_options);
  nb::class_<Settings>(m, "Settings")
      .def(nb::init<>())
      .def(
          "set",
          [](Settings& self, const std::string& name, const std::vector<std::string>& words) {
            self.options.set(name, words, kSource);
          },
          "Sets an option from the words that a command line would have.")
      .def("get",
           [](const Settings& self, const std::string& name) -> nb::object {
             for (const Arguments::Resolved& resolved : self.options.values())
               if (resolved.name == name) return to_python(resolved.value);
             throw nb::key_error(name.c_str());
           })
      .def("values",
           [](const Settings& self) {
             nb::dict values;
             for (const Arguments::Resolved& resolved : self.options.values())
               values[resolved.name.c_str()] = to_python(resolved.value);
             return values;
           })
      .def("notices", [](const Settings& self) { return self.options.notices(); })
      .def(
          "wait_for_everyone", [](const Settings& self) { process_team(self.args).barrier(); }, WithoutGil())
      .def("validate", [](Settings& self) {
        take_precision_of_launcher(self.args);
        self.args.validate();
      });
}

}  // namespace hearth::python
