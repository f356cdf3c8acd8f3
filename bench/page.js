// SPDX-License-Identifier: BSD-3-Clause
// The page: what is shown of the figures, and the controls. What is chosen stands in the address after #, so
// that a view can be kept and passed on.
"use strict";

const kData = JSON.parse(document.getElementById("data").textContent);
const kMeta = kData.meta;
const kNames = kMeta.mpis.map((mpi) => mpi.name);
const kBestOther = "best of the others";
const kRounds = `${kMeta.rounds} round${kMeta.rounds === 1 ? "" : "s"}`;
const kOverview = "Overview", kSettings = "How it was measured";
const state = {
  tab: kOverview,
  group: "",
  metric: "",
  view: "absolute",
  base: kBestOther,
  logX: true,
  logY: true,
  spread: true,
  hidden: [],
  theme: "auto"
};

const $ = (id) => document.getElementById(id);
const titleOf = (name) => (kMeta.mpis.find((mpi) => mpi.name === name) || {title: name}).title;
const look = {
  ours: kMeta.ours,
  title: titleOf,
  colour: (name) => `var(--c${kNames.indexOf(name) % 6})`,
  mark: (name) => kMarks[kNames.indexOf(name) % kMarks.length],
  get names() {
    return kNames.filter((name) => !state.hidden.includes(name));
  },
};

// How good `value` is beside `base`: above 1 is better, whatever the unit.
const better = (figure, value, base) => (figure.more ? value / base : base / value);

function baseOf(figure, point) {
  if (state.base !== kBestOther) return point.values[state.base] ? point.values[state.base][0] : null;
  const others = Object.entries(point.values).filter(([name]) => name !== kMeta.ours).map(([, v]) => v[0]);
  return others.length ? (figure.more ? Math.max(...others) : Math.min(...others)) : null;
}

const asRatio = (figure) => state.view === "ratio" && figure.compared;

function read(figure) {
  return (point, name) => {
    const found = point.values[name];
    if (!found) return null;
    let [value, least, most] = found;
    if (asRatio(figure)) {
      const base = baseOf(figure, point);
      if (!base || !value || !least) return null;
      [value, least, most] = [value, least, most].map((v) => better(figure, v, base));
      if (least > most) [least, most] = [most, least];
    }
    return {x: point.x, value, least, most};
  };
}

function gainOf(figure, point) {
  const ours = point.values[kMeta.ours];
  const others = Object.entries(point.values).filter(([name]) => name !== kMeta.ours).map(([, v]) => v[0]);
  if (!ours || !others.length || !figure.compared) return null;
  const best = figure.more ? Math.max(...others) : Math.min(...others);
  return best > 0 && ours[0] > 0 ? better(figure, ours[0], best) : null;
}

// ---- what is chosen, and the address

function readAddress() {
  for (const [key, value] of new URLSearchParams(location.hash.slice(1))) {
    if (!(key in state)) continue;
    if (typeof state[key] === "boolean")
      state[key] = value === "true";
    else if (Array.isArray(state[key]))
      state[key] = value ? value.split(",") : [];
    else
      state[key] = value;
  }
}

function set(changes) {
  Object.assign(state, changes);
  const words = new URLSearchParams(Object.entries(state).map(([key, value]) => [key, String(value)]));
  history.replaceState(null, "", `#${words}`);
  render();
}

// ---- the tip beside the pointer

function showTip(figure) {
  return (point, event, svg) => {
    const ours = point.values[kMeta.ours];
    const rows =
        Object.entries(point.values).sort((a, b) => (figure.more ? b[1][0] - a[1][0] : a[1][0] - b[1][0]));
    const cells = rows.map(
        ([name, [value, least, most, count]]) => element(
            "tr", {}, element("td", {style: `color:${look.colour(name)}`}, titleOf(name)),
            element("td", {class: "best"}, short(value)),
            element("td", {}, count > 1 ? `${short(least)} to ${short(most)}` : ""),
            element(
                "td", {},
                ours && figure.compared && name !== kMeta.ours && value && ours[0] ?
                    `${short(better(figure, ours[0], value))} times` :
                    "")));
    const head =
        figure.points.length > 1 || point.x ? `${shownX(figure, point.x)} ${figure.xName}` : figure.metric;
    const tip = $("tip");
    tip.replaceChildren(element(
        "table", {},
        element(
            "tr", {}, element("th", {}, head), element("th", {}, figure.unit),
            element("th", {}, rows.some(([, v]) => v[3] > 1) ? "range" : ""),
            element("th", {}, ours && figure.compared && rows.length > 1 ? "ours better" : "")),
        ...cells));
    tip.hidden = false;
    const area = svg.getBoundingClientRect();
    const [x, y] = event ? [event.clientX, event.clientY] : [area.left + 60, area.top + 20];
    tip.style.left = `${Math.min(x + 16, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${y + tip.offsetHeight + 24 > innerHeight ? y - tip.offsetHeight - 12 : y + 16}px`;
  };
}
const hideTip = () => {
  $("tip").hidden = true;
};

// ---- parts of the page

function card(figure, large) {
  const size = large ? {width: 1000, height: 460} : {width: 400, height: 235};
  const view = {logX: state.logX, logY: state.logY, spread: state.spread, ratio: asRatio(figure)};
  const draw = figure.points.length > 1 ? lineChart : barChart;
  const button = element(
      "button", {type: "button", onclick: () => set({metric: large ? "" : figure.metric})},
      large ? "all of them" : "larger");
  const base = state.base === kBestOther ? `the ${kBestOther}` : titleOf(state.base);
  const means = view.ratio ? `${figure.what}; how many times as good as ${base}` :
                             figure.what + (figure.more ? "; more is better" : "");
  const unit = view.ratio ? "ratio" : figure.unit, one = figure.points.length === 1 && figure.points[0].x;
  const where = one ? `, ${shownX(figure, one)} ${figure.xName}` : "";
  return element(
      "section", {class: "card"},
      element(
          "h3", {},
          element(
              "span", {}, figure.metric.replaceAll("_", " "),
              element("span", {class: "soft"}, ` ${unit}${where}`)),
          button),
      element("p", {class: "soft"}, means),
      draw(figure, look, view, read(figure), size, showTip(figure), hideTip));
}

function valuesTable(figure) {
  const head = element(
      "tr", {}, element("th", {}, figure.xName), ...kNames.map((name) => element("th", {}, titleOf(name))),
      kNames.length > 1 ? element("th", {}, "gain") : null);
  const rows = figure.points.map((point) => {
    const medians = Object.values(point.values).map((v) => v[0]);
    const best = figure.more ? Math.max(...medians) : Math.min(...medians), gain = gainOf(figure, point);
    const cells = kNames.map((name) => {
      const v = point.values[name];
      if (!v) return element("td", {}, "-");
      return element(
          "td", {}, element("span", v[0] === best ? {class: "best"} : {}, short(v[0])),
          element("span", {class: "soft"}, v[3] > 1 ? ` ${short(v[1])}..${short(v[2])}` : ""));
    });
    return element(
        "tr", {}, element("td", {}, shownX(figure, point.x)), ...cells,
        kNames.length > 1 ? element("td", {}, gain ? gain.toFixed(2) : "") : null);
  });
  return element("div", {class: "scroll"}, element("table", {}, head, ...rows));
}

function heatColour(gain) {
  const strength = Math.min(1, Math.abs(Math.log2(gain)) / 2) * 0.62 + 0.06;
  return `rgba(var(${gain >= 1 ? "--good" : "--bad"}), ${strength.toFixed(2)})`;
}

function heatmap(group, section, figures) {
  const xName = figures[0].xName;
  const xs = [...new Set(figures.flatMap((f) => f.points.map((p) => p.x)))].sort((a, b) => a - b);
  const rows = figures.map(
      (figure) => element("tr", {}, element("td", {}, figure.metric.replaceAll("_", " ")), ...xs.map((x) => {
        const point = figure.points.find((p) => p.x === x), gain = point && gainOf(figure, point);
        if (!gain) return element("td", {});
        return element(
            "td", {},
            element(
                "button", {
                  type: "button",
                  style: `background:${heatColour(gain)}`,
                  onclick: () => {
                    hideTip();
                    set({tab: figure.section, group, metric: figure.metric});
                  },
                  onpointermove: (event) => showTip(figure)(point, event, event.target),
                  onpointerleave: hideTip
                },
                gain >= 9.95 ? gain.toFixed(0) : gain.toFixed(2)));
      })));
  const label = (x) => (xName === "bytes" ? (x === 0 ? "none" : binary(x)) : `${x}`);
  return element(
      "div", {}, element("h2", {}, `${group === "starting" ? "" : `${group}: `}${section.toLowerCase()}`),
      element(
          "div", {class: "scroll"},
          element(
              "table", {class: "heat"},
              element(
                  "tr", {}, element("th", {}, `by ${xName}`), ...xs.map((x) => element("th", {}, label(x)))),
              ...rows)));
}

function rawChart() {
  const values = kData.raw.map(([, us]) => us);
  if (values.length < 2) return null;
  const points = values.map((us, i) => ({x: i + 1, values: {raw: [us, us, us, 1]}}));
  const figure = {metric: "bare cache line", group: "raw", unit: "us", xName: "run", more: false, points};
  const plain =
      {names: ["raw"], ours: "raw", colour: () => "var(--soft)", mark: () => "circle", title: () => "raw"};
  const svg = lineChart(
      figure, plain, {logX: false, logY: false, spread: false, ratio: false},
      (p) => ({x: p.x, value: p.values.raw[0], least: 0, most: 0}), {width: 1000, height: 170}, () => {},
      () => {});
  return element(
      "section", {class: "card"}, element("h3", {}, "The bare cache line just before each run"),
      element(
          "p", {class: "soft"},
          "one way between two cores, in us: where it jumps, the machine itself was slower, for all"),
      svg);
}

function overview() {
  const gains =
      kData.figures.flatMap((f) => f.points.map((p) => gainOf(f, p))).filter(Boolean).sort((a, b) => a - b);
  const raw = kData.raw.map(([, us]) => us).sort((a, b) => a - b);
  const tile = (value, words) =>
      element("div", {class: "tile"}, element("b", {}, value), element("span", {}, words));
  const tiles = [tile(`${kData.figures.reduce((n, f) => n + f.points.length, 0)}`, "figures")];
  if (gains.length) {
    tiles.push(tile(
        `${gains.filter((g) => g > 1).length} of ${gains.length}`,
        `${titleOf(kMeta.ours)} ahead of the best of the others`));
    tiles.push(tile(gains[gains.length >> 1].toFixed(2), "median gain"));
  }
  if (raw.length)
    tiles.push(tile(
        `${raw[raw.length >> 1].toPrecision(3)} us`,
        `bare cache line (${raw[0].toPrecision(3)} to ${raw[raw.length - 1].toPrecision(3)})`));
  const parts = [element("div", {class: "tiles"}, ...tiles)];
  parts.push(...problems());
  if (gains.length) {
    parts.push(element(
        "p", {class: "soft", style: "margin-top:18px"},
        `How many times better ${titleOf(kMeta.ours)} is than the best of the others: above 1 (green) ` +
            "it is ahead, below (orange) behind. A cell leads to its chart."));
    const groups = new Map();
    for (const f of kData.figures.filter((figure) => figure.compared)) {
      const key = JSON.stringify([f.group, f.section]);
      groups.set(key, [...(groups.get(key) || []), f]);
    }
    parts.push(element(
        "div", {class: "maps"},
        ...[...groups].map(([key, figures]) => heatmap(...JSON.parse(key), figures))));
  } else {
    parts.push(element(
        "p", {style: "margin-top:18px"},
        "One MPI alone: there is nothing to compare. The other tabs have its figures."));
  }
  return parts;
}

function problems() {
  if (!kData.problems.length)
    return [element(
        "p", {class: "soft", style: "margin-top:12px"},
        "Every result was checked; all were right, and no run failed.")];
  return [
    element("h2", {}, "What went wrong"),
    element(
        "ul", {},
        ...kData.problems.map(
            (p) => element(
                "li", {class: p.what.startsWith("WRONG") ? "wrong" : ""},
                `${titleOf(p.mpi)}, ${p.group}: ${p.what}`)))
  ];
}

function settings() {
  const row = (...cells) => element("tr", {}, ...cells.map((c) => element("td", {}, c)));
  const code = (text) => element("code", {}, text);
  const mpis = kMeta.mpis.map((mpi) => row(mpi.title, mpi.library, code(mpi.fits), code(mpi.crowd)));
  return [
    element("h2", {}, "The MPIs and their settings"),
    element(
        "div", {class: "scroll"},
        element(
            "table", {class: "text"},
            element(
                "tr", {},
                ...["", "what it says of itself", "settings", "with more ranks than cores"].map(
                    (t) => element("th", {}, t))),
            ...mpis)),
    element("h2", {}, "How"),
    element(
        "p", {},
        `${kRounds}; in each, every run was done with every MPI in turn, nobody always first. ` +
            "A figure is the median, its range goes from the least to the most of all rounds. One figure " +
            `of one round repeats its operation for some ${kMeta.milliseconds} ms. Buffers are filled with ` +
            "a pattern, and results checked, before and after."),
    kMeta.load === undefined ? null : element("p", {}, `Load of the machine before: ${kMeta.load}.`),
    element("p", {}, code(kMeta.command)),
    kMeta.environment && kMeta.environment.length ?
        element("p", {}, "Set in the environment, for all: ", code(kMeta.environment.join(" "))) :
        null,
    ...problems(), element("div", {style: "height:14px"}), rawChart()
  ].filter(Boolean);
}

function choice(label, value, options, change) {
  return element(
      "label", {}, label,
      element(
          "select", {onchange: (event) => change(event.target.value)},
          ...options.map(
              ([key, text]) =>
                  element("option", key === value ? {value: key, selected: ""} : {value: key}, text))));
}
const tick = (label, key) => element(
    "label", {}, element("input", {
      type: "checkbox",
      ...(state[key] ? {checked: ""} : {}),
      onchange: (event) => set({[key]: event.target.checked})
    }),
    label);

function legend() {
  return element("span", {id: "legend"}, ...kNames.map((name) => {
    const icon = shape("svg", {width: 18, height: 12, "aria-hidden": "true"});
    icon.append(
        shape("line", {x1: 0, x2: 18, y1: 6, y2: 6, stroke: look.colour(name), "stroke-width": 2}),
        mark(look.mark(name), 9, 6, 3.6, look.colour(name)));
    const hidden = state.hidden.includes(name);
    return element(
        "button", {
          type: "button",
          "aria-pressed": String(!hidden),
          title: "show or hide",
          onclick: () =>
              set({hidden: hidden ? state.hidden.filter((n) => n !== name) : [...state.hidden, name]})
        },
        icon, titleOf(name));
  }));
}

function controls(groups, figures) {
  const metrics = [["", "all"], ...figures.map((f) => [f.metric, f.metric.replaceAll("_", " ")])];
  const many = kNames.length > 1;
  return [
    choice("run", state.group, groups.map((g) => [g, g]), (group) => set({group})),
    choice("measure", state.metric, metrics, (metric) => set({metric})),
    many ?
        choice(
            "as", state.view, [["absolute", "absolute values"], ["ratio", "ratio"]], (view) => set({view})) :
        null,
    many && state.view === "ratio" ?
        choice(
            "to", state.base, [kBestOther, ...kNames].map((n) => [n, n === kBestOther ? n : titleOf(n)]),
            (base) => set({base})) :
        null,
    tick("log x", "logX"), tick("log y", "logY"), tick("range", "spread"), legend()
  ].filter(Boolean);
}

// ---- all of it

function render() {
  hideTip();
  const root = document.documentElement;
  if (state.theme === "auto")
    root.removeAttribute("data-theme");
  else
    root.setAttribute("data-theme", state.theme);
  $("theme").textContent = {auto: "as the system", light: "light", dark: "dark"}[state.theme] ||
      "as the system";
  const tabs =
      [kOverview, ...kData.sections.filter((s) => kData.figures.some((f) => f.section === s)), kSettings];
  if (!tabs.includes(state.tab)) state.tab = kOverview;
  $("tabs").replaceChildren(...tabs.map(
      (tab) => element(
          "button", {
            type: "button",
            role: "tab",
            "aria-selected": String(tab === state.tab),
            onclick: () => set({tab, metric: ""})
          },
          tab)));
  if (state.tab === kOverview || state.tab === kSettings) {
    $("controls").replaceChildren();
    $("main").replaceChildren(...(state.tab === kOverview ? overview() : settings()));
    return;
  }
  const here = kData.figures.filter((f) => f.section === state.tab),
        groups = [...new Set(here.map((f) => f.group))];
  if (!groups.includes(state.group)) state.group = groups[0];
  const figures = here.filter((f) => f.group === state.group);
  const chosen = figures.find((f) => f.metric === state.metric);
  if (!chosen) state.metric = "";
  $("controls").replaceChildren(...controls(groups, figures));
  $("main").replaceChildren(
      ...(chosen ?
              [
                element("div", {style: "margin-top:14px"}, card(chosen, true)), element("h2", {}, "Values"),
                valuesTable(chosen)
              ] :
              [element("div", {class: "grid"}, ...figures.map((f) => card(f, false)))]));
}

$("title").textContent = kMeta.title;
document.title = `${kMeta.title}: vicinity bench`;
$("about").textContent = `${kMeta.machine}; ${kMeta.date}; ${kRounds}`;
$("footer").textContent = "";
$("theme").addEventListener(
    "click", () => set({theme: {auto: "light", light: "dark", dark: "auto"}[state.theme] || "auto"}));
addEventListener("hashchange", () => {
  readAddress();
  render();
});
readAddress();
render();
