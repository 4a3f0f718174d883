"use strict";
// Elements, numbers and charts. All text becomes text nodes: nothing of a run is ever read as markup.

function element(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

function shape(tag, attributes, text) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

const color = (index) => `var(--c${index % 6})`;
const is_number = (value) => typeof value === "number" && isFinite(value);

function number_text(value) {
  if (!is_number(value)) return "NaN";
  const size = Math.abs(value);
  if (size < 1e-15) return "0";
  if (size < 1e-3 || size >= 1e7) return value.toExponential(2).replace(/\.?0*e\+?/, "e");
  if (Number.isInteger(value) || size >= 1e4) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(4)));
}

const percent_text = (value) => (100 * value).toFixed(value > 0 && value < 0.0995 ? 1 : 0) + "%";

function bytes_text(value) {
  if (!is_number(value)) return "";
  return value >= 2 ** 30 ? (value / 2 ** 30).toFixed(2) + " GiB" : Math.round(value / 2 ** 20) + " MiB";
}

function time_text(seconds) {
  if (!is_number(seconds)) return "";
  if (seconds < 60) return (seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)) + " s";
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

// Round numbers that cover an interval, about `count` of them.
function ticks(low, high, count) {
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 2.5, 5, 10].find((factor) => factor * power >= raw * 0.999);
  const result = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) result.push(i * step);
  return result;
}

function range_of(series, from_zero) {
  const values = series.flatMap((each) => each.y).filter(is_number).sort((a, b) => a - b);
  if (values.length === 0) return null;
  // A few spikes, such as the loss of the first steps, may leave the picture.
  const at = (share) => values[Math.round(share * (values.length - 1))];
  let low = values[0], high = values[values.length - 1];
  if (values.length > 50 && high - at(0.5) > 20 * (at(0.98) - at(0.02))) high = at(0.98) + (at(0.98) - at(0.02)) * 0.5;
  if (from_zero) low = Math.min(0, low);
  if (low === high) { const pad = Math.abs(low) * 0.1 || 1; low -= from_zero && low === 0 ? 0 : pad; high += pad; }
  const pad = (high - low) * 0.06;
  return [from_zero && low === 0 ? 0 : low - pad, high + pad];
}

// The mean over the neighbours of each value, for a line that the eye can follow.
function smoothed(values) {
  const reach = Math.min(25, Math.floor(values.length / 20));
  return values.map((value, i) => {
    const least = Math.ceil(reach / 3), before = i, after = values.length - 1 - i;
    const left = Math.min(reach, before, after + least);  // about as many on either side, or a slope would be bent
    const right = Math.min(reach, after, before + least);
    const known = values.slice(i - left, i + right + 1).filter(is_number);
    return known.length ? known.reduce((a, b) => a + b) / known.length : null;
  });
}

// The mean of the last tenth: what the run does now, without the noise of one step.
function recent(values) {
  const known = values.slice(-Math.max(1, Math.floor(values.length / 10))).filter(is_number);
  return known.length ? known.reduce((a, b) => a + b) / known.length : null;
}

function line_of(series, x, y) {
  let path = "", down = false;
  series.x.forEach((at, i) => {
    const value = series.y[i];
    if (!is_number(value)) { down = false; return; }
    path += `${down ? "L" : "M"}${x(at).toFixed(1)},${y(value).toFixed(1)}`;
    down = true;
  });
  return path;
}

// A card with a chart of series {name, x, y, color, faint, dots}. `text` writes a value, `from_zero` starts the axis at 0,
// `marks` are places of x with a dashed line.
function chart(title, series, options) {
  const given = series.filter((each) => each.y.some(is_number));
  if (given.length === 0) return null;
  const {text = number_text, from_zero = false, marks = []} = options || {};
  const shown = given.filter((each) => !each.faint);
  const plot = element("div", {class: "plot"});
  const legend = shown.length < 2 ? null : element("div", {class: "legend"}, shown.map((each) =>
    element("span", {class: "data"}, element("i", {style: `background:${each.color}`}), each.name)));
  const card = element("section", {class: "card chart"}, element("header", {}, element("h3", {}, title), legend), plot);
  const height = 190, below = 20, above = 8;
  const xs = given.flatMap((each) => each.x);
  const first = Math.min(...xs), last = Math.max(...xs, first + 1e-9);
  const [low, high] = range_of(given, from_zero);
  const y_ticks = ticks(low, high, 4);
  const left = 10 + 6.4 * Math.max(...y_ticks.map((tick) => text(tick).length));

  function draw() {
    const width = plot.clientWidth;
    if (width < 50) return;
    const x = (value) => left + (value - first) / (last - first) * (width - left - 8);
    const y = (value) => above + (high - Math.max(low, Math.min(high, value))) / (high - low) * (height - above - below);
    const svg = shape("svg", {viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": title});
    for (const tick of y_ticks) {
      svg.append(shape("line", {class: "grid", x1: left, x2: width, y1: y(tick), y2: y(tick)}));
      svg.append(shape("text", {x: left - 6, y: y(tick) + 3.5, "text-anchor": "end"}, text(tick)));
    }
    const x_ticks = last - first < 1 ? [first] : ticks(first, last, width / 75).filter(Number.isInteger);
    for (const tick of x_ticks)
      svg.append(shape("text", {x: x(tick), y: height - 4, "text-anchor": x(tick) > width - 24 ? "end" : "middle"},
                       tick.toLocaleString("en")));
    svg.append(shape("line", {class: "axis", x1: left, x2: width, y1: height - below, y2: height - below}));
    for (const mark of marks.filter((at) => at > first && at < last))
      svg.append(shape("line", {class: "cross", x1: x(mark), x2: x(mark), y1: above, y2: height - below}));
    for (const each of given) {
      svg.append(shape("path", {d: line_of(each, x, y), fill: "none", stroke: each.color, "stroke-linejoin": "round",
                                "stroke-width": each.faint ? 1 : 2, opacity: each.faint ? 0.35 : 1}));
      const only = each.x.length === 1;
      if (each.dots || only) each.x.forEach((at, i) => is_number(each.y[i]) &&
        svg.append(shape("circle", {cx: x(at), cy: y(each.y[i]), r: 3.5, fill: each.color})));
    }
    const cross = shape("line", {class: "cross", y1: above, y2: height - below, visibility: "hidden"});
    svg.append(cross);
    plot.replaceChildren(svg);
    return {x, cross, width};
  }

  let drawn = null;
  new ResizeObserver(() => { if (!drawn || drawn.width !== plot.clientWidth) drawn = draw(); }).observe(plot);
  const tip = element("div", {class: "tip number"});
  function point(event) {
    if (!drawn) return;
    const at = event.clientX - plot.getBoundingClientRect().left;
    const all = [...new Set(xs)];
    const step = all.reduce((best, value) => Math.abs(drawn.x(value) - at) < Math.abs(drawn.x(best) - at) ? value : best);
    const rows = shown.map((each) => {
      const i = each.x.findIndex((value) => value >= step);
      return i < 0 || !is_number(each.y[i]) || (each.dots && each.x[i] !== step) ? null : element("div", {class: "data"},
        element("i", {style: `background:${each.color}`}), shown.length > 1 ? each.name + " " : "", text(each.y[i]));
    });
    tip.replaceChildren(element("div", {class: "soft"}, "step " + step.toLocaleString("en")), ...rows.filter(Boolean));
    plot.append(tip);
    const place = drawn.x(step);
    tip.style.left = (place > drawn.width / 2 ? place - tip.offsetWidth - 10 : place + 10) + "px";
    for (const name of ["x1", "x2"]) drawn.cross.setAttribute(name, place);
    drawn.cross.setAttribute("visibility", "visible");
  }
  function leave() {
    tip.remove();
    if (drawn) drawn.cross.setAttribute("visibility", "hidden");
  }
  plot.addEventListener("pointermove", point);
  plot.addEventListener("pointerdown", point);
  plot.addEventListener("pointerleave", leave);
  return card;
}

// Rows of {name, share, text} as horizontal bars; the longest is as long as `full`, or the largest share.
function bars(rows, fill, full) {
  const most = full || Math.max(...rows.map((row) => row.share), 1e-9);
  return element("div", {class: "bars"}, rows.map((row) => [
    element("span", {class: "data"}, row.name),
    element("span", {class: "number soft text"}, row.text),
    element("div", {class: "bar"}, element("div", {style: `width:${Math.min(100, 100 * row.share / most)}%;background:${fill}`}))]));
}

function table(head, rows, numeric_from) {
  const kind = (i) => (i >= numeric_from ? {class: "number data"} : {class: i === 0 ? "name data" : "value data"});
  return element("div", {class: "scroll"}, element("table", {},
    head ? element("thead", {}, element("tr", {}, head.map((cell, i) => element("th", kind(i), cell)))) : null,
    element("tbody", {}, rows.map((row) => element("tr", row.best ? {class: "best"} : {},
      (row.cells || row).map((cell, i) => element("td", kind(i), cell)))))));
}
