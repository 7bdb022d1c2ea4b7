// Requests to the server that sent this page. The token stands in the fragment of the address,
// which browsers send to nobody; it goes into a header, and out of the address bar. A browser that
// memoria started has a ticket there, for which the server gives the token once.

const KEY = "memoria-token";
const GONE = "memoria view does not answer any more: start it again, and open the address it prints";

const given = new URLSearchParams(location.hash.slice(1));
const [token, ticket] = [given.get("token"), given.get("ticket")];
if (token) sessionStorage.setItem(KEY, token); // so that the page can be loaded again
if (token || ticket) history.replaceState(null, "", location.pathname);
const entering = ticket && enter();

async function enter() {
  const response = await send("/api/enter", ticket, { body: {} });
  sessionStorage.setItem(KEY, (await response.json()).token);
}

async function request(path, options) {
  await entering;
  return send(path, sessionStorage.getItem(KEY) ?? "", options);
}

async function send(path, secret, { body, signal } = {}) {
  const headers = { "x-memoria-token": secret };
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
