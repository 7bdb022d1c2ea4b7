/** The client against a real server, which scripts/test-client starts. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import {
  Memoria,
  MemoriaError,
  type Problem,
  type RecallEvent,
  type RecallRequest,
} from "../src/index.js";

const url = process.env["MEMORIA_URL"] ?? "";
const token = process.env["MEMORIA_TOKEN"] ?? "";
const reader = process.env["MEMORIA_READER"] ?? "";
const memoria = new Memoria({ url, token });

async function problemOf(call: Promise<unknown>): Promise<Problem> {
  const error = await call.then(
    () => assert.fail("the call succeeded"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof MemoriaError, String(error));
  return error.problem;
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

test("what is remembered is recalled, explained, judged and forgotten", async () => {
  const word = randomUUID();
  const made = await memoria.remember({ text: `The word of the day is ${word}.`, tags: ["word"] });
  assert.equal(made.created, true);
  const found = await memoria.recall({ query: `word of the day ${word}`, deadline_ms: 60_000 });
  const memory = found.memories.find((each) => each.id === made.id);
  assert.ok(memory);
  assert.match(found.text, /<memories \w+>/);
  const names = { recall_id: found.recall_id, memory_id: memory.label };
  assert.ok((await memoria.explain(names)).rank >= 1);
  assert.deepEqual((await memoria.open({ ids: [made.id, "nobody"] })).missing, ["nobody"]);
  const noted = await memoria.feedback({ recall_id: found.recall_id, used: [memory.label] });
  assert.deepEqual(noted.used, [made.id]);
  assert.deepEqual((await memoria.forget({ ids: [made.id] })).deleted, [made.id]);
});

test("messages are appended, and listed page by page", async () => {
  const conversation_id = randomUUID();
  const messages = [
    { text: "I sold the van.", role: "user", created_at: new Date().toISOString() },
    { text: "Noted.", role: "assistant" },
  ] as const;
  assert.equal((await memoria.append({ conversation_id, messages: [...messages] })).messages, 2);
  const ids = (await all(memoria.memories({ limit: 1 }))).map((each) => each.id);
  assert.ok(ids.length >= 2);
  assert.deepEqual(ids, [...new Set(ids)]);
  const [scope, ...others] = await all(memoria.scopes());
  assert.equal(scope?.scope, (await memoria.status()).scope);
  assert.deepEqual(others, []);
});

test("a recall is streamed: paths, then the answer", async () => {
  await memoria.remember({ text: "The kettle is blue." });
  const events: RecallEvent[] = await all(
    memoria.recallStream({ query: "kettle", deadline_ms: 60_000 }),
  );
  const last = events.at(-1);
  assert.equal(last?.event, "answer");
  assert.match(last.data.text, /kettle is blue/);
  assert.ok(events.slice(0, -1).every((each) => each.event === "path"));
});

test("a recall takes a filter, an earlier time and a time zone", async () => {
  const tag = randomUUID();
  const { id } = await memoria.remember({ text: "The kettle is old.", tags: [tag] });
  const asked = { query: "kettle", where: { tags: [tag] }, deadline_ms: 60_000 };
  const ids = async (request: RecallRequest) =>
    (await memoria.recall(request)).memories.map((each) => each.id);
  assert.deepEqual(await ids({ ...asked, time_zone: "Europe/Berlin" }), [id]);
  assert.deepEqual(await ids({ ...asked, as_of: "2020-01-01T00:00:00Z" }), []);
  const wrong = await problemOf(memoria.recall({ ...asked, time_zone: "Mars" }));
  assert.equal(wrong.faults[0]?.field, "time_zone");
});

test("a stream that is left early ends", async () => {
  for await (const { event } of memoria.recallStream({ query: "kettle" })) {
    assert.ok(event);
    break;
  }
});

test("a write with the same key is done once", async () => {
  const idempotencyKey = randomUUID();
  const request = { conversation_id: randomUUID(), messages: [{ text: "The van is red." }] };
  const first = await memoria.append(request, { idempotencyKey });
  assert.deepEqual(await memoria.append(request, { idempotencyKey }), first);
  const other = { ...request, conversation_id: randomUUID() };
  assert.equal((await problemOf(memoria.append(other, { idempotencyKey }))).status, 422);
});

test("what the server refuses is an error that says why", async () => {
  const wrong = await problemOf(memoria.recall({ query: "" }));
  assert.equal(wrong.type, "urn:memoria:error:InvalidInputError");
  assert.equal(wrong.faults[0]?.field, "query");
  assert.equal((await problemOf(memoria.recall({ query: "x", max_tokens: NaN }))).status, 400);
  assert.equal((await problemOf(memoria.recall({ query: "\ud800" }))).status, 400);
  const stream = all(memoria.recallStream({ query: "" }));
  assert.equal((await problemOf(stream)).status, 400);
  const nobody = new Memoria({ url, token: "wrong" });
  assert.equal((await problemOf(nobody.status())).status, 401);
  const reads = new Memoria({ url, token: reader });
  assert.equal((await reads.status()).read_only, true);
  assert.equal((await problemOf(reads.remember({ text: "New." }))).status, 403);
});

test("an address without a server is an error that names it", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const nowhere = new Memoria({ url: `http://127.0.0.1:${port}`, retries: 0 });
  await assert.rejects(nowhere.status(), {
    name: "TypeError",
    message: `no answer from http://127.0.0.1:${port}/v1 (ECONNREFUSED): does memoria serve run there?`,
  });
  const mistyped = new Memoria({ url: "127.0.0.1:8765", retries: 0 });
  await assert.rejects(mistyped.status(), /no answer from 127.0.0.1:8765.*ERR_INVALID_URL/);
});

test("a call can be ended", async () => {
  const signal = AbortSignal.timeout(1);
  await assert.rejects(memoria.recall({ query: "kettle" }, { signal }), { name: "TimeoutError" });
});

/** A server that is busy at first, for the retries: whether memoria is busy is chance. */
test("a server that is busy is asked again, with the same key", async () => {
  const keys: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    keys.push(request.headers["idempotency-key"]?.toString());
    const problem = { detail: "busy", status: 503, retryable: true };
    const busy = keys.length < 3;
    response.writeHead(busy ? 503 : 200, {
      "content-type": busy ? "application/problem+json" : "application/json",
      "retry-after": "0",
    });
    response.end(JSON.stringify(busy ? problem : { id: "a" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const client = new Memoria({ url: `http://127.0.0.1:${port}/` });
    assert.equal((await client.remember({ text: "x" })).id, "a");
    assert.equal(keys.length, 3);
    assert.equal(new Set(keys).size, 1);
    keys.length = 0;
    const impatient = new Memoria({ url: `http://127.0.0.1:${port}`, retries: 0 });
    assert.equal((await problemOf(impatient.status())).detail, "busy");
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
