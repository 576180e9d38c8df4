(function ({ ask }) {
  const failure = (result) => {
    const texts = (Array.isArray(result.content) ? result.content : []).filter((c) => typeof c.text === "string").map((c) => c.text);
    return new Error(texts.join("\n") || "the tool failed and did not say why");
  };
  const raw = async (tool, args) => {
    const result = JSON.parse(await ask("call", String(tool), JSON.stringify(args === undefined ? {} : args)));
    if (result.isError) throw failure(result);
    return result;
  };
  const call = async (tool, args) => {
    const result = await raw(tool, args);
    if (result.structuredContent !== undefined) return result.structuredContent;
    const content = Array.isArray(result.content) ? result.content : [];
    if (content.length === 0 || !content.every((c) => c.type === "text")) return result;
    const joined = content.map((c) => c.text).join("\n");
    try {
      return JSON.parse(joined);
    } catch {
      return joined;
    }
  };
  call.raw = raw;
  return Object.freeze(call);
})
