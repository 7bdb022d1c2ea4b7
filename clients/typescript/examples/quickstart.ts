import { Memoria } from "memoria-graph";

const { MEMORIA_URL: url, MEMORIA_TOKEN: token } = process.env;
const memoria = new Memoria({ url, token }); // http://127.0.0.1:8765 without a url

await memoria.remember({ text: "Ann wants rye bread on Mondays.", kind: "UserPreference" });
const found = await memoria.recall({ query: "What bread does Ann want?", max_tokens: 500 });
console.log(found.text); // for a model
console.log(found.memories.map(({ label, text }) => `${label}: ${text}`)); // for your program

for await (const { event, data } of memoria.recallStream({ query: "What does Ann want?" })) {
  if (event === "path") console.log(`path ${data.number}: ${data.ids.join(" -> ")}`);
  else console.log(`memories: ${data.memories.length}`);
}
