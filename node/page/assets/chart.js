// The drawing of a walk: rows are members, time goes to the right, a line is a token and a bar a program.

const space = "http://www.w3.org/2000/svg";

/** s makes an element of a drawing; text goes in as text. */
export function s(name, attributes = {}, ...children) {
  const e = document.createElementNS(space, name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  e.append(...children);
  return e;
}

// maxDots is above how many sightings in view only the lines are drawn: dots would cover each other.
const maxDots = 240;
// maxLeaps is above how many rows a token that was not heard of in between leaves only a stub of this many pixels: lines
// over all rows would hide what is known.
const maxLeaps = 12, stub = 16;
// steps are the distances between times that people read easily, in ms.
const steps = [5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5];

/**
 * draw shows a walk in an svg, and only the rows between top and bottom (pixels) of it.
 * w: {rows: [{id, name, me}], sights, runs, clashes, colour(token), now, span, clock(ms)}
 */
export function draw(svg, w, width, top, bottom) {
  const small = width < 560;
  const left = small ? 78 : 136, right = 10, head = 24;
  const height = w.rows.length > 30 ? 18 : w.rows.length > 12 ? 22 : 30;
  const total = head + Math.max(1, w.rows.length) * height + 4;
  const from = w.now - w.span;
  const x = t => left + Math.max(0, Math.min(1, (t - from) / w.span)) * (width - left - right);
  const at = new Map(w.rows.map((r, i) => [r.id, i]));
  const y = i => head + i * height + height / 2;
  const first = Math.max(0, Math.floor((top - head) / height) - 1);
  const last = Math.min(w.rows.length - 1, Math.ceil((bottom - head) / height) + 1);
  const seen = i => i !== undefined && i >= first && i <= last;
  const parts = [];

  for (let i = first; i <= last; i++) {
    const r = w.rows[i];
    if (r.me || i % 2 === 0) parts.push(s("rect", {class: r.me ? "band me" : "band", x: 0, y: head + i * height, width, height}));
  }
  const room = small ? 84 : 110;
  const step = steps.find(d => d / w.span * (width - left) >= room) ?? steps.at(-1);
  const zone = new Date(w.clock(w.now)).getTimezoneOffset() * 6e4; // so that steps are whole on the clock
  for (let t = Math.ceil((w.clock(from) - zone) / step) * step + zone; t <= w.clock(w.now); t += step) {
    const px = x(from + (t - w.clock(from)));
    parts.push(s("path", {class: "grid", d: `M${px.toFixed(1)} ${head - 4}V${total - 4}`}));
    if (px > left + 24 && px < width - right - (step < 6e4 ? 62 : 52)) {
      parts.push(s("text", {x: px.toFixed(1), y: 14, "text-anchor": "middle"}, time(t, step < 6e4)));
    }
  }
  parts.push(s("text", {x: width - right, y: 14, "text-anchor": "end"}, "now"));

  for (const c of w.clashes) {
    if (c.to < from) continue;
    const a = x(c.from), b = Math.max(a + 3, x(c.to));
    parts.push(s("rect", {class: "clash-band", x: a.toFixed(1), y: head, width: (b - a).toFixed(1), height: total - head - 4}));
  }
  for (let i = first; i <= last; i++) {
    const r = w.rows[i], room = small ? 10 : 18;
    const label = s("text", {class: r.me ? "who me" : "who", x: 4, y: y(i) + 4}, r.name.length > room ? r.name.slice(0, room - 1) + "…" : r.name);
    label.append(s("title", {}, r.me ? r.name + ", this member" : r.name));
    parts.push(label);
  }

  const tokens = Map.groupBy(w.sights, p => p.token);
  let dots = 0;
  for (const list of tokens.values()) dots += list.length;
  for (const [token, list] of tokens) {
    const colour = w.colour(token);
    for (let k = 0; k < list.length; k++) {
      const p = list[k], n = list[k + 1];
      const end = n ? n.at_ms : w.now, i = at.get(p.member);
      if (end < from || i === undefined) continue;
      const j = n ? at.get(n.member) : i;
      if (!seen(i) && !seen(j) && (Math.max(i, j) < first || Math.min(i, j) > last)) continue;
      const a = x(p.at_ms), b = x(end), sure = n ? n.hop === p.hop + 1 || n.member === p.member : p.how === "here" || w.runs.some(r => !r.to_ms && r.token === p.token && r.member === p.member);
      const leap = j !== undefined && j !== i;
      const way = leap && !sure && w.rows.length > maxLeaps ? `H${Math.min(b, a + stub).toFixed(1)}` : `H${b.toFixed(1)}${leap ? "V" + y(j) : ""}`;
      parts.push(s("path", {class: `walk t${colour}${sure ? "" : " gap"}`, d: `M${a.toFixed(1)} ${y(i)}${way}`}));
      if (dots <= maxDots && p.at_ms >= from) parts.push(s("circle", {class: `dot t${colour}`, cx: a.toFixed(1), cy: y(i), r: 3.5}));
    }
  }
  const thick = Math.min(14, height - 8);
  for (const r of w.runs) {
    const i = at.get(r.member), end = r.to_ms ?? w.now;
    if (!seen(i) || end < from) continue;
    const a = x(r.from_ms), b = Math.max(a + 2.5, x(end));
    const bar = s("rect", {class: `run t${w.colour(r.token)}${r.how === "here" ? "" : " told"}`, x: a.toFixed(1), y: y(i) - thick / 2, width: (b - a).toFixed(1), height: thick, rx: 2});
    bar.append(s("title", {}, w.words(r)));
    parts.push(bar);
    for (const c of w.clashes) {
      const ca = Math.max(r.from_ms, c.from), cb = Math.min(end, c.to);
      if (ca >= cb || cb < from) continue;
      const red = s("rect", {class: "clash", x: x(ca).toFixed(1), y: y(i) - thick / 2, width: Math.max(2.5, x(cb) - x(ca)).toFixed(1), height: thick, rx: 2});
      red.append(s("title", {}, "overlap: " + w.words(r)));
      parts.push(red);
    }
  }
  svg.setAttribute("viewBox", `0 0 ${width} ${total}`);
  svg.setAttribute("height", total);
  svg.replaceChildren(...parts);
}

/** time is a time of day, with seconds if they matter. */
export function time(ms, seconds = true) {
  return new Date(ms).toLocaleTimeString("en-GB", {hour: "2-digit", minute: "2-digit", second: seconds ? "2-digit" : undefined});
}
