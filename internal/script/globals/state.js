(function ({ ask }) {
  // ttl is how many seconds a value is kept.
  const change = (key, ttl, by) => {
    if (ttl !== undefined && !(typeof ttl === "number" && ttl > 0 && ttl <= 31536000)) throw new RangeError("state: the time to live must be a number of seconds, more than 0 and at most a year");
    if (by !== undefined && !Number.isFinite(by)) throw new TypeError("state.add: only a number can be added");
    return JSON.stringify({ key: String(key), ttl, by });
  };
  const set = async (key, value, ttl) => {
    await ask("set", change(key, ttl), value === undefined ? "" : JSON.stringify(value));
  };
  return Object.freeze({
    get: (key) => ask("get", String(key), "").then((json) => (json === "" ? undefined : JSON.parse(json))),
    set,
    add: async (key, by = 1, ttl) => JSON.parse(await ask("add", change(key, ttl, by), "")),
    delete: (key) => set(key, undefined),
  });
})
