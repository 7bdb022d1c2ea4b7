/**
 * Client of memoria's HTTP API (`memoria serve`).
 *
 * Requests and answers have the types of the server's own description (schema.ts). This file adds
 * what a description can't say: streams, pages, errors, and requests that are sent again.
 */
import type { components, operations } from "./schema.js";

type Schemas = components["schemas"];
export type RecallRequest = Schemas["RecallRequest"];
export type ExplainRequest = Schemas["ExplainRequest"];
export type OpenRequest = Schemas["OpenRequest"];
export type RememberRequest = Schemas["RememberRequest"];
export type AppendRequest = Schemas["AppendRequest"];
export type FeedbackRequest = Schemas["FeedbackRequest"];
export type ForgetRequest = Schemas["ForgetRequest"];
export type Recalled = Schemas["Recalled"];
export type RecalledMemory = Schemas["RecalledMemory"];
export type Explained = Schemas["Explained"];
export type Opened = Schemas["Opened"];
export type Remembered = Schemas["Remembered"];
export type Appended = Schemas["Appended"];
export type Noted = Schemas["Noted"];
export type Forgotten = Schemas["Forgotten"];
export type Status = Schemas["Status"];
export type StoredMemory = Schemas["StoredMemory"];
export type OpenScope = Schemas["OpenScope"];
export type Message = Schemas["Message"];
export type RecallFilter = Schemas["RecallFilter"];
export type PathFound = Schemas["PathFound"];
export type Problem = Schemas["Problem"];

/** What a recall sends while it runs: each path that has ended, at last the answer. */
export type RecallEvent = { event: "path"; data: PathFound } | { event: "answer"; data: Recalled };

export interface MemoriaOptions {
  /** Address of the server; http://127.0.0.1:8765 if not given. */
  url?: string | undefined;
  /** Token that opens a scope, made by `memoria mcp-token`. */
  token?: string | undefined;
  /** How often a request is sent again if the server says that it may succeed later; 2 if not given. */
  retries?: number | undefined;
  /** Sends the requests; the global `fetch` if not given. */
  fetch?: typeof fetch | undefined;
}

export interface CallOptions {
  /** Ends the call, which the server notices. */
  signal?: AbortSignal | undefined;
}

export interface WriteOptions extends CallOptions {
  /**
   * Name of this write: a request with the same key is done once. Give one of your own if your
   * program may repeat the write; otherwise each call gets a new one, for its retries.
   */
  idempotencyKey?: string | undefined;
}

/** Why the server did not answer. */
export class MemoriaError extends Error {
  override readonly name = "MemoriaError";

  constructor(
    /** What the server said. */
    readonly problem: Problem,
    /** When to ask again; seconds, if the server knows. */
    readonly retryAfterS?: number,
  ) {
    super(problem.detail);
  }
}

interface Asked extends CallOptions {
  method: "GET" | "POST";
  headers?: Record<string, string>;
  body?: unknown;
}

const EVENTS = "text/event-stream";

/** The memory of one scope, that of the token. */
export class Memoria {
  readonly #url: string;
  readonly #token: string | undefined;
  readonly #retries: number;
  readonly #fetch: typeof fetch;

  constructor(options: MemoriaOptions = {}) {
    this.#url = `${(options.url ?? "http://127.0.0.1:8765").replace(/\/+$/, "")}/v1`;
    this.#token = options.token;
    this.#retries = options.retries ?? 2;
    this.#fetch = options.fetch ?? fetch;
  }

  /** Search the memory for what bears on a question. Give a model the `text` of the answer. */
  recall(request: RecallRequest, options?: CallOptions): Promise<Recalled> {
    return this.#read("recall", request, options);
  }

  /** Recall, and tell of each path that has ended; the last event is the answer. */
  async *recallStream(request: RecallRequest, options?: CallOptions): AsyncGenerator<RecallEvent> {
    const asked = { ...options, method: "POST", body: request, headers: { accept: EVENTS } } as const;
    const response = await this.#answered("recall", asked);
    for await (const { event, data } of eventsOf(response)) {
      if (event === "problem") throw new MemoriaError(JSON.parse(data) as Problem);
      yield { event, data: JSON.parse(data) } as RecallEvent;
      if (event === "answer") return;
    }
    throw new TypeError("the connection ended before the answer");
  }

  /** Explain why a recall found a memory: the way to it, with the numbers of each hop. */
  explain(request: ExplainRequest, options?: CallOptions): Promise<Explained> {
    return this.#read("explain", request, options);
  }

  /** Read memories in full, with their links to other memories. */
  open(request: OpenRequest, options?: CallOptions): Promise<Opened> {
    return this.#read("open", request, options);
  }

  /** Store one fact, decision or preference. */
  remember(request: RememberRequest, options?: WriteOptions): Promise<Remembered> {
    return this.#write("remember", request, options);
  }

  /** Append messages to a conversation. */
  append(request: AppendRequest, options?: WriteOptions): Promise<Appended> {
    return this.#write("append", request, options);
  }

  /** Report which memories of a recall were used, and which proved wrong. */
  feedback(request: FeedbackRequest, options?: WriteOptions): Promise<Noted> {
    return this.#write("feedback", request, options);
  }

  /** Delete memories for good; only if the server allows it. */
  forget(request: ForgetRequest, options?: WriteOptions): Promise<Forgotten> {
    return this.#write("forget", request, options);
  }

  /** Say what the scope holds, and whether all is in order. */
  async status(options?: CallOptions): Promise<Status> {
    return (await (await this.#answered("status", { ...options, method: "GET" })).json()) as Status;
  }

  /** All memories of the scope, in the order of their ids; `limit` is the size of a page. */
  memories(
    query?: Omit<NonNullable<operations["memories"]["parameters"]["query"]>, "cursor">,
    options?: CallOptions,
  ): AsyncGenerator<StoredMemory> {
    return this.#listed("memories", query, options);
  }

  /** The scopes that the token opens. */
  scopes(options?: CallOptions): AsyncGenerator<OpenScope> {
    return this.#listed("scopes", {}, options);
  }

  async *#listed<Item>(
    name: "memories" | "scopes",
    query: { limit?: number } = {},
    options: CallOptions = {},
  ): AsyncGenerator<Item> {
    let cursor: string | null = null;
    do {
      const asked = new URLSearchParams();
      if (query.limit !== undefined) asked.set("limit", `${query.limit}`);
      if (cursor !== null) asked.set("cursor", cursor);
      const response = await this.#answered(`${name}?${asked}`, { ...options, method: "GET" });
      const page = (await response.json()) as { next_cursor: string | null };
      yield* (page as unknown as Record<typeof name, Item[]>)[name];
      cursor = page.next_cursor;
    } while (cursor !== null);
  }

  async #read<Answer>(name: string, body: unknown, options: CallOptions = {}): Promise<Answer> {
    const response = await this.#answered(name, { ...options, method: "POST", body });
    return (await response.json()) as Answer;
  }

  async #write<Answer>(name: string, body: unknown, options: WriteOptions = {}): Promise<Answer> {
    const { idempotencyKey = crypto.randomUUID(), ...rest } = options;
    const headers = { "idempotency-key": idempotencyKey };
    const response = await this.#answered(name, { ...rest, method: "POST", body, headers });
    return (await response.json()) as Answer;
  }

  /** Send a request, again if that may help, and return the response to one that succeeded. */
  async #answered(path: string, asked: Asked): Promise<Response> {
    for (let tries = 0; ; tries += 1) {
      try {
        const response = await this.#sent(path, asked);
        if (response.ok) return response;
        throw await errorOf(response);
      } catch (error) {
        const afterS = retryAfterOf(error);
        if (afterS === undefined || tries >= this.#retries) throw error;
        await pause(afterS * 1_000, asked.signal);
      }
    }
  }

  async #sent(path: string, asked: Asked): Promise<Response> {
    const headers = new Headers({ accept: "application/json", ...asked.headers });
    if (this.#token !== undefined) headers.set("authorization", `Bearer ${this.#token}`);
    const init: RequestInit = { method: asked.method, headers };
    if (asked.signal !== undefined) init.signal = asked.signal;
    if (asked.body !== undefined) {
      headers.set("content-type", "application/json");
      init.body = JSON.stringify(asked.body);
    }
    try {
      return await this.#fetch(`${this.#url}/${path}`, init);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // the call was ended
      const { code, message } = (error.cause ?? error) as { code?: string; message: string };
      const why = `no answer from ${this.#url} (${code ?? message}): does memoria serve run there?`;
      throw new TypeError(why, { cause: error });
    }
  }
}

async function errorOf(response: Response): Promise<MemoriaError> {
  const after = Number(response.headers.get("retry-after") ?? Number.NaN);
  const text = await response.text();
  const isProblem = response.headers.get("content-type")?.startsWith("application/problem+json");
  const problem: Problem = isProblem
    ? (JSON.parse(text) as Problem)
    : {
        type: "about:blank",
        title: response.statusText,
        status: response.status,
        detail: `the server answered ${response.status} ${text.slice(0, 200)}`.trim(),
        retryable: response.status === 502 || response.status === 503,
        faults: [],
      };
  return new MemoriaError(problem, Number.isNaN(after) ? undefined : after);
}

/** Seconds after which the same request may succeed; undefined if it never will. */
function retryAfterOf(error: unknown): number | undefined {
  if (error instanceof MemoriaError) {
    return error.problem.retryable ? (error.retryAfterS ?? 1) : undefined;
  }
  return error instanceof TypeError ? 0.2 : undefined; // fetch could not connect
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** The server-sent events of a response. */
async function* eventsOf(response: Response): AsyncGenerator<{ event: string; data: string }> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      const blocks = rest.split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) yield eventOf(block);
    }
  } finally {
    await reader.cancel(); // the server ends a recall that nobody reads
  }
}

function eventOf(block: string): { event: string; data: string } {
  const fields = { event: "message", data: "" };
  for (const line of block.split("\n")) {
    if (line.startsWith("event: ")) fields.event = line.slice("event: ".length);
    if (line.startsWith("data: ")) fields.data += line.slice("data: ".length);
  }
  return fields;
}
