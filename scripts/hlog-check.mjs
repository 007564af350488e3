// Reads a log of --hlog with the reference HdrHistogram of JavaScript and compares its counts and the p50
// and p99 of its values (where in the bucket arrivals lie) with a result: bucket for bucket, tag for tag.
//
//   node hlog-check.mjs LOG RESULT.json                 of a run that ended
//   node hlog-check.mjs LOG RESULT.json KILLED TRACE    of one killed at KILLED (ns since the epoch)
import { readFileSync } from "node:fs";
import hdr from "hdr-histogram-js";

const [logFile, resultFile, killedAt, traceFile] = process.argv.slice(2);
const text = readFileSync(logFile, "utf8");
const result = JSON.parse(readFileSync(resultFile, "utf8"));

// Our comments give each tag's t0 and width; all else is the reader's.
const runs = new Map();
for (const [, line] of text.matchAll(/^#\[stormtest run (.*)\]$/gm)) {
  const run = JSON.parse(line);
  runs.set(run.strategy, { ...run, counts: [], histograms: [], intervals: 0 });
}
const started = Date.parse(result.started_at);
const reader = new hdr.HistogramLogReader(text.slice(0, text.lastIndexOf("\n") + 1));
for (let h; (h = reader.nextIntervalHistogram()) !== null; ) {
  const run = runs.get(h.tag);
  const k = Math.round(((h.startTimeStampMsec - started) * 1e6 - run.t0_ns) / run.bucket_ns);
  run.counts[k] = (run.counts[k] ?? 0) + h.totalCount;
  if (run.histograms[k] === undefined) run.histograms[k] = h;
  else run.histograms[k].add(h); // what came after its bucket was written
  run.intervals++;
}

let bad = 0;
const fault = (words) => {
  console.error(`FAULT: ${words}`);
  bad++;
};
if (result.runs.length !== runs.size) fault(`${result.runs.length} runs in the result, ${runs.size} in the log`);
for (const { strategy, buckets } of result.runs) {
  const run = runs.get(strategy);
  if (run.counts.length !== buckets.length) fault(`${strategy}: ${run.counts.length} buckets in the log, ${buckets.length} in the result`);
  let sum = 0;
  let quantiles = 0;
  buckets.forEach((b, k) => {
    sum += b.arrivals;
    for (const [percent, want] of b.arrivals > 0 ? [[50, b.offset_p50_ns], [99, b.offset_p99_ns]] : []) {
      // One reader rounds a rank up that another rounds down, and the histogram's resolution is a 100,000th
      // of the bucket or two digits.
      const at = (step) => run.histograms[k]?.getValueAtPercentile(Math.min(100, Math.max(0, percent + (100 * step) / b.arrivals)));
      const near = run.bucket_ns / 1e5 + want / 100;
      if (!(want >= at(-1) - near && want <= at(1) + near)) fault(`${strategy}, bucket ${k}: p${percent} = ${at(0)} in the log, ${want} in the result`);
      quantiles++;
    }
    if (run.counts[k] !== b.arrivals) fault(`${strategy}, bucket ${k}: ${run.counts[k]} in the log, ${b.arrivals} in the result`);
  });
  console.log(`${strategy}: ${buckets.length} buckets, ${run.intervals} intervals, ${sum} arrivals and ${quantiles} quantiles in both`);
}

if (killedAt !== undefined) {
  const run = [...runs.values()].at(-1);
  const alive = Number((BigInt(killedAt) - BigInt(started) * 1000000n) / 1000n) * 1e3 - run.t0_ns; // ns since t0
  const end = run.counts.length * run.bucket_ns;
  console.log(`killed ${(alive / 1e9).toFixed(3)} s after t0; the log goes up to ${(end / 1e9).toFixed(3)} s, ${((alive - end) / 1e9).toFixed(3)} s before`);
  if (alive - end > 1e9) fault("more than the last second is missing");
  // The trace is another witness: one row an attempt, by the moment of its arrival.
  const whole = Math.floor((alive - 1e9) / run.bucket_ns);
  const rows = readFileSync(traceFile, "utf8").split("\n").slice(1, -1);
  const traced = new Array(whole).fill(0);
  for (const row of rows) {
    const arrived = row.split(",")[6]; // empty where it did not
    const k = Math.floor(Number(arrived) / run.bucket_ns);
    if (arrived !== "" && k < whole) traced[k]++;
  }
  const sum = (list) => list.reduce((a, b) => a + b, 0);
  console.log(`in the ${whole} buckets that ended a second before: ${sum(run.counts.slice(0, whole))} arrivals in the log, ${sum(traced)} rows in the trace`);
  traced.forEach((n, k) => {
    if (n !== run.counts[k]) fault(`bucket ${k}: ${run.counts[k]} in the log, ${n} in the trace`);
  });
}
process.exit(bad > 0 ? 1 : 0);
