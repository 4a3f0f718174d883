#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "bindings.h"
#include "hearth/accelerate/process_group.h"
#include "hearth/apps/command.h"
#include "hearth/apps/processes.h"
#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/base/not_finite_error.h"
#include "hearth/base/profiler.h"
#include "hearth/base/progress.h"
#include "hearth/base/stop_signals.h"
#include "hearth/base/terminal.h"
#include "hearth/base/usage_error.h"
#include "hearth/base/version.h"
#include "hearth/comm/world.h"
#include "hearth/cpu/isa.h"
#include "hearth/cpu/runtime.h"

namespace hearth::python {

const parallel::Team& process_team(const TrainingArguments& args) {
  static const parallel::Team team = [&] {
    const comm::World world = comm::world_from_environment();
    apps::log_as(world);
    apps::log_as(world, args);
    if (!args.max_isa.empty()) cpu::set_max_isa(args.max_isa);
    return init_process_group(world, {args.ddp_backend, args.ddp_timeout, args.num_threads});
  }();
  return team;
}

namespace {

// A command of the program, in this process. Errors are exceptions; a signal that stopped training has its effect in
// Python when the command has saved and returned.
int run_command(const std::vector<std::string>& words) {
  check(!words.empty(), "hearth.main needs the words of a command line, such as ['env']");
  const auto& all = apps::commands();
  const auto command = std::ranges::find(all, words.front(), &apps::Command::name);
  check(command != all.end(), "'{}' is not a command; 'hearth --help' lists the commands", words.front());
  int status = 0;
  {
    const nb::gil_scoped_release without_gil;
    std::setvbuf(stdout, nullptr, _IOLBF, 0);  // as the program does: lines keep their place between Python's
    try {
      status = command->run(std::span(words).subspan(1));
    } catch (const apps::Reported& reported) {
      status = reported.status;
    } catch (...) {
      release_stop_signals();
      throw;
    }
    release_stop_signals();
  }
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  return status;
}

void log_to_streams(LogLevel level, std::string_view message) {
  if (level == LogLevel::info) return Progress::print_line(STDOUT_FILENO, message);
  Progress::print_line(STDERR_FILENO, highlighted(fmt::format("warning: {}", message), STDERR_FILENO));
}

// `progress(title, done, total, seconds, seconds_left, details, is_end)`; `line(descriptor, text)` returns whether it
// took the line.
void set_sink(const nb::object& progress, const nb::object& line) {
  Progress::Sink sink;
  if (!progress.is_none())
    sink.progress = [held = std::make_shared<Held>(progress)](const ProgressLine& one) {
      const nb::gil_scoped_acquire gil;
      held->get()(one.title, one.done, one.total, one.seconds, one.seconds_left, one.details,
                  one.moment == ProgressLine::Moment::end);
    };
  if (!line.is_none())
    sink.line = [held = std::make_shared<Held>(line)](int descriptor, std::string_view text) {
      const nb::gil_scoped_acquire gil;
      return nb::cast<bool>(held->get()(descriptor, nb::str(text.data(), text.size())));
    };
  const nb::gil_scoped_release without_gil;
  Progress::set_sink(std::move(sink));
}

// Records where the thread spends its time between __enter__ and __exit__.
struct ProfilerHandle {
  std::optional<Profiler> profiler;
  std::vector<Profiler::Total> totals;
};

}  // namespace

NB_MODULE(_hearth, m) {
  m.attr("version") = std::string(kVersion);
  const nb::exception<Error> error(m, "Error", PyExc_RuntimeError);
  nb::exception<UsageError>(m, "UsageError", error);
  nb::exception<ResourceError>(m, "ResourceError", error);
  nb::exception<NotFiniteError>(m, "NotFiniteError", error);

  nb::set_leak_warnings(false);  // objects that are alive when Python ends are no concern of its user
  set_log_sink(log_to_streams);
  m.def("main", run_command);
  m.def("set_sink", set_sink, nb::arg("progress").none(), nb::arg("line").none());
  m.def(
      "log_info", [](const std::string& text) { log_info("{}", text); }, WithoutGil());
  m.def("num_threads", num_threads);
  m.def("instruction_set", instruction_set);
  m.def(
      "configure",
      [](int threads, const std::string& max_isa) {
        configure({threads, max_isa});
      },
      nb::arg("num_threads") = 0, nb::arg("max_isa") = "");

  nb::class_<ProfilerHandle>(m, "Profiler")
      .def(nb::init<>())
      .def(
          "__enter__", [](ProfilerHandle& self) -> ProfilerHandle& { return self.profiler.emplace(), self; },
          nb::rv_policy::reference)
      .def("__exit__",
           [](ProfilerHandle& self, const nb::args&) {
             self.totals = self.profiler->totals();
             self.profiler.reset();
           })
      .def("seconds", [](const ProfilerHandle& self) {
        nb::dict seconds;
        for (const Profiler::Total& total : self.totals) seconds[std::string(total.name).c_str()] = total.seconds;
        return seconds;
      });

  bind_arguments(m);
  bind_batch(m);
  bind_model(m);
  bind_tokenizer(m);
  bind_datasets(m);
  bind_trainer(m);
  bind_accelerator(m);
  bind_pipelines(m);
}

}  // namespace hearth::python
