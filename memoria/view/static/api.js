// Requests to the server that sent this page. The token stands in the fragment of the address,
// which browsers send to nobody; it goes into a header, and out of the address bar.

const KEY = "memoria-token";
const GONE = "memoria view does not answer any more: start it again, and open the address it prints";

const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) {
  sessionStorage.setItem(KEY, given); // so that the page can be loaded again
  history.replaceState(null, "", location.pathname);
}

async function request(path, { body, signal } = {}) {
  const headers = { "x-memoria-token": sessionStorage.getItem(KEY) ?? "" };
  let response;
  try {
    response = await fetch(path, {
      method: body === undefined ? "GET" : "POST",
      body: body === undefined ? undefined : JSON.stringify(body),
      headers,
      signal,
    });
  } catch (error) {
    throw error.name === "AbortError" ? error : new Error(GONE);
  }
  if (!response.ok) {
    const answer = await response.json().catch(() => ({}));
    throw new Error(answer.error?.message ?? `the server answered ${response.status}`);
  }
  return response;
}

export async function ask(path, options) {
  return (await request(path, options)).json();
}

// Server-sent events of a POST, which EventSource can't send: yields {name, data}.
export async function* events(path, options) {
  const response = await request(path, options);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    let part;
    try {
      part = await reader.read();
    } catch (error) {
      throw error.name === "AbortError" ? error : new Error(GONE);
    }
    if (part.done) return;
    const blocks = (rest + part.value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const [first, second] = block.split("\n");
      yield { name: first.slice("event: ".length), data: JSON.parse(second.slice("data: ".length)) };
    }
  }
}
