"use strict";
// The page: one run with all that is known of it, or several beside each other.

const runs = JSON.parse(document.getElementById("runs").textContent);
const page = document.getElementById("page");

const value_text = (value) =>
  value === null ? "None" : typeof value === "string" ? value : typeof value === "number" ? String(value) :
  typeof value === "boolean" ? (value ? "True" : "False") :
  Array.isArray(value) && value.every((each) => typeof each === "string") ? value.join(", ") :
  !Array.isArray(value) && typeof value === "object" && Object.values(value).every((each) => typeof each === "string") ?
    Object.entries(value).map(([name, text]) => `${name} ${text}`).join(", ") : JSON.stringify(value);

const last_of = (list) => (list.length ? list[list.length - 1] : undefined);
const seconds_since = (time) => Date.now() / 1000 - time;

// Names of an evaluation's values that tell quality: neither a time, a speed, memory nor a count.
const is_score = (name) => name.startsWith("eval_") && !name.includes("_mem_") &&
  !/(_runtime|_per_second|_time|_samples)(_mm)?$/.test(name);

function score_names(run) {
  const names = [];
  for (const row of run.evaluations)
    for (const name of Object.keys(row)) if (is_score(name) && is_number(row[name]) && !names.includes(name)) names.push(name);
  return names;
}

// Loss, then the names that most tasks are known by, then the others.
const headline = (run) => {
  const names = score_names(run).filter((name) => name !== "eval_loss");
  return ["eval_f1", "eval_accuracy", "eval_overall_f1", "eval_cosine_ndcg@10", "eval_spearman_cosine"].find((name) => names.includes(name)) ||
    names[0] || score_names(run)[0];
};

const series_of = (run, name, at) => ({
  name: runs.length > 1 ? run.name : name.replace(/^eval_/, "evaluation "), color: color(at),
  x: run.evaluations.filter((row) => is_number(row[name])).map((row) => row.step),
  y: run.evaluations.filter((row) => is_number(row[name])).map((row) => row[name]), dots: true});

const curve_of = (run, name, at) => ({name: runs.length > 1 ? run.name : "training", color: color(at), x: run.curve.step, y: run.curve[name]});

function with_mean(series) {
  if (series.x.length < 40) return [series];
  return [{...series, faint: true}, {...series, y: smoothed(series.y)}];
}

function state_of(run) {
  if (run.state !== "training") return run.state;
  return seconds_since(run.updated) > 600 ? "silent" : "training";
}

const state_text = (run) => ({
  training: "training", finished: "finished", interrupted: "stopped, can be resumed", failed: "failed",
  silent: `no news for ${time_text(seconds_since(run.updated))}`})[state_of(run)] || run.state;

function header(run) {
  const share = run.max_steps > 0 ? run.step / run.max_steps : 0;
  const started = run.started > 0 ? "started " + new Date(1000 * run.started).toLocaleString() : null;
  const resumed = run.resumed_at.length ? `resumed at step ${run.resumed_at.map(number_text).join(", ")}` : null;
  return element("header", {}, element("h1", {class: "data"}, run.name),
    element("div", {class: "facts small soft"}, element("span", {class: "chip " + state_of(run)}, state_text(run)),
      [run.command && "hearth " + run.command, run.host, started, resumed].filter(Boolean)
        .map((text) => element("span", {class: "data"}, text))),
    element("div", {class: "progress"}, element("div", {style: `width:${100 * Math.min(1, share)}%`})));
}

const tile = (title, value, note) => value === null || value === undefined || value === "" ? null :
  element("div", {class: "card tile"}, element("div", {class: "soft small"}, title),
    element("div", {class: "value number data"}, value, note ? element("small", {}, note) : null));

function tiles(run) {
  const loss = recent(run.curve.loss), name = headline(run);
  const row = [...run.evaluations].reverse().find((each) => is_number(each[name]));
  const share = recent(run.curve.limit_share), speed = recent(run.curve.tokens_per_second);
  const memory = recent(run.curve.memory_bytes);
  return element("div", {class: "tiles"},
    tile("step", number_text(run.step), "of " + number_text(run.max_steps)),
    tile("training loss", loss === null ? null : number_text(loss)),
    row ? tile(name.replace("eval_", "evaluation "), number_text(row[name])) : null,
    speed > 0 ? tile("speed", number_text(Math.round(speed)), "tokens/s") : null,
    share > 0 ? tile("of the matmul limit", percent_text(share)) : null,
    tile("time", time_text(run.seconds),
         run.state === "training" && run.seconds_left > 0 ? time_text(run.seconds_left) + " left" : null),
    memory > 0 ? tile(run.ranks.length > 1 ? "memory, largest rank" : "memory", bytes_text(memory)) : null);
}

function charts() {
  const marks = runs.length === 1 ? runs[0].resumed_at : [];
  const each = (name) => runs.map((run, i) => curve_of(run, name, i));
  const losses = runs.flatMap((run, i) => with_mean(curve_of(run, "loss", i)));
  const names = [...new Set(runs.flatMap(score_names))].filter((name) => name !== "eval_loss");
  const eval_losses = runs.map((run, i) => series_of(run, "eval_loss", runs.length > 1 ? i : 1));
  const most = 8;
  const scores = names.slice(0, most).map((name) =>
    chart(name.replace("eval_", "Evaluation: "), runs.map((run, i) => series_of(run, name, runs.length > 1 ? i : 1))));
  const memory_unit = Math.max(...runs.flatMap((run) => run.curve.memory_bytes).filter(is_number), 0) >= 2 ** 30 ? [2 ** 30, " GiB"] : [2 ** 20, " MiB"];
  const memory = each("memory_bytes").map((series) => ({...series, y: series.y.map((value) => (value > 0 ? value / memory_unit[0] : null))}));
  const positive = (list) => list.map((series) => ({...series, y: series.y.map((value) => (value > 0 ? value : null))}));
  return element("div", {class: "charts"},
    chart(runs.length > 1 ? "Training loss" : "Loss", runs.length > 1 ? losses : losses.concat(eval_losses), {marks}),
    runs.length > 1 ? chart("Evaluation loss", eval_losses) : null, scores,
    chart("Learning rate", each("learning_rate"), {marks, from_zero: true}),
    chart("Gradient norm", runs.flatMap((run, i) => with_mean(curve_of(run, "grad_norm", i))), {marks, from_zero: true}),
    chart("Tokens per second", positive(each("tokens_per_second")).flatMap(with_mean), {marks, from_zero: true}),
    chart("Share of the machine's matmul limit", positive(each("limit_share")).flatMap(with_mean),
          {marks, from_zero: true, text: percent_text}),
    chart(runs.some((run) => run.ranks.length > 1) ? "Memory of the largest rank" : "Memory", memory,
          {marks, from_zero: true, text: (value) => number_text(value) + memory_unit[1]}));
}

function evaluations(run) {
  const names = score_names(run), key = headline(run);
  if (names.length === 0) return null;
  const loss = key.endsWith("loss");
  const best = run.evaluations.reduce((found, row) => !is_number(row[key]) ? found :
    found === null || (loss ? row[key] < found[key] : row[key] > found[key]) ? row : found, null);
  const rows = run.evaluations.map((row) => ({best: row === best && run.evaluations.length > 1,
    cells: [number_text(row.step), is_number(row.epoch) ? row.epoch.toFixed(2) : "", ...names.map((name) => is_number(row[name]) ? number_text(row[name]) : ""),
            time_text(row.eval_runtime)]}));
  return section("Evaluations", element("div", {class: "card"},
    table(["step", "epoch", ...names.map((name) => name.replace("eval_", "")), "time"], rows, 0)));
}

function sample_card(sample) {
  const part = (name, text, kind) => [element("dt", {}, name), element("dd", {class: "data " + kind}, text === "" ? "(nothing)" : text)];
  return element("div", {class: "card sample " + (sample.right ? "right" : "wrong")},
    sample.question ? element("p", {class: "data"}, sample.question) : null,
    element("p", {class: "input data", tabindex: 0}, sample.input),
    element("dl", {}, part("predicted", sample.predicted, "predicted"), sample.right && sample.expected === sample.predicted ? null : part("expected", sample.expected, "")));
}

function samples(run) {
  const kinds = [["Wrong", false], ["Right", true]].map(([title, right]) => {
    const cards = run.samples.filter((sample) => sample.right === right).map(sample_card);
    return cards.length ? element("div", {}, element("h3", {class: "soft"}, title), cards) : null;
  }).filter(Boolean);
  return kinds.length ? section("Predictions of the last evaluation", element("div", {class: "samples"}, kinds)) : null;
}

function ops(run) {
  const all = run.ops.reduce((sum, op) => sum + op.seconds, 0);
  if (all === 0 || run.profiled_steps === 0) return null;
  const shown = 14, row = (name, seconds) => ({name, share: seconds / all,
    text: `${(1000 * seconds / run.profiled_steps).toFixed(2)} ms · ${percent_text(seconds / all)}`});
  const rows = run.ops.slice(0, shown).map((op) => row(op.op, op.seconds));
  const rest = run.ops.slice(shown).reduce((sum, op) => sum + op.seconds, 0);
  if (rest > 0) rows.push(row("all others", rest));
  return section("Time per step by op", element("div", {class: "card"}, bars(rows, color(0)),
    element("p", {class: "small soft"}, `of ${number_text(run.profiled_steps)} profiled step${run.profiled_steps === 1 ? "" : "s"} of the first rank`)));
}

function ranks(run) {
  if (run.ranks.length < 2) return null;
  const busy = run.ranks.map((rank) => rank.busy_share), least = Math.min(...busy), most = Math.max(...busy);
  const rows = run.ranks.map((rank, i) => ({name: `rank ${i}`, share: rank.busy_share,
    text: `${percent_text(rank.busy_share)} · ${bytes_text(rank.memory_bytes)}`}));
  return section("Balance of ranks", element("div", {class: "card"}, bars(rows, color(2), 1),
    element("p", {class: "small soft"}, `Share of the time of a step before a rank waits for the gradients of the others. The slowest is busy ${percent_text(most)}, the fastest ${percent_text(least)} of the time.`)));
}

function section(title, ...content) { return element("section", {}, element("h2", {}, title), content); }

function folded(title, content) {
  const details = element("details", {}, element("summary", {}, title), content);
  try {
    details.open = sessionStorage.getItem("open " + title) === "1";
    details.addEventListener("toggle", () => sessionStorage.setItem("open " + title, details.open ? "1" : "0"));
  } catch (error) { /* a page from a file may have no storage */ }
  return details;
}

function configuration(run) {
  const row = (setting) => [setting.name, value_text(setting.value)];
  const changed = run.settings.filter((setting) => !setting.is_default);
  const model = Object.entries(run.model_config).map(([name, value]) => [name, value_text(value)]);
  const environment = Object.entries(run.environment).map(([name, value]) => [name.replaceAll("_", " "), value_text(value)]);
  const parts = [
    changed.length ? table(null, changed.map(row), 9) : null,
    run.settings.length ? folded(`All ${run.settings.length} settings`, table(null, run.settings.map(row), 9)) : null,
    model.length ? folded("Model: config.json", table(null, model, 9)) : null];
  return [parts.some(Boolean) ? section("Configuration", element("div", {class: "card"}, parts)) : null,
          environment.length ? section("Environment", element("div", {class: "card"}, table(null, environment, 9))) : null];
}

// Several runs: a column per run, and a row per setting that differs.
function comparison() {
  const best = (run, name) => {
    const values = run.evaluations.map((row) => row[name]).filter(is_number);
    return values.length === 0 ? "" : number_text(name.endsWith("loss") ? Math.min(...values) : Math.max(...values));
  };
  const final_loss = (run) => or_empty(recent(run.curve.loss), number_text);
  const mean = (run, column) => {
    const values = run.curve[column].filter((value) => value > 0);
    return values.length ? values.reduce((a, b) => a + b) / values.length : NaN;
  };
  const or_empty = (value, text) => (is_number(value) ? text(value) : "");
  const names = [...new Set(runs.flatMap(score_names))];
  const head = ["", ...runs.map((run, i) => element("span", {}, element("i", {class: "legend", style: `display:inline-block;width:10px;height:10px;border-radius:50%;background:${color(i)};margin-right:6px`}), run.name))];
  const rows = [
    ["state", ...runs.map(state_text)],
    ["steps", ...runs.map((run) => `${number_text(run.step)} of ${number_text(run.max_steps)}`)],
    ["training loss at the end", ...runs.map(final_loss)],
    ...names.map((name) => ["best " + name, ...runs.map((run) => best(run, name))]),
    ["time", ...runs.map((run) => time_text(run.seconds))],
    ["tokens per second", ...runs.map((run) => or_empty(mean(run, "tokens_per_second"), (value) => number_text(Math.round(value))))],
    ["share of the matmul limit", ...runs.map((run) => or_empty(mean(run, "limit_share"), percent_text))],
    ["memory", ...runs.map((run) => or_empty(last_of(run.curve.memory_bytes.filter((value) => value > 0)), bytes_text))],
    ["ranks", ...runs.map((run) => String(Math.max(1, run.ranks.length)))]];
  const setting = (run, name) => { const found = run.settings.find((each) => each.name === name); return found ? value_text(found.value) : ""; };
  const differing = [...new Set(runs.flatMap((run) => run.settings.map((each) => each.name)))]
    .filter((name) => !["output_dir", "run_name"].includes(name) && new Set(runs.map((run) => setting(run, name))).size > 1)
    .map((name) => [name, ...runs.map((run) => setting(run, name))]);
  return [section("Results", element("div", {class: "card"}, table(head, rows.filter((row) => row.slice(1).some(Boolean)), 9))),
          differing.length ? section("Settings that differ", element("div", {class: "card"}, table(head.map((cell) => cell.cloneNode ? cell.cloneNode(true) : cell), differing, 9))) : null];
}

function show() {
  const one = runs.length === 1 ? runs[0] : null;
  document.title = one ? `${one.name}: step ${one.step} of ${one.max_steps}` : `${runs.length} runs`;
  const footer = element("footer", {class: "small soft"},
    one ? `Written by Hearth ${one.version} at ${new Date(1000 * one.updated).toLocaleString()}; the numbers are in report.json.` : "Written by hearth report.");
  const parts = one ?
    [header(one), tiles(one), element("h2", {}, "Curves"), charts(), evaluations(one), samples(one), ops(one), ranks(one), configuration(one)] :
    [element("h1", {}, `${runs.length} runs`), comparison(), element("h2", {}, "Curves"), charts()];
  page.replaceChildren(...parts.flat().filter(Boolean), footer);
  if (!one || state_of(one) !== "training") return;
  const renew = () => (document.hidden || document.querySelector(".tip") ? setTimeout(renew, 2000) : location.reload());
  setTimeout(renew, 10000);
}

show();
