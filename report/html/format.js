"use strict";
// How numbers are written: the rules of the terminal report (report/number.go), so that a readout never differs from
// a table. A figure without a value is "–".

const NONE = "–", NBSP = "\u00a0";

const count = (n) => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ",");

// Three significant digits: 0.0123, 4.06, 20.0, 1,234.
function significant(v) {
  const a = Math.abs(v);
  if (a === 0) return "0";
  if (a >= 1e15 || a < 1e-4) return v.toExponential(2);
  if (a >= 999.5) return count(v);
  const rounded = Number(v.toExponential(2));
  return rounded.toFixed(Math.max(0, 2 - Math.floor(Math.log10(Math.abs(rounded)) + 1e-12)));
}

// To so many decimals, or as many more as keep v on its side of every threshold.
function honest(v, decimals, thresholds) {
  for (; decimals < 15; decimals++) {
    const s = v.toFixed(decimals);
    if (thresholds.every((t) => v < t === Number(s) < t)) return s;
  }
  return String(v);
}

const indexText = (v) => honest(v, 2, [0.1, 0.25]);
const times = (v) => (v > 0.9 && v < 1.1 ? honest(v, 2, [1, 1.0000000000000002]) : significant(v)) + "x";

function share(v) {
  const s = (v * 100).toFixed(1);
  if (v > 0 && s === "0.0") return "<0.1" + NBSP + "%";
  if (v < 1 && s === "100.0") return ">99.9" + NBSP + "%";
  return s.replace(/\.0$/, "") + NBSP + "%";
}

// A length of two minutes or more as the flags take it: 2m, 16m42s, 1h1m12.8s.
function clock(ns) {
  const h = Math.floor(ns / 3600e9), m = Math.floor((ns % 3600e9) / 60e9), s = (ns % 60e9) / 1e9;
  return (h ? h + "h" : "") + (m || (h && s) ? m + "m" : "") + (s ? decimal(s) + "s" : "");
}

const UNITS = [["s", 1e9, 0.9995e9], ["ms", 1e6, 0.9995e6], ["µs", 1e3, 0.9995e3], ["ns", 1, 0]];

// A length of ns with three significant digits: 831 µs, 12.3 ms, 1.25 s; from two minutes on to the second: 16m42s.
function length(ns) {
  if (ns === 0) return "0" + NBSP + "s";
  if (ns >= 119.5e9) return clock(Math.round(ns / 1e9) * 1e9);
  const [name, one] = UNITS.find((u) => ns >= u[2]) || UNITS[UNITS.length - 1];
  const v = ns / one;
  const digits = one === 1 || v >= 99.95 ? count(v) : v >= 9.995 ? v.toFixed(1) : v.toFixed(2);
  return digits + NBSP + name;
}

// A decimal number of at most nine decimals, with separators in its whole part.
function decimal(v) {
  const [whole, rest] = v.toFixed(9).replace(/\.?0+$/, "").split(".");
  return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (rest ? "." + rest : "");
}

// A moment of ns without losing digits: 100 ms, 1 s, 2.5 s, 1h1m12.8s.
function moment(ns) {
  if (ns >= 120e9) return clock(ns);
  if (ns === 0 || ns >= 1e9) return decimal(ns / 1e9) + NBSP + "s";
  return ns >= 1e6 ? decimal(ns / 1e6) + NBSP + "ms" : decimal(ns / 1e3) + NBSP + "µs";
}

// 1/(1-q) as the percentile q.
function quantile(x) {
  const digits = Math.max(1, Math.ceil(Math.log10(x) - 1e-9));
  return ((1 - 1 / x) * 100).toFixed(digits).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "") + NBSP + "%";
}

// By the unit of an axis.
const FORMATS = {
  time: moment, length, count, share, quantile, index: indexText,
  rate: (v) => significant(v) + "/s",
};

const written = (unit, v) => (v === null || v === undefined ? NONE : FORMATS[unit](v));
