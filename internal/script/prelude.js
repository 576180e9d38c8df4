// The globals of a script, made anew for each run. natives.ask(op, a, b) sends a
// request to the host and returns a promise of its JSON text.
(function (natives, contextText, varsText, paramsText) {
  const { stringify, parse } = JSON;
  const { defineProperty, freeze, keys } = Object;
  const { isArray } = Array;

  const constant = (name, value) =>
    defineProperty(globalThis, name, { value, writable: false, configurable: true, enumerable: true });

  const deepFreeze = (value) => {
    if (value !== null && typeof value === "object") {
      for (const key of keys(value)) deepFreeze(value[key]);
      freeze(value);
    }
    return value;
  };
  const given = (text) => (text === "" ? {} : parse(text));

  let context = given(contextText);
  const accessor = { get: () => context, set: (value) => { context = value; }, configurable: true, enumerable: true };
  defineProperty(globalThis, "context", accessor);
  defineProperty(globalThis, "ctx", accessor);
  constant("vars", deepFreeze(given(varsText)));
  constant("params", deepFreeze(given(paramsText)));

  const show = (value) => {
    if (typeof value === "string") return value;
    try {
      if (value instanceof Error) return String(value.stack || value).trimEnd();
      const text = stringify(value);
      return text === undefined ? String(value) : text;
    } catch {
      return "[" + typeof value + "]";
    }
  };
  const line = (level) => (...values) => natives.log(level, values.map(show).join(" "));
  constant("console", {
    log: line("log"), info: line("info"), warn: line("warn"), error: line("error"), debug: line("debug"),
  });

  const text = (value) => {
    const json = stringify(value);
    if (json === undefined) throw new TypeError("the value cannot be written as JSON");
    return json;
  };

  constant("sleep", (ms) => natives.ask("sleep", String(Math.max(0, Math.trunc(Number(ms)) || 0)), "").then(() => undefined));

  constant("state", freeze({
    get: (key) => natives.ask("get", String(key), "").then((json) => (json === "" ? undefined : parse(json))),
    set: async (key, value) => {
      await natives.ask("set", String(key), value === undefined ? "" : text(value));
    },
    delete: async (key) => {
      await natives.ask("set", String(key), "");
    },
  }));

  const failure = (result) => {
    const texts = (isArray(result.content) ? result.content : []).filter((c) => typeof c.text === "string").map((c) => c.text);
    return new Error(texts.join("\n") || "the tool failed and did not say why");
  };
  const raw = async (tool, args) => {
    const result = parse(await natives.ask("call", String(tool), text(args === undefined ? {} : args)));
    if (result.isError) throw failure(result);
    return result;
  };
  const call = async (tool, args) => {
    const result = await raw(tool, args);
    if (result.structuredContent !== undefined) return result.structuredContent;
    const content = isArray(result.content) ? result.content : [];
    if (content.length === 0 || !content.every((c) => c.type === "text")) return result;
    const joined = content.map((c) => c.text).join("\n");
    try {
      return parse(joined);
    } catch {
      return joined;
    }
  };
  call.raw = raw;
  constant("call", freeze(call));

  constant("fetch", async (url, init) => {
    const { method = "GET", headers = {}, body } = init || {};
    if (body !== undefined && typeof body !== "string") throw new TypeError("fetch: body must be a string; use JSON.stringify");
    const sent = {};
    for (const name of keys(headers)) sent[name] = String(headers[name]);
    const request = { method: String(method).toUpperCase(), url: String(url), headers: sent, body };
    const { status, headers: received, body: answer } = parse(await natives.ask("fetch", text(request), ""));
    const lower = {};
    for (const name of keys(received || {})) lower[name.toLowerCase()] = received[name];
    defineProperty(lower, "get", { value: (name) => lower[String(name).toLowerCase()] ?? null });
    defineProperty(lower, "has", { value: (name) => String(name).toLowerCase() in lower });
    return { status, ok: status >= 200 && status < 300, headers: lower, text: async () => answer, json: async () => parse(answer) };
  });

  constant("mapText", (value, fn) => {
    if (typeof fn !== "function") throw new TypeError("mapText: the second argument must be a function");
    const mapped = (string) => {
      const result = fn(string);
      if (result === undefined) return string;
      if (typeof result !== "string") throw new TypeError("mapText: the function must return a string");
      return result;
    };
    const walk = (v) => {
      if (typeof v === "string") return mapped(v);
      if (v !== null && typeof v === "object") {
        for (const key of keys(v)) {
          const old = v[key];
          const now = walk(old);
          if (now !== old) v[key] = now;
        }
      }
      return v;
    };
    if (value === null || typeof value !== "object" || (!isArray(value.content) && value.structuredContent === undefined)) return walk(value);
    for (const item of isArray(value.content) ? value.content : []) {
      if (item === null || typeof item !== "object") continue;
      if (typeof item.text === "string") item.text = mapped(item.text);
      if (item.resource && typeof item.resource.text === "string") item.resource.text = mapped(item.resource.text);
    }
    if (value.structuredContent !== undefined) value.structuredContent = walk(value.structuredContent);
    return value;
  });

  return (value) => [stringify(value), stringify(context)];
})
