/**
 * Requests with hostile headers: names and values, duplicates, sizes, hosts, origins, media types, encodings.
 * `Framing` has the headers that say how long a request is.
 */
import { attack, type HttpAttack } from "./Request.js"

const hosts: ReadonlyArray<readonly [value: string, expect: string | ReadonlyArray<string>]> = [
  ["evil.example", "403"],
  ["localhost.evil.example", "403"],
  ["evil.example:80", "403"],
  ["localhost@evil.example", "403"],
  ["evil.example#localhost", "403"],
  ["127.0.0.1.evil.example", "403"],
  ["127.0.0.1.nip.io", "403"],
  ["0.0.0.0", "403"],
  ["169.254.169.254", "403"],
  ["[::ffff:8.8.8.8]", "403"],
  ["localhost, evil.example", "403"],
  ["localhost:80:80", "403"],
  ["localhost:port", "403"],
  ["localhost:99999999", "403"],
  ["", "403"],
  ["-", "403"],
  ["*", "403"],
  ["localhost/", "403"],
  ["http://localhost", "403"],
  ["xn--lcalhost-q0a", "403"],
  ["LOCALHOST", "200"],
  ["127.0.0.1:1", "200"],
  ["[::1]:8080", "200"],
  ["x".repeat(5000), "403"]
]

const origins: ReadonlyArray<readonly [value: string, expect: string | ReadonlyArray<string>]> = [
  ["https://evil.example", "403"],
  ["null", "403"],
  ["", "403"],
  ["file://", "403"],
  ["http://localhost.evil.example", "403"],
  ["http://localhost@evil.example", "403"],
  ["http://evil.example/localhost", "403"],
  ["http://evil.example#http://localhost", "403"],
  ["chrome-extension://abcdef", "403"],
  ["javascript:alert(1)", "403"],
  ["http://127.0.0.1.evil.example", "403"],
  ["http://2130706433", "403"],
  ["http://localhost, https://evil.example", "403"],
  ["http://localhost https://evil.example", "403"],
  ["://localhost", "403"],
  ["localhost", "403"],
  ["http://[::1", "403"],
  ["http://localhost:3000", "200"],
  ["http://[::1]:3000", "200"],
  ["x".repeat(5000), "403"]
]

const contentTypes: ReadonlyArray<string> = [
  "text/plain",
  "text/html",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "application/xml",
  "application/jsonp",
  "application/json-rpc",
  "application/jsonx",
  "xapplication/json",
  "application/json, text/plain",
  "application/json; charset=utf-16",
  "application/json; charset=iso-8859-1",
  "application/json; charset=utf-7",
  "application/json; charset",
  "application/json;charset=",
  "application",
  "/",
  "*/*",
  "application/*",
  "",
  "application/json".repeat(300)
]

const encodings: ReadonlyArray<string> = ["gzip", "deflate", "br", "zstd", "compress", "gzip, gzip", "x-gzip", "bogus"]

const accepts: ReadonlyArray<readonly [value: string | undefined, expect: string]> = [
  ["text/html", "406"],
  ["application/json", "200"],
  ["text/event-stream", "200"],
  ["application/json;q=0, text/event-stream", "200"],
  ["application/json;q=0, text/event-stream;q=0", "406"],
  ["", "200"],
  [",".repeat(5000), "200"],
  ["text/plain, ".repeat(900), "406"],
  ["application/json; q=0.1, text/event-stream; q=0.1", "200"]
]

const sizes: ReadonlyArray<HttpAttack> = [
  attack("a header of 20 KB", "431", { headers: { "x-large": "x".repeat(20_000) } }),
  attack("headers of 100 KB in all", "431", {
    lines: Array.from({ length: 1000 }, (_, n) => `x-${n}: ${"y".repeat(90)}`)
  }),
  attack("1,500 short headers", ["200", "431"], { lines: Array.from({ length: 1500 }, (_, n) => `a${n}: b`) }),
  attack("a header name of 20 KB", "431", { lines: [`${"n".repeat(20_000)}: v`] }),
  attack("a cookie of 10 KB", "200", { headers: { cookie: "c=".padEnd(10_000, "x") } }),
  attack("a target of 20 KB", "431", { target: "/mcp?" + "x".repeat(20_000) }),
  attack("a target of 10 KB", ["200", "404"], { target: "/mcp?" + "x".repeat(10_000) })
]

const duplicates: ReadonlyArray<HttpAttack> = [
  attack("two Hosts, the second foreign", ["400", "403"], { lines: ["host: evil.example"] }),
  attack("two Hosts, both the same", ["400", "403"], { lines: ["host: localhost"] }),
  attack("two Origins, the second foreign", ["400", "403"], {
    headers: { origin: "http://localhost" },
    lines: ["origin: https://evil.example"]
  }),
  attack("two Content-Types", ["400", "415"], { lines: ["content-type: text/plain"] }),
  attack("two equal Content-Types", ["400", "415"], { lines: ["content-type: application/json"] }),
  attack("two session ids", ["400", "404"], ({ other }) => ({ lines: [`mcp-session-id: ${other}`] })),
  attack("two protocol versions", "400", {
    headers: { "mcp-protocol-version": "2025-11-25" },
    lines: ["mcp-protocol-version: 2024-11-05"]
  }),
  attack("two Content-Lengths that differ", ["400", "400 400"], { lines: ["content-length: 5"] }),
  attack("two Accepts that complete each other", "200", {
    headers: { accept: "application/json" },
    lines: ["accept: text/event-stream"]
  })
]

const strange = [
  ["a space before the colon", "host : localhost"],
  ["no colon", "this is not a header"],
  ["an empty name", ": value"],
  ["a name with a NUL byte", "x\0y: value"],
  ["a value with a NUL byte", "x-nul: a\0b"],
  ["a name with a space", "x y: value"],
  ["a bare line feed in a value", "x-lf: a\nmcp-session-id: stolen"],
  ["a bare carriage return in a value", "x-cr: a\rb"],
  ["a folded line", "x-fold: a\r\n b"],
  ["a name with a quote", "x\"y: value"],
  ["a name beyond ASCII", "x\u00e9: value"],
  ["a value with a control character", "x-bell: a\u0007b"],
  ["a name with a parenthesis", "x(y): value"]
] as const

export const attacks: ReadonlyArray<HttpAttack> = [
  ...hosts.map(([host, expect]) => attack(`Host ${JSON.stringify(host.slice(0, 40))}`, expect, { headers: { host } })),
  attack("no Host", ["400", "403"], { headers: { host: undefined } }),
  ...origins.map(([origin, expect]) =>
    attack(`Origin ${JSON.stringify(origin.slice(0, 40))}`, expect, { headers: { origin } })
  ),
  ...contentTypes.map((type) =>
    attack(`Content-Type ${JSON.stringify(type.slice(0, 50))}`, "415", { headers: { "content-type": type } })
  ),
  attack("no Content-Type", "415", { headers: { "content-type": undefined } }),
  ...encodings.map((encoding) =>
    attack(`Content-Encoding ${encoding}`, "415", { headers: { "content-encoding": encoding } })
  ),
  ...accepts.map(([accept, expect]) =>
    attack(`Accept ${JSON.stringify(accept?.slice(0, 50))}`, expect, { headers: { accept } })
  ),
  ...sizes,
  ...duplicates,
  ...strange.map(([name, line]) => attack(`a header with ${name}`, "400", { lines: [line] }))
]
