(function ({ ask }) {
  return async (url, init) => {
    const { method = "GET", headers = {}, body } = init || {};
    if (body !== undefined && typeof body !== "string") throw new TypeError("fetch: body must be a string; use JSON.stringify");
    const sent = {};
    for (const name of Object.keys(headers)) sent[name] = String(headers[name]);
    const request = { method: String(method).toUpperCase(), url: String(url), headers: sent, body };
    const { status, headers: received, body: answer } = JSON.parse(await ask("fetch", JSON.stringify(request), ""));
    const lower = {};
    for (const name of Object.keys(received || {})) lower[name.toLowerCase()] = received[name];
    Object.defineProperty(lower, "get", { value: (name) => lower[String(name).toLowerCase()] ?? null });
    Object.defineProperty(lower, "has", { value: (name) => String(name).toLowerCase() in lower });
    return { status, ok: status >= 200 && status < 300, headers: lower, text: async () => answer, json: async () => JSON.parse(answer) };
  };
})
