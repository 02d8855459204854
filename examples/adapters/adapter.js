// An adapter in JavaScript: RocketMQ's AVG, answered as JSON lines (docs/adapters.md).
"use strict";

const required = (value, name) => {
  if (!value || value.length === 0) throw new Error(`${name} is null or empty`);
};

/** AllocateMessageQueueAveragely#allocate. */
function average({ cid, mqAll, cidAll }) {
  required(cid, "currentCID");
  required(mqAll, "mqAll");
  required(cidAll, "cidAll");
  const index = cidAll.indexOf(cid);
  if (index < 0) return [];
  const share = Math.floor(mqAll.length / cidAll.length), more = mqAll.length % cidAll.length;
  const start = index * share + Math.min(index, more);
  return mqAll.slice(start, start + share + (index < more ? 1 : 0));
}

const functions = { allocate: average, AVG: average };

function answer(name, a) {
  try {
    return { r: functions[name](a) };
  } catch (error) {
    return { e: error.name, m: error.message };
  }
}

function reply(asked) {
  if (asked.do === "hello") {
    return { protocol: 1, name: "example in JavaScript", functions: Object.keys(functions), batch: true };
  }
  return { answers: asked.calls.map((a) => answer(asked.function, a)) };
}

require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const asked = JSON.parse(line);
  process.stdout.write(JSON.stringify({ id: asked.id, ...reply(asked) }) + "\n");
});
