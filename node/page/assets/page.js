// The page of one member. The daemon sends its status and what has happened (server-sent events); what is shown is
// made of text nodes alone, so that nothing that a member says becomes markup.
import {draw, s, time} from "./chart.js";

const $ = id => document.getElementById(id);
const hour = 36e5;
// lateAfter is after what time without an event the page says that the daemon is silent, in ms; it sends two a second.
const lateAfter = 3000;
// maxRows bounds the rows of a table of events.
const maxRows = 200;
// reopenAfter is when a stream is asked for again that the daemon has refused, in ms.
const reopenAfter = 3000;

const state = {
  status: null, members: [], names: new Map(), past: {now_ms: 0, overlaps: []}, arrived: 0, ahead: 0,
  sights: new Map(), runs: new Map(), waits: [], span: 5 * 6e4, help: {}, spoken: "", colours: new Map(), query: "",
};

/** h makes an element. Children that are strings are text. */
function h(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null && value !== false) e.setAttribute(key, value === true ? "" : value);
  e.append(...children.filter(c => c !== null && c !== undefined && c !== ""));
  return e;
}

/** put replaces what an element shows, unless it shows just that: so that a selection and the focus stay. */
function put(e, ...children) {
  const next = h("div", {}, ...children);
  if (e.innerHTML !== next.innerHTML) e.replaceChildren(...next.childNodes);
}

function say(e, text) { if (e.textContent !== text) e.textContent = text; }

/** span is a time in words. */
function span(seconds) {
  const v = Math.max(0, seconds);
  if (v < 10) return v.toFixed(1) + " s";
  if (v < 120) return v.toFixed(0) + " s";
  if (v < 7200) return Math.round(v / 60) + " min";
  if (v < 172800) return Math.round(v / 3600) + " h";
  return Math.round(v / 86400) + " days";
}

const percent = v => v > 0 && v < 0.005 ? "< 1 %" : (100 * v).toFixed(0) + " %";
const number = n => Number(n).toLocaleString("en-GB").replaceAll(",", "\u202f");
const nameOf = id => state.names.get(id) ?? id.slice(0, 8);
const byName = (a, b) => a.localeCompare(b, "en", {numeric: true});
const median = list => list.length ? list.toSorted((a, b) => a - b)[Math.floor((list.length - 1) / 2)] : 0;
/** now is the daemon's time, and clock what this machine's clock shows then. */
const now = () => state.past.now_ms + Math.min(lateAfter, performance.now() - state.arrived);
const clock = ms => ms + state.ahead;

const levels = {
  good: ["ok", "running", "token_here", "idle"],
  busy: ["runs_elsewhere", "next", "queued", "elsewhere"],
  bad: ["revoked", "left", "expired", "no_addresses", "udp_blocked", "isolated", "gate_stuck"],
};
const levelOf = cause => Object.keys(levels).find(l => levels[l].includes(cause)) ?? "care";
const words = cause => cause.replaceAll("_", " ");

const sources = {here: "seen here", told: "told by another member", said: "said by that member itself", proved: "proved by its receipt"};

// ---- what a sentence means

/** markdown makes the few marks of a paragraph into elements. */
function markdown(text) {
  return text.split(/(`[^`]+`|\[[^\]]+\]\([^)]*\)|\*[^*]+\*)/).map(part => {
    if (/^`.*`$/.test(part)) return h("code", {}, part.slice(1, -1));
    if (/^\*.*\*$/.test(part)) return h("em", {}, part.slice(1, -1));
    const link = part.match(/^\[([^\]]+)\]\(([^)]*)\)$/);
    return link ? (link[2].startsWith("#") ? link[1] : `${link[1]} (docs/${link[2]})`) : part;
  });
}

function explain(details, cause) {
  if (details.dataset.cause === cause && details.dataset.known === String(cause in state.help)) return;
  details.dataset.cause = cause;
  details.dataset.known = cause in state.help;
  details.replaceChildren(h("summary", {}, "What this means, and what to do"), ...(state.help[cause] ?? []).map(p => h("p", {}, ...markdown(p))),
    h("p", {}, "From ", h("code", {}, `docs/troubleshooting.md#${cause}`)));
}

// ---- now

const cards = new Map();

function card(name) {
  let c = cards.get(name);
  if (!c) {
    c = {box: h("article", {class: "card"}), chip: h("span", {class: "chip"}), chips: h("span", {class: "chips"}), sentence: h("p", {class: "sentence"}), facts: h("ul", {class: "facts"}), details: h("details")};
    c.box.append(h("div", {class: "top"}, h("h3", {}, name), c.chips, c.chip), c.sentence, c.facts, c.details);
    cards.set(name, c);
  }
  return c;
}

function facts(r) {
  const list = [];
  const fact = (label, value) => list.push(h("li", {}, label + " ", h("b", {}, value)));
  r.slots.forEach((slot, i) => {
    const of = r.slots.length > 1 ? `slot ${slot.slot}: ` : "";
    const who = slot.holder;
    if (who && of) { // of one slot the sentence says it
      fact(of + "token", who.how === "here" ? "here" : `with ${who.name}, ${who.how === "told" ? `told by ${who.by_name}` : sources[who.how]} ${span(who.age_s)} ago`);
    }
    if (slot.last_seen_s !== null && !slot.held) fact(of + "last here", span(slot.last_seen_s) + " ago");
    if (slot.long) fact(of + "this turn", `${span(slot.long.took_s)} or more; turns of late took ${span(slot.long.usual_s)}`);
    if (slot.eta && !slot.held) fact(of + "turn here", `in ${span(slot.eta.p50_s)}, or within ${span(slot.eta.p95_s)} in 19 of 20 cases${slot.eta.overdue ? ", after the present turn, which takes longer than usual" : ""}`);
    if (slot.gate) fact("gate", !slot.gate.reachable ? "not reached" : slot.gate.said || "reached");
    if (slot.missing_votes) fact("votes missing", slot.missing_votes.map(nameOf).join(", "));
  });
  fact("waiting here", number(r.waiting));
  fact("preset", r.preset || "none");
  return list;
}

/** clashChip says when programs overlapped last. */
function clashChip(name) {
  const last = state.past.overlaps.findLast(c => c.resource === name);
  if (!last) return [];
  const age = (now() - last.to_ms) / 1000;
  return [h("span", {class: "chip bad"}, age < 1.5 ? "programs overlap now" : `overlap ${span(age)} ago`)];
}

function showNow(st) {
  const trouble = $("trouble");
  if (st.cause === "ok") {
    trouble.hidden = true;
  } else {
    trouble.hidden = false;
    if (!trouble.firstChild) trouble.append(h("p", {class: "sentence"}), h("p", {class: "note"}), h("details"));
    const [sentence, note, details] = trouble.children;
    trouble.className = "banner " + (levelOf(st.cause) === "bad" ? "bad" : "care");
    say(sentence, st.sentence);
    say(note, `Cause: ${words(st.cause)}. It keeps this member from all of its resources, or makes them slower.`);
    explain(details, st.cause);
  }
  const shown = st.resources.map(r => {
    const c = card(r.name), level = levelOf(r.cause);
    c.box.className = "card " + level;
    c.chip.className = "chip " + level;
    say(c.chip, words(r.cause));
    say(c.sentence, r.sentence);
    put(c.facts, ...facts(r));
    put(c.chips, ...clashChip(r.name));
    explain(c.details, r.cause);
    return c.box;
  });
  const box = $("resources");
  if (shown.length !== box.childElementCount || shown.some((e, i) => box.children[i] !== e)) {
    box.replaceChildren(...(shown.length ? shown : [h("p", {class: "note"}, "The group's configuration has no resources.")]));
  }
  $("warnings").hidden = !st.warnings.length;
  put($("warning-list"), ...st.warnings.map(w => h("li", {}, `${w.sentence} (docs/troubleshooting.md#${w.cause})`)));
  speak(st);
  const worst = st.cause !== "ok" ? words(st.cause) : st.resources.map(r => `${words(r.cause)}: ${r.name}`).join(", ");
  document.title = `${worst} · ${st.name}`;
}

/** speak tells a screen reader, only when a cause changes: the ages in sentences change all the time. */
function speak(st) {
  const causes = [st.cause, ...st.resources.map(r => r.name + r.cause)].join();
  if (causes === state.spoken) return;
  state.spoken = causes;
  const text = st.resources.map(r => `${r.name}: ${r.sentence}`).join(". ");
  say($("spoken"), st.cause === "ok" ? text : `${st.sentence}. ${text}`);
}

// ---- the walk

// several are the policies under which more tokens than slots, and programs at once, are no trouble.
const several = ["multitoken", "uncoordinated"];

const boxes = new Map();

function walkBox(name) {
  let b = boxes.get(name);
  if (!b) {
    b = {box: h("div", {class: "walkbox"}), title: h("h3", {}, name), note: h("p", {class: "note"}), scroll: h("div", {class: "scroll"}), svg: s("svg", {class: "chart", role: "img"}), details: h("details"), head: h("summary", {}, "As a table"), body: h("tbody")};
    b.scroll.append(b.svg);
    b.details.append(b.head, h("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": `Events of ${name}`},
      h("table", {}, h("caption", {}, `Events of ${name}, newest first`), h("thead", {}, h("tr", {}, ...["Time", "Member", "What", "How this is known"].map(t => h("th", {scope: "col"}, t)))), b.body)));
    b.box.append(b.title, b.note, b.scroll, b.details);
    b.scroll.addEventListener("scroll", () => showWalk(name), {passive: true});
    b.details.addEventListener("toggle", () => showWalk(name));
    boxes.set(name, b);
    $("walks").append(b.box);
  }
  return b;
}

function colour(resource, token) {
  if (!state.colours.has(resource)) state.colours.set(resource, new Map());
  const known = state.colours.get(resource);
  if (!known.has(token)) known.set(token, known.size % 4);
  return known.get(token);
}

const runWords = r => `${nameOf(r.member)}: ${r.to_ms ? "ran " + span((r.to_ms - r.from_ms) / 1000) : "runs for " + span((now() - r.from_ms) / 1000)} from ${time(clock(r.from_ms))}, ${sources[r.how]}`;

function showWalk(name) {
  const b = walkBox(name), t = now(), from = t - state.span;
  const sights = state.sights.get(name) ?? [];
  let start = 0; // the last sighting of each token before the window is where its line begins
  const before = new Map(), inside = [];
  for (; start < sights.length && sights[start].at_ms < from; start++) before.set(sights[start].token, sights[start]);
  const r = state.status.resources.find(r => r.name === name); // tokens that rest are shown, and those of long ago are not
  inside.push(...[...before.values()].sort((a, c) => c.at_ms - a.at_ms).filter((p, i) => p.at_ms > from - state.span || (i < r.slots.length && start === sights.length)), ...sights.slice(start));
  const runs = [...state.runs.values()].filter(r => r.resource === name && (r.to_ms ?? t) >= from);
  const clashes = state.past.overlaps.filter(c => c.resource === name).map(c => ({from: c.from_ms, to: c.to_ms})).filter(c => c.to >= from);
  const self = state.status.member;
  const ids = new Set([self, ...inside.map(p => p.member), ...runs.map(r => r.member)]);
  const rows = [...ids].map(id => ({id, name: nameOf(id), me: id === self})).sort((a, c) => c.me - a.me || byName(a.name, c.name));
  const tokens = new Set(inside.map(p => p.token));
  const clashed = clashes.reduce((sum, c) => sum + c.to - Math.max(from, c.from), 0) / 1000;
  const heard = `${rows.length - 1} of ${state.members.length - 1} other members heard of in this time`;
  const count = tokens.size === 1 ? "1 token" : tokens.size + " tokens";
  put(b.note, heard, "; ", tokens.size > r.slots.length && !several.includes(r.policy) ? h("span", {class: "chip care"}, count) : count, ...(clashed > 0 ? [" ", h("span", {class: "chip bad"}, `overlap for ${span(clashed)}`)] : ["; no overlap seen here"]));
  const width = Math.max(280, Math.floor(b.scroll.clientWidth));
  draw(b.svg, {rows, sights: inside, runs, clashes, now: t, span: state.span, clock, colour: token => colour(name, token), words: runWords}, width, b.scroll.scrollTop, b.scroll.scrollTop + Math.max(640, b.scroll.clientHeight));
  const scrolls = b.svg.getAttribute("height") > b.scroll.clientHeight + 1; // who scrolls by keys has to get there
  if (scrolls !== b.scroll.hasAttribute("tabindex")) {
    if (scrolls) { b.scroll.tabIndex = 0; b.scroll.setAttribute("role", "region"); b.scroll.setAttribute("aria-label", `Walk of ${name}`); }
    else for (const key of ["tabindex", "role", "aria-label"]) b.scroll.removeAttribute(key);
  }
  b.svg.setAttribute("aria-label", `Walk of ${name} in the last ${span(state.span / 1000)}: ${heard}${clashed > 0 ? `, overlap for ${span(clashed)}` : ""}. The table below says the same.`);
  if (b.details.open) showEvents(b, inside, runs, from);
}

function showEvents(b, sights, runs, from) {
  const list = [
    ...sights.filter(p => p.at_ms >= from).map(p => [p.at_ms, p.member, `has the token (hop ${number(p.hop)})`, p.how]),
    ...runs.filter(r => r.from_ms >= from).map(r => [r.from_ms, r.member, "its program begins", r.how]),
    ...runs.filter(r => r.to_ms).map(r => [r.to_ms, r.member, `its program has ended, after ${span((r.to_ms - r.from_ms) / 1000)}`, r.how]),
  ].sort((a, c) => c[0] - a[0]).slice(0, maxRows);
  put(b.body, ...list.map(([at, member, what, how]) => h("tr", {}, h("td", {class: "when"}, time(clock(at))), h("th", {scope: "row"}, nameOf(member)), h("td", {}, what), h("td", {}, sources[how]))));
}

// ---- shares and waits

/** runsNow tells whether a program of a member runs under a token now, as far as is known: then the token is there. */
const runsNow = (token, member) => [...state.runs.values()].some(r => !r.to_ms && r.token === token && r.member === member);

/** stays is for how long each member had a token of a resource, as far as its way is known, and the rest. */
function stays(name, t) {
  const sums = new Map();
  let known = 0, unknown = 0;
  for (const list of Map.groupBy(state.sights.get(name) ?? [], p => p.token).values()) {
    list.forEach((p, i) => {
      const n = list[i + 1], took = (n?.at_ms ?? t) - p.at_ms;
      if (n ? n.hop > p.hop + 1 && n.member !== p.member : p.how !== "here" && !runsNow(p.token, p.member)) { unknown += took; return; }
      const sum = sums.get(p.member) ?? {took: 0, turns: 0};
      if (list[i - 1]?.member !== p.member) sum.turns++;
      sum.took += took;
      known += took;
      sums.set(p.member, sum);
    });
  }
  return {sums, known, unknown};
}

// maxShares bounds the members with a line of their own.
const maxShares = 8;

function showShares(st) {
  const t = now();
  put($("shares"), ...st.resources.map(r => {
    const {sums, known, unknown} = stays(r.name, t);
    const list = [...sums].sort((a, b) => b[1].took - a[1].took);
    const rows = list.slice(0, maxShares).map(([id, sum]) => [nameOf(id), sum, id === st.member]);
    const rest = list.slice(maxShares);
    if (rest.length) rows.push([`${rest.length} more`, rest.reduce((a, [, b]) => ({took: a.took + b.took, turns: a.turns + b.turns}), {took: 0, turns: 0}), false]);
    if (!rows.length) return h("p", {class: "note"}, `${r.name}: no token seen or heard of yet`);
    const all = known + unknown, first = state.sights.get(r.name)[0].at_ms;
    const line = (name, took, turns, me) => h("tr", {class: me && "me-row"}, h("th", {scope: "row"}, name), h("td", {class: "number"}, turns), h("td", {class: "number"}, span(took / 1000)), h("td", {class: "number"}, percent(took / all)),
      h("td", {class: "bar", "aria-hidden": "true"}, s("svg", {viewBox: "0 0 100 12", preserveAspectRatio: "none"}, s("rect", {class: "of", width: 100, height: 12}), s("rect", {class: turns ? "is" : "dim", width: (100 * took / all).toFixed(1), height: 12}))));
    return h("table", {}, h("caption", {}, `${r.name}, last ${span((t - first) / 1000)}`),
      h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "Member"), h("th", {scope: "col", class: "number"}, "Stays"), h("th", {scope: "col", class: "number"}, "Time"), h("th", {scope: "col", class: "number"}, "Share"), h("td", {class: "bar"}))),
      h("tbody", {}, ...rows.map(([name, sum, me]) => line(name, sum.took, number(sum.turns), me)), unknown / all >= 0.005 ? line("not heard of", unknown, "", false) : null));
  }));
}

// sparkBars is how many waits are drawn.
const sparkBars = 60;

function showWaits(st) {
  put($("waits"), ...st.resources.flatMap(r => {
    const list = state.waits.filter(w => w.resource === r.name);
    const took = list.filter(w => w.granted).map(w => (w.to_ms - w.from_ms) / 1000), vain = list.length - took.length;
    const text = `${number(r.waiting)} ${r.waiting === 1 ? "program waits" : "programs wait"} now. ` + (list.length ? `${number(took.length)} granted: half within ${span(median(took))}, the longest ${span(Math.max(0, ...took))}. ${vain ? number(vain) + " ended without a grant." : ""}` : "None has ended in the last hour.");
    const shown = list.slice(-sparkBars), most = Math.max(1e-9, ...shown.map(w => w.to_ms - w.from_ms));
    const bars = shown.map((w, i) => { const v = Math.max(2, 44 * (w.to_ms - w.from_ms) / most); return s("rect", {class: w.granted ? "" : "vain", x: i * 6, y: (44 - v).toFixed(1), width: 4, height: v.toFixed(1)}); });
    return [h("p", {}, h("b", {}, r.name), ": ", text), shown.length > 1 ? s("svg", {class: "spark", viewBox: `0 0 ${sparkBars * 6} 44`, preserveAspectRatio: "none", role: "img", "aria-label": `The last ${shown.length} waits for ${r.name}, oldest first; the longest took ${span(most / 1000)}`}, ...bars) : null];
  }));
}

// ---- members

function contact(m) {
  if (m.self) return ["this member", "good"];
  if (m.connected) return ["connected", "good"];
  if (m.suspected) return ["does not answer", "bad"];
  return ["not connected", ""];
}

function showMembers() {
  const q = state.query.toLowerCase();
  const shown = state.members.filter(m => !q || [m.name, m.member, m.state, contact(m)[0], ...m.addresses].some(v => v.toLowerCase().includes(q)));
  const counts = new Map();
  for (const m of state.members) {
    const [said, level] = m.state === "valid" ? contact(m) : [m.state, m.state === "failed" || m.state === "expired" ? "care" : ""];
    const text = said === "does not answer" ? "without answer" : said;
    if (!m.self || m.state !== "valid") counts.set(text, {n: (counts.get(text)?.n ?? 0) + 1, level});
  }
  put($("members-count"), h("span", {class: "chip"}, `${number(state.members.length)} known`), ...[...counts].map(([text, c]) => h("span", {class: `chip ${c.level}`}, `${number(c.n)} ${text}`)));
  put($("members").tBodies[0], ...shown.map(m => {
    const [text, level] = contact(m);
    return h("tr", {class: m.self && "me-row"}, h("th", {scope: "row"}, m.name), h("td", {}, m.state), h("td", {}, level === "bad" ? h("span", {class: "chip bad"}, text) : text), h("td", {}, m.addresses.join(", ") || "dials out only"), h("td", {}, m.expires.slice(0, 10)));
  }));
}

function showSelf(st) {
  const days = (Date.parse(st.certificate_expires) - Date.now()) / 864e5;
  const pairs = {
    "Member": `${st.name}, ${st.member.slice(0, 16)}…`, "Group": `${st.group_name}, configuration ${st.configuration_version}`,
    "Listens on": st.address || "only dials out", "Up for": span(st.uptime_s),
    "Certificate until": `${st.certificate_expires.slice(0, 10)}, ${days < 0 ? "expired" : "in " + span(days * 86400)}`,
    "Heard of others": st.link.last_heard_s === null ? "never" : span(st.link.last_heard_s) + " ago",
    "Clock": Math.abs(st.link.clock_ahead_s) < 1 ? "as the peers' clocks, within 1 s" : `${span(Math.abs(st.link.clock_ahead_s))} ${st.link.clock_ahead_s > 0 ? "ahead of" : "behind"} the peers' clocks`,
    "Handoffs": `${number(st.handoffs.ok)} taken, ${number(st.handoffs.retried)} offers repeated, ${number(st.handoffs.in_doubt)} in doubt`,
    "Tokens made and dropped": `${number(st.tokens.generated)} and ${number(st.tokens.dropped)}`,
    "Journal": `${st.mode}, ${(st.journal.bytes / 1e6).toFixed(1)} MB`, "Revocations known": `up to version ${number(st.membership.revocation_version)}`,
    "Evidence": st.evidence.kept ? `${number(st.evidence.kept)} files` : "none",
  };
  put($("self"), ...Object.entries(pairs).map(([k, v]) => h("div", {}, h("dt", {}, k), h("dd", {}, v))));
}

// ---- the stream

function take(event) {
  const e = JSON.parse(event.data), first = state.status === null;
  state.status = e.status;
  state.arrived = performance.now();
  state.past.now_ms = e.past.now_ms;
  state.past.overlaps = e.past.overlaps ?? [];
  if (e.past.first) { // a new stream tells all
    state.sights.clear(); state.runs.clear(); state.waits = [];
  }
  if (e.past.first || Math.abs(Date.now() - e.past.now_ms - state.ahead) > 1000) state.ahead = Date.now() - e.past.now_ms;
  const old = e.past.now_ms - hour;
  for (const p of e.past.sights ?? []) {
    if (!state.sights.has(p.resource)) state.sights.set(p.resource, []);
    state.sights.get(p.resource).push(p);
    colour(p.resource, p.token);
  }
  for (const list of state.sights.values()) if (list.length && list[0].at_ms < old) list.splice(0, list.findIndex(p => p.at_ms >= old) >>> 0);
  for (const r of e.past.runs ?? []) state.runs.set(r.id, r);
  for (const [id, r] of state.runs) if (r.to_ms && r.to_ms < old) state.runs.delete(id);
  state.waits = [...state.waits, ...(e.past.waits ?? [])].filter(w => w.to_ms >= old);
  if (e.members) {
    const trouble = m => m.suspected || m.state === "failed" || m.state === "expired";
    state.members = e.members.sort((a, b) => b.self - a.self || trouble(b) - trouble(a) || byName(a.name, b.name));
    state.names = new Map(e.members.map(m => [m.member, m.name]));
    showMembers();
  }
  say($("name"), e.status.name);
  say($("group"), `in group ${e.status.group_name}`);
  showNow(e.status);
  showLink();
  if (first || !document.hidden) showRest();
}

function showRest() {
  const st = state.status;
  if (!st) return;
  const names = st.resources.map(r => r.name);
  for (const [name, b] of boxes) if (!names.includes(name)) { b.box.remove(); boxes.delete(name); }
  names.forEach(showWalk);
  showShares(st);
  showWaits(st);
  showSelf(st);
}

let refused = false;

function showLink() {
  const silent = performance.now() - state.arrived;
  const live = state.arrived && silent < lateAfter;
  $("link").dataset.state = live ? "live" : state.arrived || refused ? "gone" : "connecting";
  document.body.classList.toggle("stale", !live && state.arrived > 0);
  say($("link-text"), live ? "the daemon answers" : state.arrived ? `no news from the daemon for ${span(Math.floor(silent / 1000))}` : refused ? "the daemon does not answer, or too many listen" : "connecting to the daemon");
}

function listen() {
  const stream = new EventSource("/page/events");
  stream.onmessage = take;
  stream.onerror = () => {
    showLink();
    if (stream.readyState !== EventSource.CLOSED) return; // it comes back by itself
    refused = true;
    setTimeout(listen, reopenAfter);
  };
}

const spans = {"1 min": 6e4, "5 min": 3e5, "15 min": 9e5, "1 h": 36e5};
for (const [text, ms] of Object.entries(spans)) {
  const button = h("button", {type: "button", "aria-pressed": String(ms === state.span)}, text);
  button.addEventListener("click", () => {
    state.span = ms;
    for (const other of $("spans").children) other.setAttribute("aria-pressed", String(other === button));
    showRest();
  });
  $("spans").append(button);
}
$("find").addEventListener("input", e => { state.query = e.target.value; showMembers(); });
new ResizeObserver(showRest).observe($("walks"));
document.addEventListener("visibilitychange", () => document.hidden || showRest());
setInterval(showLink, 1000);
fetch("/page/help.json").then(r => r.json()).then(help => { state.help = help; if (state.status) showNow(state.status); }, () => {});
listen();
