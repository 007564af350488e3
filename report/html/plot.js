"use strict";
// Draws one picture of a chart with uPlot. What a chart is, report/html_chart.go says.

// The looks of the runs, which repeat: a colour and a dash, so that neither is the only sign.
const DASHES = [[], [8, 4], [2, 3], [12, 3, 2, 3], [5, 2], [14, 5], [1, 2], [9, 2, 2, 2, 2, 2]];

// Colours come from page.css, in the scheme that the reader has or, on paper, in the light one.
function palette() {
  const style = getComputedStyle(document.documentElement);
  return (name) => style.getPropertyValue("--" + name).trim();
}

// As Colour and Dash in report/html_page.go: no two of 64 runs have both.
const dashOf = (run, colours) => DASHES[(run + Math.floor(run / colours)) % colours];
const colourOf = (series, colours) => (series.role === "run" ? "run" + (series.run % colours) : series.role);

// The places along x of a series: its own, or one after the other.
const placesOf = (series) => series.x || series.y.map((_, i) => i * series.width);
const widthIn = (picture) => Math.max(0, ...picture.series.map((s) => s.width || 0));

// An axis that is even up to bend, above which each label is twice the last.
const bentForward = (bend) => (v) => (v <= bend ? v / bend : 1 + Math.log2(v / bend));
const bentBackward = (bend) => (v) => (v <= 1 ? v * bend : bend * Math.pow(2, v - 1));

function scaleOf(axis, bent) {
  const range = [axis.unit === "quantile" ? 1 : axis.min || 0, axis.max];
  if (axis.unit === "quantile") return { time: false, distr: 3, log: 10, range };
  if (bent && axis.bend) return { time: false, distr: 100, fwd: bentForward(axis.bend), bwd: bentBackward(axis.bend), range };
  return { time: false, range };
}

// How far along the axis v stands, 0 to 1.
function shareOf(axis, bent, v) {
  const f = axis.unit === "quantile" ? Math.log : bent && axis.bend ? bentForward(axis.bend) : (x) => x;
  const least = f(axis.unit === "quantile" ? 1 : axis.min || 0);
  return (f(v) - least) / (f(axis.max) - least);
}

// Steps of 1, 2 or 5 times a power of ten, about so many.
function evenSplits(min, max, about) {
  const least = (max - min) / about, power = Math.pow(10, Math.floor(Math.log10(least)));
  const step = [1, 2, 5, 10].find((d) => d * power >= least * (1 - 1e-9)) * power;
  const list = [];
  for (let i = Math.ceil(min / step - 1e-9); i * step <= max * (1 + 1e-9); i++) list.push(i * step);
  return list;
}

function splitsOf(axis, bent, pixels, each) {
  if (axis.unit === "quantile") {
    const list = [1, 2];
    for (let x = 10; x <= axis.max * 1.0001; x *= 10) list.push(x);
    return list;
  }
  if (bent && axis.bend) {
    const list = [0, ...(axis.unit !== "count" || Number.isInteger(axis.bend / 2) ? [axis.bend / 2] : []), axis.bend];
    const steps = Math.log2(axis.max / axis.bend), skip = Math.max(1, Math.ceil(steps / 5));
    for (let k = skip; k <= steps + 1e-9; k += skip) list.push(axis.bend * Math.pow(2, k));
    return list;
  }
  const splits = evenSplits(axis.min || 0, axis.max, Math.max(2, Math.floor(pixels / each)));
  return axis.unit === "count" ? splits.filter(Number.isInteger) : splits; // there are no halves of arrivals
}

// The label of a place on an axis; lengths all in one unit, that of the axis' end.
function labelsOf(axis, splits) {
  if (axis.unit === "time" || axis.unit === "length") {
    const [name, one] = UNITS.find((u) => axis.max >= u[1] && (axis.unit === "length" || u[0] === "s" || u[1] < 1e9)) || UNITS[UNITS.length - 1];
    return splits.map((v, i) => decimal(v / one) + (i === splits.length - 1 ? NBSP + name : ""));
  }
  if (axis.unit === "count" || axis.unit === "rate") return splits.map((v) => (v >= 1 && Number.isInteger(+v.toFixed(6)) ? count(v) : v === 0 ? "0" : significant(v)));
  if (axis.unit === "index") return splits.map((v) => decimal(+v.toFixed(6)));
  return splits.map((v) => written(axis.unit, v));
}

// Labels that keep so many pixels from the one before; of two that do not, the later goes, but never the last.
function apart(labels, places, least) {
  const kept = labels.slice();
  for (let i = labels.length - 2, last = labels.length - 1; i >= 0; i--) {
    if (Math.abs(places[i] - places[last]) < least) kept[i] = ""; else last = i;
  }
  return kept;
}

// What stands above a picture, from the bottom up: waves, the judged window, the names of the outages. Room is kept for
// what some picture of the group has, so that all have the same height.
const WAVES = 8, JUDGED = 16, OUTAGES = 16;
const roomAbove = ({ waves, judged, windows }) => 10 + (waves ? WAVES : 0) + (judged ? JUDGED : 0) + (windows ? OUTAGES : 0);

// Boxes of so wide each, which begin where their value stands. One that holds anything is at least a pixel high.
function boxes(width) {
  return (u, at, from, to) => {
    const fill = new Path2D();
    uPlot.orient(u, at, (series, xs, ys, sx, sy, px, py, left, top, w, h) => {
      const floor = py(0, sy, h, top);
      for (let i = from; i <= to; i++) {
        if (!(ys[i] > 0)) continue;
        const a = Math.round(px(xs[i], sx, w, left)), b = Math.round(px(xs[i] + width, sx, w, left));
        const gap = b - a > 6 ? 1 : 0;
        const y = Math.min(Math.round(py(ys[i], sy, h, top)), floor - 1);
        fill.rect(a, y, Math.max(1, b - a - gap), floor - y);
      }
    });
    return { fill, stroke: null, clip: null, band: null, gaps: null, flags: 0 };
  };
}

// The outline of such boxes.
function steps(width) {
  return (u, at, from, to) => {
    const stroke = new Path2D();
    uPlot.orient(u, at, (series, xs, ys, sx, sy, px, py, left, top, w, h) => {
      let open = false;
      for (let i = from; i <= to; i++) {
        if (ys[i] === null || ys[i] === undefined) { open = ys[i] === undefined && open; continue; }
        const a = px(xs[i], sx, w, left), b = px(xs[i] + width, sx, w, left), y = py(ys[i], sy, h, top);
        if (open) stroke.lineTo(a, y); else stroke.moveTo(a, y);
        stroke.lineTo(b, y);
        open = true;
      }
    });
    return { stroke, fill: null, clip: null, band: null, gaps: null, flags: 0 };
  };
}

// Stacked values: each series with all that lie below it, and the highest first, so that the lower are drawn over it.
function stacked(series) {
  const sums = [];
  let below = null;
  for (const s of series) {
    below = s.y.map((v, i) => (v || 0) + (below ? below[i] : 0));
    sums.push(below);
  }
  return sums.reverse();
}

// What uPlot needs: the options without the size, and the data.
function plotOf(chart, picture, settings) {
  const { colours, bent, shown, small, zoom, k } = settings; // k: how many times finer than on the screen
  const pal = palette();
  const whole = picture.x || chart.x, x = zoom ? { ...whole, min: zoom[0], max: zoom[1] } : whole, y = picture.y || chart.y;
  const visible = picture.series.filter((s) => s.run === undefined || shown(s.run));
  const bars = visible.filter((s) => s.style === "bar"), others = visible.filter((s) => s.style !== "bar");
  const barSeries = bars.slice().reverse();
  const tables = [];
  if (bars.length) tables.push([placesOf(bars[0]), ...stacked(bars)]);
  for (const s of others) tables.push([placesOf(s), s.y]);
  const data = tables.length > 1 ? uPlot.join(tables) : tables[0] || [[0], [null]];
  const line = (s) => ({
    scale: "y", stroke: pal(colourOf(s, colours)), width: (s.style === "line" ? 2 : 1.75) * k, points: { show: false }, spanGaps: true,
    dash: (s.role === "run" ? dashOf(s.run, colours) : s.role === "theory" ? [6, 3] : []).map((n) => n * k),
    paths: s.style === "step" ? steps(s.width) : uPlot.paths.linear(),
  });
  const bar = (s) => ({ scale: "y", fill: pal(colourOf(s, colours)), width: 0, points: { show: false }, paths: boxes(s.width) });
  const font = (small ? 11 : 12) * k + "px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
  const pixels = (u, side) => (side === 2 ? u.bbox.width : u.bbox.height) / uPlot.pxRatio / k;
  const axis = (of, side, space) => ({
    side, stroke: pal("ink2"), font, labelFont: font, label: side === 2 && of.unit !== "time" ? of.label : undefined, labelSize: 18 * k, gap: 4 * k, size: (side === 2 ? 26 : small ? 50 : 58) * k,
    grid: { show: true, stroke: pal("grid"), width: k }, ticks: { show: true, stroke: pal("grid"), width: k, size: 4 * k },
    splits: (u) => splitsOf(of, bent, pixels(u, side), space),
    values: (u, splits) => apart(labelsOf(of, splits), splits.map((v) => shareOf(of, bent, v) * pixels(u, side)), side === 2 ? 34 : 14), filter: (u, splits) => splits, incrs: [of.max * 1e3],
  });
  return {
    data,
    options: {
      scales: { x: scaleOf(x, bent), y: scaleOf(y, bent) },
      axes: [axis(x, 2, 80), axis(y, 3, 28)],
      series: [{ scale: "x" }, ...(visible.length ? [...barSeries.map(bar), ...others.map(line)] : [{ scale: "y", show: false }])],
      legend: { show: false }, cursor: { show: false }, padding: [roomAbove(chart.above) * k, 22 * k, 0, 0],
      hooks: { drawClear: [(u) => under(u, chart, pal, k)], draw: [(u) => over(u, chart, y, { pal, font, k })] },
    },
  };
}

// Where [from, to) is drawn, in pixels of the canvas: two at least, and the same place twice outside the picture.
function edges(u, from, to) {
  const left = u.bbox.left, right = left + u.bbox.width;
  const a = u.valToPos(from, "x", true), b = Math.max(a + 2 * uPlot.pxRatio, u.valToPos(to, "x", true));
  return b <= left || a >= right ? [left, left] : [Math.max(left, a), Math.min(right, b)];
}

// Behind the bars: the outages, shaded and hatched.
function under(u, chart, pal, k) {
  const { ctx, bbox } = u;
  for (const w of chart.windows || []) {
    const [a, b] = edges(u, w.from, w.to);
    if (a >= b) continue;
    ctx.save();
    ctx.beginPath();
    ctx.rect(a, bbox.top, b - a, bbox.height);
    ctx.clip();
    ctx.fillStyle = pal("outage");
    ctx.fillRect(a, bbox.top, b - a, bbox.height);
    ctx.strokeStyle = pal("hatch");
    ctx.lineWidth = uPlot.pxRatio * k;
    ctx.beginPath();
    for (let s = a - bbox.height; s < b; s += 9 * uPlot.pxRatio * k) {
      ctx.moveTo(s, bbox.top + bbox.height);
      ctx.lineTo(s + bbox.height, bbox.top);
    }
    ctx.stroke();
    ctx.restore();
  }
}

// Over the bars: lines with their names, and above the picture its outages, waves, the judged window and the peak.
function over(u, chart, y, { pal, font, k }) {
  const { ctx, bbox } = u, px = uPlot.pxRatio * k;
  const right = bbox.left + bbox.width;
  ctx.save();
  ctx.font = font.replace(/^\d+/, (n) => n * uPlot.pxRatio);
  for (const l of chart.lines || []) {
    if (!(l.value <= y.max)) continue;
    const at = Math.round(u.valToPos(l.value, "y", true));
    ctx.setLineDash(l.role === "capacity" ? [] : [4 * px, 4 * px]);
    const stroke = (width, colour) => {
      ctx.lineWidth = width * px;
      ctx.strokeStyle = colour;
      ctx.beginPath();
      ctx.moveTo(bbox.left, at);
      ctx.lineTo(right, at);
      ctx.stroke();
    };
    if (l.role === "capacity") stroke(4, pal("paper"));
    stroke(2, pal(l.role));
    label(ctx, l.label, { x: clearOf(u, chart, l, { width: ctx.measureText(l.label).width + 8 * px, at: right - 4 * px }), y: at - 6 * px, align: "right", low: bbox.left, high: right }, pal(l.role), pal("paper"));
  }
  ctx.setLineDash([]);
  let base = bbox.top - 3 * px;
  if (chart.waves) {
    ctx.fillStyle = pal("wave");
    for (const [from, to] of chart.waves) {
      const [a, b] = edges(u, from, to);
      ctx.fillRect(a, base - 4 * px, b - a, 4 * px);
    }
  }
  if (chart.above.waves) base -= WAVES * px;
  if (chart.judged) {
    const [a, b] = edges(u, chart.judged[0], chart.judged[1]);
    ctx.strokeStyle = pal("ink2");
    ctx.lineWidth = px;
    ctx.beginPath();
    ctx.moveTo(a, base);
    ctx.lineTo(a, base - 5 * px);
    ctx.lineTo(b, base - 5 * px);
    ctx.lineTo(b, base);
    ctx.stroke();
    if (a < b) label(ctx, "judged", { x: (a + b) / 2, y: base - 1 * px, align: "center", low: bbox.left, high: right }, pal("ink2"), pal("paper"));
  }
  if (chart.above.judged) base -= JUDGED * px;
  let free = bbox.left;
  for (const w of chart.windows || []) { // one whose name would stand on another's is named by the readout alone
    const [a, b] = edges(u, w.from, w.to), half = ctx.measureText(w.label).width / 2;
    const x = Math.max(bbox.left + half, Math.min((a + b) / 2, right - half));
    if (a >= b || x - half < free) continue;
    label(ctx, w.label, { x, y: base - 2 * px, align: "center", low: bbox.left, high: right }, pal("outageInk"), pal("paper"));
    free = x + half + 6 * px;
  }
  const peakAt = chart.peak ? u.valToPos(chart.peak.at + chart.buckets.width / 2, "x", true) : -1;
  if (peakAt >= bbox.left && peakAt <= right) {
    const a = peakAt, top = u.valToPos(Math.min(chart.peak.value, y.max), "y", true);
    ctx.fillStyle = pal("ink");
    ctx.beginPath();
    ctx.moveTo(a, top - 1 * px);
    ctx.lineTo(a - 4 * px, top - 8 * px);
    ctx.lineTo(a + 4 * px, top - 8 * px);
    ctx.fill();
    const left = a < (bbox.left + right) / 2;
    label(ctx, chart.peak.label, { x: a + (left ? 8 : -8) * px, y: Math.max(top - 4 * px, bbox.top + 11 * px), align: left ? "left" : "right", low: bbox.left, high: right }, pal("ink"), pal("paper"));
  }
  ctx.restore();
}

// Where the name of a line ends so that no bar that is higher than the line lies under it: as far to the right as there
// is such a place, else at the very right.
function clearOf(u, chart, line, { width, at }) {
  const b = chart.buckets, { left } = u.bbox;
  if (!b) return at;
  const each = b.width * b.merged, step = width / 3;
  for (let end = at; end - width >= left; end -= step) {
    const from = Math.max(0, Math.floor(u.posToVal(end - width, "x", true) / each)), to = Math.ceil(u.posToVal(end, "x", true) / each);
    if (!b.total.slice(from, to + 1).some((n) => n > line.value)) return end;
  }
  return at;
}

// Text on a ground of the paper's colour, kept inside the picture.
function label(ctx, text, at, colour, paper) {
  const width = ctx.measureText(text).width, px = parseFloat(ctx.font) / 12;
  let x = at.align === "right" ? at.x - width : at.align === "center" ? at.x - width / 2 : at.x;
  x = Math.max(at.low + 2 * px, Math.min(x, at.high - width - 2 * px));
  ctx.textAlign = "left";
  ctx.fillStyle = paper;
  ctx.globalAlpha = 0.88;
  ctx.fillRect(x - 2 * px, at.y - 10 * px, width + 4 * px, 12.5 * px);
  ctx.globalAlpha = 1;
  ctx.fillStyle = colour;
  ctx.fillText(text, x, at.y);
}
