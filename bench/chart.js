// SPDX-License-Identifier: BSD-3-Clause
// Drawing: scales, ticks, one chart as SVG (lines over x, or bars where there is one x), and its hovering.
"use strict";

const kSvg = "http://www.w3.org/2000/svg";
const kMarks = ["circle", "square", "triangle", "diamond", "circle", "square"];

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on"))
      made.addEventListener(key.slice(2), value);
    else if (value !== undefined)
      made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function shape(name, attributes = {}, text) {
  const made = document.createElementNS(kSvg, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function short(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6) return `${+ (value / 1e6).toPrecision(3)}M`;
  if (size >= 1e4) return `${+ (value / 1e3).toPrecision(3)}k`;
  return `${+ value.toPrecision(3)}`;
}

function binary(n) {
  if (n >= 1 << 20 && n % (1 << 20) === 0) return `${n >> 20}M`;
  if (n >= 1 << 10 && n % (1 << 10) === 0) return `${n >> 10}K`;
  return `${n}`;
}

const shownX = (figure, x) => (figure.xName === "bytes" ? binary(x) : `${x}`);

// {at(value) -> pixel, low, high, log}. A logarithmic one needs values above 0.
function scale(values, log, from, to, pad) {
  let low = Math.min(...values), high = Math.max(...values);
  if (log) {
    low /= pad, high *= pad;
    if (low === high) low /= 2, high *= 2;
    const a = Math.log(low), b = Math.log(high);
    return {low, high, log, at: (v) => from + (Math.log(v) - a) / (b - a) * (to - from)};
  }
  if (pad !== 1) low = Math.min(0, low), high += (high - low) * 0.06;
  if (low === high) high = low + 1;
  return {low, high, log, at: (v) => from + (v - low) / (high - low) * (to - from)};
}

function ticks({low, high, log}) {
  const found = [];
  if (log) {
    const decades = Math.log10(high / low);
    const steps = decades > 3.2 ? [1] :
        decades > 1.3           ? [1, 3] :
        decades > 0.5           ? [1, 2, 5] :
                                  [1, 1.2, 1.5, 2, 3, 4, 5, 7];
    for (let d = Math.floor(Math.log10(low)); d <= Math.log10(high); d++)
      for (const step of steps) {
        const value = step * 10 ** d;
        if (value >= low && value <= high) found.push(value);
      }
    return found;
  }
  const raw = (high - low) / 5, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw);
  for (let value = Math.ceil(low / step) * step; value <= high; value += step)
    found.push(+value.toPrecision(10));
  return found;
}

function mark(kind, x, y, r, colour) {
  const style = {fill: colour, stroke: "var(--card)", "stroke-width": 1};
  if (kind === "square") return shape("rect", {x: x - r, y: y - r, width: 2 * r, height: 2 * r, ...style});
  if (kind === "circle") return shape("circle", {cx: x, cy: y, r: r * 1.1, ...style});
  const s = r * 1.4;
  const points =
      kind === "triangle" ? [[0, -s], [s, s * 0.8], [-s, s * 0.8]] : [[0, -s], [s, 0], [0, s], [-s, 0]];
  return shape("polygon", {points: points.map(([a, b]) => `${x + a},${y + b}`).join(" "), ...style});
}

// Frame, grid, ticks. box: {left, right, top, bottom}.
function drawAxes(svg, box, x, y, figure, xs) {
  for (const value of ticks(y)) {
    const at = y.at(value);
    svg.append(shape("line", {x1: box.left, x2: box.right, y1: at, y2: at, class: "gridline"}));
    svg.append(shape("text", {x: box.left - 6, y: at + 4, "text-anchor": "end"}, short(value)));
  }
  let last = -1e9;
  for (const value of x.log ? xs : ticks(x)) {
    const at = x.at(value), label = shownX(figure, value);
    if (at - last < 10 + 6.5 * label.length) continue;
    last = at;
    svg.append(shape("line", {x1: at, x2: at, y1: box.bottom, y2: box.bottom + 4, class: "axis"}));
    svg.append(shape("text", {x: at, y: box.bottom + 17, "text-anchor": "middle"}, label));
  }
  svg.append(shape("line", {x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom, class: "axis"}));
  svg.append(shape("text", {x: box.right, y: box.bottom + 32, "text-anchor": "end"}, figure.xName));
}

function drawSeries(svg, name, look, points, x, y, spread) {
  const colour = look.colour(name), ours = look.ours === name;
  if (spread && points.length > 1) {
    const up = points.map((p) => `${x.at(p.x)},${y.at(p.most)}`);
    const down = points.map((p) => `${x.at(p.x)},${y.at(p.least)}`).reverse();
    svg.append(shape("polygon", {points: [...up, ...down].join(" "), fill: colour, opacity: 0.14}));
  }
  const path = points.map((p) => `${x.at(p.x).toFixed(1)},${y.at(p.value).toFixed(1)}`).join(" ");
  svg.append(shape("polyline", {
    points: path,
    fill: "none",
    stroke: colour,
    "stroke-width": ours ? 2.6 : 1.6,
    "stroke-linejoin": "round"
  }));
  for (const p of points) svg.append(mark(look.mark(name), x.at(p.x), y.at(p.value), ours ? 3.6 : 3, colour));
}

// A line chart. look: {names, ours, colour(), mark(), title()}; view: {logX, logY, spread, ratio};
// read(point, name) -> {x, value, least, most} or null; hover(point, event) and leave().
function lineChart(figure, look, view, read, size, hover, leave) {
  const box = {left: 52, right: size.width - 10, top: 10, bottom: size.height - 38};
  const svg = shape("svg", {
    viewBox: `0 0 ${size.width} ${size.height}`,
    tabindex: 0,
    role: "img",
    "aria-label": `${figure.metric}, ${figure.group}`
  });
  const series =
      new Map(look.names.map((name) => [name, figure.points.map((p) => read(p, name)).filter(Boolean)]));
  const all = [...series.values()].flat();
  if (!all.length) return svg;
  const values = all.flatMap((p) => (view.spread ? [p.value, p.least, p.most] : [p.value]));
  if (view.ratio) values.push(1);
  const logY = view.logY && Math.min(...values) > 0, xs = figure.points.map((p) => p.x);
  const x = scale(xs, view.logX && Math.min(...xs) > 0, box.left + 8, box.right - 8, 1);
  const y = scale(values, logY, box.bottom, box.top, 1.12);
  drawAxes(svg, box, x, y, figure, xs);
  if (view.ratio)
    svg.append(shape("line", {x1: box.left, x2: box.right, y1: y.at(1), y2: y.at(1), class: "one"}));
  for (const name of [...look.names].reverse())
    drawSeries(svg, name, look, series.get(name), x, y, view.spread);
  const cross = shape("line", {y1: box.top, y2: box.bottom, class: "cross"});
  svg.append(cross);
  let chosen = -1;
  const choose = (index, event) => {
    chosen = index;
    cross.setAttribute("x1", x.at(xs[index])), cross.setAttribute("x2", x.at(xs[index]));
    cross.style.visibility = "visible";
    hover(figure.points[index], event, svg);
  };
  const away = () => {
    cross.style.visibility = "hidden", chosen = -1, leave();
  };
  svg.addEventListener("pointermove", (event) => {
    const area = svg.getBoundingClientRect(), at = (event.clientX - area.left) * size.width / area.width;
    choose(
        xs.reduce((best, v, i) => (Math.abs(x.at(v) - at) < Math.abs(x.at(xs[best]) - at) ? i : best), 0),
        event);
  });
  svg.addEventListener("pointerleave", away);
  svg.addEventListener("blur", away);
  svg.addEventListener("keydown", (event) => {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!step) return;
    event.preventDefault();
    choose(Math.min(xs.length - 1, Math.max(0, chosen + step)), null);
  });
  return svg;
}

// One row for each MPI where a figure has one x: bars from 0, or points on a logarithmic axis where they are
// far apart.
function barChart(figure, look, view, read, size, hover, leave) {
  const point = figure.points[0],
        rows = look.names.map((name) => [name, read(point, name)]).filter((r) => r[1]);
  const step = 30, left = 104, right = size.width - 62, bottom = 4 + step * rows.length, height = bottom + 22;
  const svg = shape("svg", {
    viewBox: `0 0 ${size.width} ${height}`,
    tabindex: 0,
    role: "img",
    "aria-label": `${figure.metric}, ${figure.group}`
  });
  if (!rows.length) return svg;
  const values = rows.flatMap(([, p]) => (view.spread ? [p.value, p.least, p.most] : [p.value]))
                     .concat(view.ratio ? 1 : []);
  const log = view.logY && Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) > 20;
  const x = scale(log ? values : [0, ...values], log, left, right, log ? 1.3 : 1);
  let last = -1e9;
  for (const value of ticks(x)) {
    const at = x.at(value), label = short(value);
    svg.append(shape("line", {x1: at, x2: at, y1: 2, y2: bottom, class: "gridline"}));
    if (at - last < 12 + 6.5 * label.length) continue;
    last = at;
    svg.append(shape("text", {x: at, y: bottom + 15, "text-anchor": "middle"}, label));
  }
  rows.forEach(([name, p], i) => {
    const top = 2 + step * i, middle = top + step / 2, colour = look.colour(name);
    svg.append(shape("text", {x: left - 8, y: middle + 4, "text-anchor": "end"}, look.title(name)));
    if (!log)
      svg.append(shape("rect", {
        x: left,
        y: top + 6,
        width: Math.max(1, x.at(p.value) - left),
        height: step - 12,
        rx: 2,
        fill: colour,
        opacity: look.ours === name ? 1 : 0.75
      }));
    if (view.spread && p.most > p.least)
      svg.append(shape("line", {
        x1: x.at(p.least),
        x2: x.at(p.most),
        y1: middle,
        y2: middle,
        stroke: log ? colour : "var(--ink)",
        "stroke-width": log ? 3 : 1.5,
        opacity: log ? 0.5 : 1
      }));
    if (log) svg.append(mark(look.mark(name), x.at(p.value), middle, 4.5, colour));
    const end = Math.max(x.at(p.value), view.spread ? x.at(p.most) : 0);
    svg.append(shape("text", {x: end + 8, y: middle + 4, class: "value"}, short(p.value)));
  });
  if (view.ratio) svg.append(shape("line", {x1: x.at(1), x2: x.at(1), y1: 0, y2: bottom, class: "one"}));
  svg.addEventListener("pointermove", (event) => hover(point, event, svg));
  svg.addEventListener("pointerleave", leave);
  return svg;
}
