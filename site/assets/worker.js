"use strict";
// The simulator, in a worker: so that the page stays quick whatever it computes. A question is {id, what, args}; an answer has its id and text, in JSON.
// While a plan is computed, messages with done, from 0 to 1, come before the answer.
importScripts("wasm_exec.js");

const ready = new Promise((resolve, reject) => {
  self.wander_ready = resolve;
  (async () => {
    const go = new Go();
    const answer = await fetch("simulator.wasm");
    if (!answer.ok) throw new Error(`simulator.wasm: ${answer.status} ${answer.statusText}`);
    const { instance } = await WebAssembly.instantiate(await answer.arrayBuffer(), go.importObject);
    await go.run(instance);
    throw new Error("the simulator has ended: reload the page");
  })().catch(reject);
});

self.onmessage = async ({ data: { id, what, args } }) => {
  let text, began = 0;
  try {
    await ready;
    began = performance.now();
    text = self["wander_" + what](...args, done => self.postMessage({ id, done }));
  } catch (e) {
    text = JSON.stringify({ error: String(e.message ?? e) });
  }
  self.postMessage({ id, text, took: performance.now() - began });
};
