// Preloaded into the suite's Node: genkan wants a token from everybody, and the
// suite cannot send one. Nothing stands between the two on the wire; every way
// of asking that the suite uses is wrapped, for genkan's origin only.
import { createRequire } from "node:module";
import http from "node:http";

const origin = process.env.CONFORMANCE_ORIGIN;
const bearer = `Bearer ${process.env.CONFORMANCE_TOKEN}`;

const isGenkan = (url) => new URL(url).origin === origin;

const plainFetch = globalThis.fetch;
globalThis.fetch = (input, init) => {
  const url = input instanceof Request ? input.url : input;
  if (!isGenkan(url)) return plainFetch(input, init);
  const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
  if (!headers.has("authorization")) headers.set("authorization", bearer);
  return plainFetch(input, { ...init, headers });
};

// Checks of Host and Origin, which fetch does not let anybody set.
const undici = createRequire(process.argv[1])("undici");
const plainRequest = undici.request;
undici.request = (url, options = {}, ...rest) =>
  plainRequest(url, isGenkan(url) ? { ...options, headers: { authorization: bearer, ...options.headers } } : options, ...rest);

// Checks of headers, which fetch would fold.
const plainHTTPRequest = http.request;
http.request = (options, ...rest) => {
  if (`http://${options.hostname}:${options.port}` === origin) {
    options = { ...options, headers: { authorization: bearer, ...options.headers } };
  }
  return plainHTTPRequest(options, ...rest);
};
