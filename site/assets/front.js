"use strict";
// The front page: what a visitor chooses goes to a worker, which answers with scenes to draw and numbers to show.

const element = id => document.getElementById(id);
const trusted = window.trustedTypes?.createPolicy("simulator", { createScriptURL: name => name });

// Engine is one simulator in a worker of its own.
class Engine {
  constructor() {
    this.worker = new Worker(trusted ? trusted.createScriptURL("worker.js") : "worker.js");
    this.asked = new Map();
    this.worker.onmessage = ({ data }) => {
      const q = this.asked.get(data.id);
      if (data.text === undefined) { q?.progress?.(data.done); return; }
      this.asked.delete(data.id);
      const value = JSON.parse(data.text);
      if (value?.error !== undefined) q?.reject(new Error(value.error));
      else q?.resolve({ value, text: data.text, took: data.took });
    };
    this.worker.onerror = e => { for (const q of this.asked.values()) q.reject(new Error(e.message || "the simulator cannot be loaded")); };
  }
  ask(what, args = [], progress) {
    const id = Engine.last = (Engine.last ?? 0) + 1;
    return new Promise((resolve, reject) => {
      this.asked.set(id, { resolve, reject, progress });
      this.worker.postMessage({ id, what, args });
    });
  }
  end() { this.worker.terminate(); }
}

// choices are those of the form, as the simulator reads them.
function choices() {
  const f = new FormData(element("choices"));
  const text = name => (f.get(name) ?? "").trim();
  const [policy, preset] = text("policy").split("/");
  const crash = text("crash");
  return JSON.stringify({
    members: Number(text("members")), operation_time: text("operation_time"), every: text("every"), policy, preset,
    target_interval: policy === "multitoken" ? text("target_interval") : "", latency: text("latency"),
    loss_percent: Number(text("loss_percent")), crash, down_for: crash ? text("down_for") : "", volatile: crash !== "" && f.get("volatile") !== null,
    first: Number(text("first")), seeds: Number(text("seeds")),
  });
}

// How a number of seconds is written.
function seconds(s) {
  if (s === 0) return "0 s";
  if (s < 1) return `${(1000 * s).toPrecision(3)} ms`;
  if (s < 120) return `${s.toPrecision(3)} s`;
  if (s < 7200) return `${(s / 60).toPrecision(3)} min`;
  return `${(s / 3600).toPrecision(3)} h`;
}
const percent = share => `${(100 * share).toPrecision(3)} %`;
const count = n => n >= 100 ? String(Math.round(n)) : n.toPrecision(3);
const quantile = (spread, name) => spread && (spread.lower_bounds?.includes(name) ? "> " : "") + seconds(spread[name]);

// The rows of the table: a name, and what it is in a report.
const rows = [
  ["wait, half of them below", r => quantile(r.wait_s, "p50")],
  ["wait, 95 % below", r => quantile(r.wait_s, "p95")],
  ["wait, 99 % below", r => quantile(r.wait_s, "p99")],
  ["between two runs of a member, half below", r => quantile(r.interval_s, "p50")],
  ["nobody runs, though somebody waits", r => percent(r.idle_while_waiting_share)],
  ["two at once", r => percent(r.two_share)],
  ["more at once", r => percent(r.more_than_two_share)],
  ["no token anywhere", r => r.no_token_share === null ? null : percent(r.no_token_share)],
  ["a new token after a loss, half of them within", r => r.recovery_s && seconds(r.recovery_s.median)],
  ["operations an hour", r => count(r.operations_per_hour)],
  ["messages for one operation", r => count(r.messages_per_operation)],
  ["tokens lost", r => String(r.losses)],
  ["time simulated", r => r.seeds > 1 ? `${r.seeds} × ${seconds(r.simulated_s)}` : seconds(r.simulated_s)],
];
const cells = rows.map(([name]) => {
  const row = element("numbers").querySelector("tbody").insertRow();
  const head = document.createElement("th");
  head.scope = "row";
  head.textContent = name;
  row.append(head);
  return [row.insertCell(), row.insertCell()];
});
function show(column, report) {
  rows.forEach(([, of], i) => { cells[i][column].textContent = report ? of(report) ?? "–" : ""; });
}

// The drawing.
const ring = element("ring"), strip = element("strip");
const colours = {};
function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ink", "soft", "line", "accent", "clash", "token", "panel", "wait"]) colours[name] = style.getPropertyValue("--" + name).trim();
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", readColours);

function fit(canvas) {
  const scale = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
  }
  const g = canvas.getContext("2d");
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.clearRect(0, 0, width, height);
  return [g, width, height];
}

const walkTime = 260; // ms in which a token is seen to walk, however fast it was
const shownWalks = 24;
let scene = null, walks = [], longest = 1;

function drawRing(now) {
  const [g, width, height] = fit(ring);
  if (!scene) return;
  const n = scene.members.length, size = Math.min(width, height);
  const radius = 0.34 * size, dot = Math.max(2, Math.min(8, 2 * radius / n)), spoke = 0.13 * size;
  const at = (m, r) => {
    const a = 2 * Math.PI * m / n - Math.PI / 2;
    return [width / 2 + r * Math.cos(a), height / 2 + r * Math.sin(a)];
  };
  const running = [...scene.members].filter(c => c === "r").length;
  longest = Math.max(longest, ...scene.waited);
  g.lineCap = "round";
  g.lineWidth = Math.max(1.5, dot * 0.6);
  g.strokeStyle = colours.wait;
  g.beginPath();
  scene.waited.forEach((w, m) => {
    if (w <= 0) return;
    g.moveTo(...at(m, radius + dot + 2));
    g.lineTo(...at(m, radius + dot + 2 + spoke * w / longest));
  });
  g.stroke();
  g.lineWidth = 1.5;
  walks = walks.filter(w => now - w.since < walkTime);
  for (const w of walks) {
    const done = (now - w.since) / walkTime, from = at(w.from, radius), to = at(w.to, radius);
    const middle = [0.3 * width / 2 + 0.35 * (from[0] + to[0]), 0.3 * height / 2 + 0.35 * (from[1] + to[1])];
    g.strokeStyle = colours.token;
    g.globalAlpha = 1 - done;
    g.beginPath();
    g.moveTo(...from);
    g.quadraticCurveTo(...middle, ...to);
    g.stroke();
    g.globalAlpha = 1;
    const u = 1 - done, p = [0, 1].map(i => u * u * from[i] + 2 * u * done * middle[i] + done * done * to[i]);
    g.fillStyle = colours.token;
    g.beginPath();
    g.arc(...p, 4, 0, 2 * Math.PI);
    g.fill();
  }
  const holders = new Set(scene.tokens ?? []);
  [...scene.members].forEach((letter, m) => {
    const [x, y] = at(m, radius);
    g.beginPath();
    g.arc(x, y, letter === "r" ? dot * 1.5 : dot, 0, 2 * Math.PI);
    g.fillStyle = { r: running > 1 ? colours.clash : colours.accent, w: colours.wait, x: colours.panel }[letter] ?? colours.line;
    g.fill();
    if (letter === "x") {
      g.strokeStyle = colours.soft;
      g.lineWidth = 1.5;
      g.setLineDash([2, 2]);
      g.stroke();
      g.setLineDash([]);
    }
    if (holders.has(m)) {
      g.strokeStyle = colours.token;
      g.lineWidth = 3;
      g.beginPath();
      g.arc(x, y, dot * 1.5 + 3, 0, 2 * Math.PI);
      g.stroke();
    }
  });
  g.textAlign = "center";
  g.lineWidth = 5;
  g.lineJoin = "round";
  g.strokeStyle = colours.panel;
  const write = (text, y) => { g.strokeText(text, width / 2, y); g.fillText(text, width / 2, y); };
  g.fillStyle = running > 1 ? colours.clash : colours.ink;
  g.font = "600 22px system-ui, sans-serif";
  write(running > 1 ? `${running} run at once` : running === 1 ? "one runs" : "nobody runs", height / 2 - 6);
  g.fillStyle = colours.soft;
  g.font = "14px system-ui, sans-serif";
  const wait = [...scene.members].filter(c => c === "w").length;
  write(`${wait} wait, for ${seconds(Math.max(0, ...scene.waited))} at most`, height / 2 + 16);
  write(`after ${seconds(scene.now)}`, height / 2 + 36);
}

// The strip: a column for each scene, the last on the right.
const columns = [];
function note(next) {
  const before = scene ?? next, wait = [...next.members].filter(c => c === "w").length;
  const grew = name => next[name] > before[name];
  columns.push({ wait: wait / next.members.length, clash: grew("two") || grew("more"), gap: grew("none"), runs: next.members.includes("r") });
  if (columns.length > 2000) columns.splice(0, 1000);
}
function drawStrip() {
  const [g, width, height] = fit(strip);
  const band = 14, from = columns.length - Math.min(columns.length, Math.floor(width));
  for (let i = from; i < columns.length; i++) {
    const c = columns[i], x = width - (columns.length - i), tall = c.wait * (height - band - 2);
    g.fillStyle = colours.wait;
    g.fillRect(x, height - band - 2 - tall, 1, tall);
    if (c.clash || c.runs) {
      g.fillStyle = c.clash ? colours.clash : colours.accent;
      g.fillRect(x, height - band, 1, band);
    }
  }
}

// What the page is doing. A test reads measured.
const measured = { frames: 0, intervals: [], steps: 0, stepTime: 0, longestStep: 0, drawTime: 0, longestDraw: 0, driven: 0 };
let stage = null, playing = false, last = 0, owed = 0, busy = false, reported = 0;
const reportEvery = 500, owedAtMost = 100; // ms: a page that was hidden does not catch up

function take({ value, took }) {
  measured.steps++;
  measured.stepTime += took;
  measured.longestStep = Math.max(measured.longestStep, took);
  const now = performance.now();
  note(value);
  scene = value;
  for (const m of value.moves) walks.push({ ...m, since: now });
  walks = walks.slice(-shownWalks);
}

function draw(now) {
  const began = performance.now();
  drawRing(now);
  drawStrip();
  const took = performance.now() - began;
  measured.drawTime += took;
  measured.longestDraw = Math.max(measured.longestDraw, took);
}

function fail(e) {
  playing = false;
  element("pause").disabled = true;
  element("wrong").textContent = e.message;
}

function frame(now) {
  if (!playing) return;
  requestAnimationFrame(frame);
  measured.frames++;
  if (measured.intervals.length < 20000) measured.intervals.push(now - last);
  owed = Math.min(owed + now - last, owedAtMost);
  last = now;
  if (!busy) {
    busy = true;
    const of = stage;
    of.ask("step", [owed * Number(element("speed").value)]).then(a => { if (of === stage) take(a); }).catch(fail).finally(() => { busy = false; });
    owed = 0;
  }
  if (now - reported > reportEvery) {
    reported = now;
    const of = stage;
    of.ask("report").then(a => { if (of === stage) show(0, a.value); }).catch(fail);
  }
  draw(now);
}

function play(on) {
  playing = on;
  element("pause").disabled = !stage;
  element("pause").textContent = on ? "Pause" : "Go on";
  if (on) {
    last = performance.now();
    requestAnimationFrame(frame);
  }
}

let planner = null;
function stopPlan() {
  planner?.end();
  planner = null;
  element("progress").hidden = true;
  element("compute").textContent = "Compute the plan";
}

async function run() {
  playing = false;
  element("wrong").textContent = "";
  stopPlan();
  stage?.end();
  const of = stage = new Engine();
  busy = false;
  show(0, null);
  show(1, null);
  element("how").textContent = "loading the simulator …";
  try {
    const { value } = await of.ask("show", [choices()]);
    if (of !== stage) return;
    readColours();
    [scene, walks, longest, columns.length] = [null, [], 1, 0];
    note(value.scene);
    scene = value.scene;
    element("command").textContent = value.command;
    element("how").textContent = "";
    element("compute").disabled = false;
    play(true);
  } catch (e) {
    element("how").textContent = "";
    fail(e);
  }
}

async function compute() {
  if (planner) { stopPlan(); element("how").textContent = "stopped"; return; }
  const of = planner = new Engine(), bar = element("progress");
  element("compute").textContent = "Stop";
  element("how").textContent = "";
  bar.hidden = false;
  bar.removeAttribute("value");
  try {
    const chosen = choices(), { value, text, took } = await of.ask("plan", [chosen], done => { bar.value = done; });
    if (of !== planner) return;
    show(1, value);
    window.simulator.plan = text;
    element("how").textContent = `computed in ${seconds(took / 1000)}`;
  } catch (e) {
    element("wrong").textContent = e.message;
  }
  if (of === planner) stopPlan();
}

// drive steps and draws so many times, whatever the clock says: so that a test counts work and no time.
async function drive(times, step) {
  play(false);
  for (let i = 0; i < times; i++) {
    take(await stage.ask("step", [step]));
    draw(performance.now());
    measured.driven++;
  }
  show(0, (await stage.ask("report")).value);
}
window.simulator = { measured, drive, plan: null };

element("works").hidden = false;
element("choices").addEventListener("submit", e => { e.preventDefault(); run(); });
element("pause").addEventListener("click", () => play(!playing));
element("compute").addEventListener("click", compute);
const policyChosen = () => { element("target").hidden = !element("choices").elements.policy.value.startsWith("multitoken/"); };
element("choices").elements.policy.addEventListener("change", policyChosen);
policyChosen();
