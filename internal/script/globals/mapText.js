(function () {
  return (value, fn) => {
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
        const keys = Object.keys(v);
        for (let i = 0; i < keys.length; i++) {
          const old = v[keys[i]];
          const now = walk(old);
          if (now !== old) v[keys[i]] = now;
        }
      }
      return v;
    };
    if (value === null || typeof value !== "object" || (!Array.isArray(value.content) && value.structuredContent === undefined)) return walk(value);
    for (const item of Array.isArray(value.content) ? value.content : []) {
      if (item === null || typeof item !== "object") continue;
      if (typeof item.text === "string") item.text = mapped(item.text);
      if (item.resource && typeof item.resource.text === "string") item.resource.text = mapped(item.resource.text);
    }
    if (value.structuredContent !== undefined) value.structuredContent = walk(value.structuredContent);
    return value;
  };
})
