(function ({ ask }) {
  const set = async (key, value) => {
    await ask("set", String(key), value === undefined ? "" : JSON.stringify(value));
  };
  return Object.freeze({
    get: (key) => ask("get", String(key), "").then((json) => (json === "" ? undefined : JSON.parse(json))),
    set,
    delete: (key) => set(key, undefined),
  });
})
