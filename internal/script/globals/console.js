// The lines are kept by log(level, text).
(function ({ log }) {
  const show = (value) => {
    if (typeof value === "string") return value;
    try {
      if (value instanceof Error) return String(value.stack || value).trimEnd();
      const text = JSON.stringify(value);
      return text === undefined ? String(value) : text;
    } catch {
      return "[" + typeof value + "]";
    }
  };
  const line = (level) => (...values) => log(level, values.map(show).join(" "));
  return { log: line("log"), info: line("info"), warn: line("warn"), error: line("error"), debug: line("debug") };
})
