(function ({ ask }) {
  return (ms) => ask("sleep", String(Math.max(0, Math.trunc(Number(ms)) || 0)), "").then(() => undefined);
})
