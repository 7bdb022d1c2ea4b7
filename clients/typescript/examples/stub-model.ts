/** A model that does what it is told: it remembers, recalls, and repeats what came back. */
import { convertArrayToReadableStream, MockLanguageModelV3 } from "ai/test";

type Generate = MockLanguageModelV3["doGenerate"];
type Stream = MockLanguageModelV3["doStream"];
type Prompt = Parameters<Generate>[0]["prompt"];
type Result = Awaited<ReturnType<Generate>>;

const CALLS = [
  { toolName: "memory_remember", input: { text: "The van is at Storgatan 5." } },
  { toolName: "memory_recall", input: { query: "Where is the van?" } },
];

function answer(prompt: Prompt): Result {
  const results = prompt.flatMap((message) =>
    message.role === "tool" ? message.content.filter((part) => part.type === "tool-result") : [],
  );
  const call = CALLS[results.length];
  const last = results.at(-1)?.output;
  const text = last?.type === "text" ? last.value : JSON.stringify(last);
  const none = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0, text: 1, reasoning: 0 };
  return {
    content: call
      ? [
          {
            type: "tool-call",
            toolCallId: `call-${results.length}`,
            toolName: call.toolName,
            input: JSON.stringify(call.input),
          },
        ]
      : [{ type: "text", text }],
    finishReason: { unified: call ? "tool-calls" : "stop", raw: undefined },
    usage: { inputTokens: none, outputTokens: none },
    warnings: [],
  };
}

export const model = new MockLanguageModelV3({
  doGenerate: (async ({ prompt }) => answer(prompt)) satisfies Generate,
  doStream: (async ({ prompt }) => {
    const { content, finishReason, usage } = answer(prompt);
    const parts = content.flatMap((part): unknown[] =>
      part.type === "text"
        ? [
            { type: "text-start", id: "1" },
            { type: "text-delta", id: "1", delta: part.text },
            { type: "text-end", id: "1" },
          ]
        : [part],
    );
    const all = [
      { type: "stream-start", warnings: [] },
      ...parts,
      { type: "finish", finishReason, usage },
    ];
    return { stream: convertArrayToReadableStream(all) } as Awaited<ReturnType<Stream>>;
  }) satisfies Stream,
});
