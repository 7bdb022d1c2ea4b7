/** The Vercel AI SDK with memoria's recall and remember as tools; a stub plays the model. */
import assert from "node:assert/strict";

import { generateText, stepCountIs, tool } from "ai";
import { Memoria } from "memoria-graph";
import { z } from "zod";

import { model } from "./stub-model.js";

const { MEMORIA_URL: url, MEMORIA_TOKEN: token } = process.env;
const memoria = new Memoria({ url, token });

const tools = {
  memory_recall: tool({
    description: "Search long-term memory for information relevant to a question.",
    inputSchema: z.object({ query: z.string().describe("The question, in words.") }),
    execute: async ({ query }) => (await memoria.recall({ query })).text,
  }),
  memory_remember: tool({
    description: "Store one fact, decision or preference, in one self-contained sentence.",
    inputSchema: z.object({ text: z.string() }),
    execute: async ({ text }) => (await memoria.remember({ text })).text,
  }),
};

const { text } = await generateText({
  model, // such as openai("gpt-5")
  tools,
  stopWhen: stepCountIs(5),
  prompt: "Where is the van?",
});
console.log(text);
assert.match(text, /Storgatan 5/);
