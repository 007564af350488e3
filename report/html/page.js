"use strict";
// Puts the pictures on the page: draws them when they come near, moves the cursor through all that share one, and
// follows the switches. Every text goes in by textContent.
//
// Hooks for tests are listed in report/html.go.

(() => {
  const { charts, colours } = JSON.parse(document.getElementById("data").textContent);
  const chartOf = (figure) => charts[figure.dataset.chart];
  const figures = [...document.querySelectorAll("figure.chart")].filter((f) => chartOf(f));
  const state = { views: {}, bent: true, hidden: new Set(), cursor: {}, zoom: {}, paper: false };
  const drawn = new Map(); // figure -> what is drawn in it
  const live = document.querySelector("[data-role=live]");

  const el = (name, text, attributes) => {
    const e = document.createElement(name);
    if (text !== undefined) e.textContent = text;
    for (const [k, v] of Object.entries(attributes || {})) e.setAttribute(k, v);
    return e;
  };
  const pictureOf = (chart) => chart.views[chart.switch ? state.views[chart.switch] : ""];
  const shown = (run) => !state.hidden.has(run);
  const linkOf = (figure) => chartOf(figure).link || figure.dataset.chart;

  // ---- drawing

  const PAPER_WIDTH = 680; // px: an A4 page with margins
  const PAPER_FINER = 3; // times as many dots as on a screen

  function draw(figure) {
    const chart = chartOf(figure), plot = figure.querySelector(".plot");
    erase(figure);
    plot.replaceChildren();
    const picture = pictureOf(chart);
    const why = !picture ? "Nothing to show here for this choice." : picture.empty || (picture.series.every((s) => s.run !== undefined && !shown(s.run)) ? "No strategy is chosen." : "");
    if (why) {
      plot.append(el("p", why, { class: "empty", "data-role": "empty" }));
      for (const name of ["role", "tabindex", "aria-label", "aria-valuenow", "aria-valuetext"]) plot.removeAttribute(name);
      drawn.set(figure, null);
      return;
    }
    const width = widthOf(figure, plot);
    const k = state.paper ? PAPER_FINER : 1;
    const { data, options } = plotOf(chart, picture, { k, colours, bent: state.bent, shown, small: width < 420, zoom: state.paper ? undefined : state.zoom[linkOf(figure)] });
    const u = new uPlot({ ...options, width: width * k, height: chart.height * k }, data, plot);
    if (k > 1) {
      u.root.style.transform = "scale(" + 1 / k + ")";
      plot.style.height = chart.height + "px";
    }
    u.root.setAttribute("aria-hidden", "true");
    const line = el("div", undefined, { class: "cursor" });
    line.hidden = true;
    u.over.append(line);
    const places = placesIn(chart, picture);
    drawn.set(figure, { u, line, chart, picture, places, width, each: widthIn(picture) });
    for (const [k, v] of Object.entries({ role: "slider", tabindex: "0", "aria-label": "Cursor in: " + (chart.name || chart.title), "aria-valuemin": 0, "aria-valuemax": Math.max(0, places.length - 1), "aria-valuenow": 0, "aria-valuetext": "not set" })) plot.setAttribute(k, v);
    plot.dataset.drawn = "true";
    queueMicrotask(() => { if (drawn.get(figure)?.u === u) show(figure, state.cursor[linkOf(figure)]); }); // uPlot has its size only then
  }

  const widthOf = (figure, plot) => (state.paper ? (figure.parentElement.classList.contains("pair") ? PAPER_WIDTH / 2 - 8 : PAPER_WIDTH) : Math.max(240, Math.floor(plot.clientWidth)));

  function erase(figure) {
    const d = drawn.get(figure);
    if (d) d.u.destroy();
    figure.querySelector(".plot").style.height = "";
    drawn.delete(figure);
  }

  const redraw = (which) => {
    for (const f of [...drawn.keys()]) if (!which || which(chartOf(f), f)) draw(f);
  };

  // ---- the cursor

  // Where a cursor can stand: at every bar, window or point.
  function placesIn(chart, picture) {
    const all = new Set();
    for (const s of picture.series) if (s.run === undefined || shown(s.run)) for (const x of placesOf(s)) all.add(x);
    return [...all].sort((a, b) => a - b);
  }

  // The last place at or before x; along percentiles the nearest after it.
  function placeAt(places, x) {
    let low = 0, high = places.length - 1;
    while (low < high) {
      const mid = (low + high + 1) >> 1;
      if (places[mid] <= x) low = mid; else high = mid - 1;
    }
    return low;
  }

  // Puts the cursor of all charts with this link at x; undefined takes it away.
  function point(figure, x) {
    const link = linkOf(figure);
    if (state.cursor[link] === x) return;
    state.cursor[link] = x;
    for (const f of drawn.keys()) if (drawn.get(f) && linkOf(f) === link) show(f, x);
  }

  function show(figure, x) {
    const d = drawn.get(figure), readout = figure.querySelector("[data-role=readout]"), plot = figure.querySelector(".plot");
    if (!d) return;
    d.line.hidden = x === undefined;
    if (x === undefined) {
      readout.textContent = NBSP;
      delete readout.dataset.at;
      return;
    }
    const i = placeAt(d.places, x), over = d.each > 0 && x >= d.places[i] + d.each;
    const at = over ? Math.floor(x / d.each) * d.each : d.places[i], middle = d.each ? Math.max(at, Math.min(x, at + d.each)) : at;
    const left = d.u.valToPos(middle, "x");
    d.line.hidden = left < -1 || left > d.u.over.clientWidth + 1;
    d.line.style.transform = "translateX(" + Math.round(left) + "px)";
    const bars = d.chart.buckets && d.picture.series[0].style === "bar";
    const text = over ? moment(at) + ": over by then" : bars ? barWords(d, i) : lineWords(d, at);
    readout.textContent = text;
    readout.dataset.at = String(at);
    plot.setAttribute("aria-valuenow", i);
    plot.setAttribute("aria-valuetext", text);
  }

  // One bar in words.
  function barWords(d, i) {
    const b = d.chart.buckets, from = i * d.each, total = b.total[i];
    const span = moment(from) + " to " + moment(from + d.each);
    const over = b.capacity > 0 ? " (" + times(total / b.capacity) + " capacity)" : "";
    const parts = d.picture.series.length > 1 ? ": " + d.picture.series.map((s) => count(s.y[i] || 0) + " " + s.name).join(", ") : "";
    const outage = (d.chart.windows || []).filter((w) => w.from < from + d.each && w.to > from).map((w) => "; " + w.label).join("");
    if (b.merged === 1 && !total) return span + ": no arrivals" + outage;
    if (b.merged === 1) return span + ": " + count(total) + (total === 1 ? " arrival" : " arrivals") + over + parts + outage;
    if (!b.sum[i]) return span + ": no arrivals" + outage;
    return span + ": fullest bucket " + count(total) + " at " + moment(b.at[i]) + over + parts + "; " + count(b.sum[i]) + " in all of it" + outage;
  }

  // All lines at one place in words.
  function lineWords(d, at) {
    const x = d.picture.x || d.chart.x, y = d.picture.y || d.chart.y;
    const span = d.each ? written(x.unit, at) + " to " + written(x.unit, at + d.each) : written(x.unit, at);
    const parts = d.picture.series.filter((s) => s.run === undefined || shown(s.run)).map((s) => {
      const xs = placesOf(s), i = placeAt(xs, at);
      const inside = xs.length > 0 && xs[i] <= at && (s.width ? at < xs[i] + s.width : at <= xs[xs.length - 1]);
      return s.name + " " + written(y.unit, inside ? valueAt(d, s, xs, i, at) : null);
    });
    return span + ": " + parts.join(", ");
  }

  // Between two points of a line its value is what the line shows.
  function valueAt(d, s, xs, i, at) {
    if (s.style !== "line" || xs[i] === at || i + 1 >= xs.length) return s.y[i];
    const log = (d.picture.x || d.chart.x).unit === "quantile" ? Math.log : (v) => v;
    return s.y[i] + ((s.y[i + 1] - s.y[i]) * (log(at) - log(xs[i]))) / (log(xs[i + 1]) - log(xs[i]));
  }

  function listen(figure) {
    const plot = figure.querySelector(".plot");
    const move = (e) => {
      const d = drawn.get(figure);
      if (!d) return;
      const box = d.u.over.getBoundingClientRect(), left = e.clientX - box.left;
      if (left < 0 || left > box.width) return;
      point(figure, d.u.posToVal(left, "x"));
    };
    plot.addEventListener("pointermove", move);
    plot.addEventListener("pointerdown", (e) => { move(e); if (e.button === 0 && e.pointerType !== "touch") drag(figure, e); });
    plot.addEventListener("dblclick", () => zoom(figure, undefined));
    plot.addEventListener("pointerleave", (e) => { if (e.pointerType === "mouse" && document.activeElement !== plot) point(figure, undefined); });
    plot.addEventListener("blur", () => point(figure, undefined));
    plot.addEventListener("keydown", (e) => {
      const d = drawn.get(figure);
      if (!d || e.altKey || e.ctrlKey || e.metaKey) return;
      const last = d.places.length - 1, x = state.cursor[linkOf(figure)];
      const now = x === undefined ? -1 : placeAt(d.places, x);
      const to = { ArrowRight: now + 1, ArrowUp: now + 1, ArrowLeft: now - 1, ArrowDown: now - 1, PageUp: now + 10, PageDown: now - 10, Home: 0, End: last }[e.key];
      if (e.key === "Escape") point(figure, undefined);
      if (e.key === "+" || e.key === "-" || e.key === "0") { e.preventDefault(); zoomAt(figure, d, x, { "+": 0.5, "-": 2, 0: 0 }[e.key]); }
      if (to === undefined) return;
      e.preventDefault();
      const place = d.places[Math.max(0, Math.min(last, to))] + (d.each || 0) / 2;
      follows(figure, place);
      point(figure, place);
    });
    figure.querySelector("details.data").addEventListener("toggle", (e) => { if (e.target.open) fillTable(figure); });
  }

  // ---- the part of the time that is shown

  const back = document.querySelector("[data-role=whole]");
  if (back) back.addEventListener("click", () => { for (const f of figures) if (state.zoom[linkOf(f)]) zoom(f, undefined); });

  // Shows [from, to] in all charts with this link; undefined is all of it.
  function zoom(figure, range) {
    const link = linkOf(figure), focus = document.activeElement;
    if (range) state.zoom[link] = range; else delete state.zoom[link];
    redraw((chart, f) => linkOf(f) === link);
    if (back) back.hidden = Object.keys(state.zoom).length === 0;
    if (focus && focus.classList.contains("plot")) focus.focus();
  }

  // Moves what is shown so that x is in the middle of it, where x would be out of sight.
  function follows(figure, x) {
    const range = state.zoom[linkOf(figure)], d = drawn.get(figure);
    if (!range || x >= range[0] && x <= range[1]) return;
    const width = range[1] - range[0], start = Math.max(0, Math.min((d.picture.x || d.chart.x).max - width, x - width / 2));
    zoom(figure, [start, start + width]);
  }

  // Halves or doubles what is shown, about the cursor; a factor of 0 shows all.
  function zoomAt(figure, d, x, factor) {
    const axis = d.picture.x || d.chart.x, [from, to] = state.zoom[linkOf(figure)] || [0, axis.max];
    if (axis.unit === "quantile") return;
    const width = Math.max((to - from) * factor, (d.each || axis.max / 1e3) * 4);
    const middle = x === undefined ? (from + to) / 2 : x, start = Math.max(0, Math.min(axis.max - width, middle - width / 2));
    zoom(figure, factor === 0 || width >= axis.max ? undefined : [start, start + width]);
  }

  // A stretch that is dragged over is what is shown next.
  function drag(figure, down) {
    const d = drawn.get(figure), box = d && d.u.over.getBoundingClientRect();
    if (!d || (d.picture.x || d.chart.x).unit === "quantile") return;
    const place = (e) => Math.max(0, Math.min(box.width, e.clientX - box.left)), start = place(down);
    const mark = el("div", undefined, { class: "drag" });
    const size = (e) => { mark.style.left = Math.min(start, place(e)) + "px"; mark.style.width = Math.abs(place(e) - start) + "px"; };
    const stop = () => { removeEventListener("pointermove", size); removeEventListener("pointerup", end); removeEventListener("pointercancel", stop); mark.remove(); };
    const end = (e) => {
      stop();
      const [a, b] = [start, place(e)].sort((m, n) => m - n).map((at) => d.u.posToVal(at, "x"));
      if (Math.abs(place(e) - start) > 8 && b - a >= 4 * d.each) zoom(figure, [Math.max(0, a), b]);
    };
    d.u.over.append(mark);
    addEventListener("pointermove", size);
    addEventListener("pointerup", end);
    addEventListener("pointercancel", stop);
  }

  // ---- the tables behind the pictures

  function fillTable(figure) {
    const chart = chartOf(figure), picture = pictureOf(chart), place = figure.querySelector("[data-role=data-table]");
    if (!picture || picture.empty) return place.replaceChildren(el("p", "No figures for this choice."));
    const [head, rows, note] = chart.buckets && picture.series[0].style === "bar" ? barRows(chart, picture) : lineRows(chart, picture);
    const table = el("table"), thead = el("thead"), body = el("tbody"), top = el("tr");
    table.append(el("caption", (chart.name || chart.title) + (note ? ": " + note : "")));
    for (const text of head) top.append(el("th", text, { scope: "col" }));
    thead.append(top);
    for (const row of rows) {
      const tr = el("tr");
      row.forEach((text, i) => tr.append(i ? el("td", text) : el("th", text, { scope: "row" })));
      body.append(tr);
    }
    table.append(thead, body);
    place.replaceChildren(table);
  }

  function barRows(chart, picture) {
    const b = chart.buckets, merged = b.merged > 1;
    const names = picture.series.length > 1 ? picture.series.map((s) => s.name) : [];
    const head = ["from", ...(merged ? ["fullest bucket at"] : []), "arrivals", ...names, ...(merged ? ["arrivals in all " + count(b.merged) + " buckets"] : [])];
    const rows = b.total.map((n, i) => [
      moment(i * widthIn(picture)), ...(merged ? [b.sum[i] ? moment(b.at[i]) : NONE] : []), count(n),
      ...(names.length ? picture.series.map((s) => count(s.y[i] || 0)) : []), ...(merged ? [count(b.sum[i])] : []),
    ]);
    return [head, rows, merged ? "each row is the fullest of " + count(b.merged) + " buckets of " + moment(b.width) : "buckets of " + moment(b.width)];
  }

  function lineRows(chart, picture) {
    const x = picture.x || chart.x, y = picture.y || chart.y;
    if (picture.series.some((s) => s.style === "line")) { // each at places of its own
      const rows = [];
      for (const s of picture.series) placesOf(s).forEach((v, i) => rows.push([s.name, written(x.unit, v), written(y.unit, s.y[i])]));
      return [["", x.label, y.label], rows];
    }
    const values = picture.series.map((s) => new Map(placesOf(s).map((v, i) => [v, s.y[i]])));
    const places = [...new Set(values.flatMap((m) => [...m.keys()]))].sort((a, b) => a - b);
    return [["from", ...picture.series.map((s) => s.name)], places.map((v) => [written(x.unit, v), ...values.map((m) => written(y.unit, m.get(v)))]), "steps of " + written(x.unit, widthIn(picture))];
  }

  // ---- switches

  function follow(name, key) {
    if (name === "scale") state.bent = key === "bent"; else state.views[name] = key;
    for (const e of document.querySelectorAll('[data-of="' + name + '"]')) e.hidden = e.dataset.view !== key;
    redraw((chart) => (name === "scale" ? chart.y.bend : chart.switch === name));
    for (const f of figures) if (chartOf(f).switch === name && f.querySelector("details.data").open) fillTable(f);
  }

  for (const set of document.querySelectorAll("[data-switch]")) {
    set.addEventListener("change", (e) => follow(set.dataset.switch, e.target.value));
    const on = set.querySelector("input:checked");
    if (on) follow(set.dataset.switch, on.value);
  }
  for (const box of document.querySelectorAll("[data-role=runs] input")) {
    box.addEventListener("change", choose);
  }
  for (const name of ["all", "none"]) {
    const button = document.querySelector("button[data-role=" + name + "]");
    if (button) button.addEventListener("click", () => { for (const box of checks()) box.checked = name === "all"; choose(); });
  }

  function checks() { return document.querySelectorAll("[data-role=runs] input"); }

  // What is of strategies that are not chosen goes out of sight, and where nothing is left it is said why.
  function hide() {
    for (const box of checks()) state.hidden[box.checked ? "delete" : "add"](Number(box.value));
    for (const e of document.querySelectorAll("figure[data-run]")) e.hidden = state.hidden.has(Number(e.dataset.run));
    for (const group of document.querySelectorAll(".figures")) {
      const all = [...group.querySelectorAll("figure")], word = group.querySelector(".none");
      const none = all.length > 0 && all.every((e) => e.hidden);
      if (none && !word) group.append(el("p", "No strategy is chosen.", { class: "empty none" }));
      if (!none && word) word.remove();
    }
  }

  function choose() {
    hide();
    redraw();
    for (const f of figures) if (!f.hidden) near.observe(f);
  }
  hide();

  // ---- when to draw

  const near = new IntersectionObserver((entries) => {
    for (const e of entries) {
      if (!e.isIntersecting || e.target.hidden) continue;
      near.unobserve(e.target);
      if (!drawn.has(e.target)) draw(e.target);
    }
  }, { rootMargin: "800px 0px" });
  for (const f of figures) {
    f.querySelector(".plot").style.minHeight = chartOf(f).height + "px";
    listen(f);
    near.observe(f);
  }

  // A table that goes on to the right says so, and no heading that is gone to lies under the toolbar.
  const edge = (s) => s.classList.toggle("more", s.scrollLeft + s.clientWidth < s.scrollWidth - 2);
  const sizes = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.classList.contains("scroll")) edge(target);
      else document.documentElement.style.scrollPaddingTop = getComputedStyle(target).position === "sticky" ? target.offsetHeight + 8 + "px" : "";
    }
  });
  for (const s of document.querySelectorAll(".scroll")) { sizes.observe(s); s.addEventListener("scroll", () => edge(s), { passive: true }); }
  for (const bar of document.querySelectorAll(".toolbar")) sizes.observe(bar);

  let pending = 0;
  addEventListener("resize", () => {
    clearTimeout(pending);
    pending = setTimeout(() => { if (!state.paper) for (const [f, d] of [...drawn]) if (d && d.width !== widthOf(f, f.querySelector(".plot"))) draw(f); }, 120);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw());

  // On paper everything is drawn, light and to the paper's width, and what was closed is open.
  const opened = [];
  addEventListener("beforeprint", () => {
    state.paper = true;
    document.documentElement.classList.add("paper");
    for (const d of document.querySelectorAll("details:not(.data):not(.screen):not([open])")) { d.open = true; opened.push(d); }
    for (const f of figures) if (!f.hidden) draw(f);
  });
  addEventListener("afterprint", () => {
    state.paper = false;
    document.documentElement.classList.remove("paper");
    for (const d of opened.splice(0)) d.open = false;
    redraw();
  });

  live.textContent = "";
  document.documentElement.dataset.ready = "true";
})();
