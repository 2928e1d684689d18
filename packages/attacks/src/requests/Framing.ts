/**
 * Requests that are hostile in how they are framed: request lines, methods, paths, lengths, chunks, smuggled requests,
 * requests sent by halves.
 */
import { grows } from "../Growth.js"
import { attack, echo, type HttpAttack, request } from "./Request.js"

const methods: ReadonlyArray<readonly [method: string, expect: string | ReadonlyArray<string>]> = [
  ["PUT", "405"],
  ["PATCH", "405"],
  ["HEAD", "405"],
  ["TRACE", "405"],
  ["PROPFIND", "405"],
  ["M-SEARCH", "405"],
  ["LINK", "405"],
  ["QUERY", ["405", "400"]],
  ["OPTIONS", "204"],
  ["CONNECT", ["400", "405", "cut"]],
  ["post", "400"],
  ["GETPOST", "400"],
  ["", "400"],
  ["P\0ST", "400"],
  ["POST POST", "400"],
  ["DELET", "400"],
  ["X".repeat(10_000), "400"]
]

const targets: ReadonlyArray<readonly [target: string, expect: string | ReadonlyArray<string>]> = [
  ["/", "404"],
  ["/MCP", "404"],
  ["/mcp/../mcp", "404"],
  ["/mcp/..", "404"],
  ["/%6dcp", "404"],
  ["//mcp", "404"],
  ["/mcp;x=1", "404"],
  ["/mcp%00", "404"],
  ["/mcp%2f", "404"],
  ["/.%2e/mcp", "404"],
  ["/mcp\\", "404"],
  ["*", ["400", "404"]],
  ["mcp", ["400", "404"]],
  ["http://evil.example/mcp", ["200", "400", "403", "404"]],
  ["http://localhost/mcp", ["200", "400", "404"]],
  ["/mcp#fragment", ["200", "400", "404"]],
  ["/mcp?session=1&__proto__[x]=1", "200"],
  ["/mcp?%", "200"],
  ["/mcp?" + "a=b&".repeat(1000), "200"],
  ["", "400"],
  ["/mcp\u00ff", ["400", "404"]],
  ["/constructor", "404"],
  ["/__proto__", "404"]
]

const versions: ReadonlyArray<readonly [version: string, expect: string | ReadonlyArray<string>]> = [
  ["HTTP/0.9", ["200", "400", "505"]],
  ["HTTP/1.0", "200"],
  ["HTTP/1.2", ["400", "505"]],
  ["HTTP/2.0", ["200", "400", "505"]],
  ["HTTP/9.9", ["400", "505"]],
  ["HTTP/1.1.1", "400"],
  ["http/1.1", "400"],
  ["HTTP/11", "400"],
  ["", ["400", "505"]],
  ["XTTP/1.1", "400"]
]

const lengths: ReadonlyArray<readonly [length: string | undefined, expect: string | ReadonlyArray<string>]> = [
  ["-1", "400"],
  ["+5", "400"],
  ["0x10", "400"],
  ["1e3", "400"],
  ["5, 5", "400"],
  ["abc", "400"],
  ["", "400"],
  ["99999999999999999999999", ["400", "413"]],
  ["9007199254740993", "413"],
  ["4194305", "413"],
  ["0", ["400", "400 400"]],
  [undefined, ["400", "400 400"]]
]

const codings: ReadonlyArray<readonly [coding: string, expect: string | ReadonlyArray<string>]> = [
  ["gzip, chunked", ["400", "415", "501"]],
  ["chunked, chunked", ["400", "501"]],
  ["chunked, gzip", "400"],
  ["identity", "400"],
  ["xchunked", "400"],
  [" chunked", ["400", "200"]],
  ["chunked;q=1", "400"],
  ["chunk", "400"],
  ["\"chunked\"", "400"]
]

const chunked = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n0\r\n\r\n`

const chunks: ReadonlyArray<readonly [name: string, body: string, expect: string | ReadonlyArray<string>]> = [
  ["valid chunks", chunked(echo), "200"],
  ["chunks of one byte", [...echo].map((one) => `1\r\n${one}\r\n`).join("") + "0\r\n\r\n", "200"],
  ["a negative chunk", "-1\r\nx\r\n0\r\n\r\n", "400"],
  ["a chunk that is not a number", "zz\r\nx\r\n0\r\n\r\n", "400"],
  ["a chunk size that overflows", "fffffffffffffffff\r\nx\r\n0\r\n\r\n", "400"],
  ["a chunk longer than it says", "2\r\nxxxxxx\r\n0\r\n\r\n", "400"],
  ["a chunk extension of 20 KB", `5;${"e".repeat(20_000)}\r\nhello\r\n0\r\n\r\n`, ["400", "413", "431"]],
  ["a bare line feed after a chunk size", "5\nhello\n0\n\n", "400"],
  [
    "trailers with a session id",
    `${echo.length.toString(16)}\r\n${echo}\r\n0\r\nmcp-session-id: stolen\r\n\r\n`,
    "200"
  ],
  ["trailers of 40 KB", `${echo.length.toString(16)}\r\n${echo}\r\n0\r\nx-t: ${"t".repeat(40_000)}\r\n\r\n`, [
    "200",
    "400",
    "431",
    "cut"
  ]],
  ["no last chunk", `${echo.length.toString(16)}\r\n${echo}\r\n`, "waits"],
  ["nothing but the last chunk", "0\r\n\r\n", "400"]
]

const noLength = { "content-length": undefined, "transfer-encoding": "chunked" }

const get = "GET /admin HTTP/1.1\r\nhost: localhost\r\n\r\n"

const smuggled: ReadonlyArray<HttpAttack> = [
  attack("length and chunks, the chunks shorter", "400", {
    lines: ["transfer-encoding: chunked"],
    body: `0\r\n\r\n${get}`
  }),
  attack("length and chunks, the length shorter", "400", {
    headers: { "content-length": "4" },
    lines: ["transfer-encoding: chunked"],
    body: `5c\r\n${get}\r\n0\r\n\r\n`
  }),
  attack("chunks named with a tab", "400", { lines: ["transfer-encoding:\tchunked"], body: `0\r\n\r\n${get}` }),
  attack("chunks behind a folded line", "400", { lines: ["transfer-encoding:\r\n chunked"], body: `0\r\n\r\n${get}` }),
  attack("chunks and a second coding", "400", {
    headers: noLength,
    lines: ["transfer-encoding: identity"],
    body: `0\r\n\r\n${get}`
  }),
  attack("a length of zero, a request behind it", "400 404", { headers: { "content-length": "0" }, body: get }),
  attack("a body behind GET", ["200", "200 404", "400"], {
    method: "GET",
    headers: { "content-length": "0" },
    body: get
  }),
  {
    name: "three pipelined calls",
    expect: ["200 200 200"],
    send: (context) => [Buffer.concat([1, 2, 3].map(() => request(context)))]
  },
  grows(1000, (size) => ({
    name: "1,000 pipelined calls",
    expect: [Array(size).fill("200").join(" ")],
    send: (context) => [Buffer.concat(Array.from({ length: size }, () => request(context)))]
  })),
  attack("an upgrade to WebSocket", ["200", "400", "cut"], {
    headers: { connection: "Upgrade", upgrade: "websocket" }
  }),
  attack("an upgrade to HTTP/2", ["200", "400", "cut"], {
    headers: { connection: "Upgrade, HTTP2-Settings", upgrade: "h2c", "http2-settings": "" }
  }),
  attack("an expectation of a hundred", ["100 200", "200"], { headers: { expect: "100-continue" } }),
  attack("an unknown expectation", ["417", "200"], { headers: { expect: "magic" } }),
  attack("hop-by-hop headers that name the session id", "200", { headers: { connection: "close, mcp-session-id" } })
]

const raw: ReadonlyArray<readonly [name: string, bytes: string | Uint8Array, expect: string | ReadonlyArray<string>]> =
  [
    ["nothing", "", "waits"],
    ["a line feed", "\n", "waits"],
    ["half a method", "PO", "waits"],
    ["half the headers", "POST /mcp HTTP/1.1\r\nhost: loc", "waits"],
    ["a TLS handshake", Buffer.from("16030100a5010000a10303", "hex"), "400"],
    ["an HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", ["400", "505"]],
    ["a SOCKS greeting", Buffer.from([5, 1, 0]), "400"],
    ["an SSH greeting", "SSH-2.0-OpenSSH_9.0\r\n", "400"],
    ["JSON without HTTP", echo + "\n", "400"],
    ["zero bytes", Buffer.alloc(4096), "400"],
    ["a hundred thousand empty lines", "\r\n".repeat(100_000), ["waits", "400", "cut"]],
    ["bytes at random", Buffer.from(Array.from({ length: 4096 }, (_, n) => (n * 7919) % 256)), "400"]
  ]

export const attacks: ReadonlyArray<HttpAttack> = [
  ...methods.map(([method, expect]) => attack(`method ${JSON.stringify(method.slice(0, 30))}`, expect, { method })),
  ...targets.map(([target, expect]) => attack(`target ${JSON.stringify(target.slice(0, 40))}`, expect, { target })),
  ...versions.map(([version, expect]) => attack(`version ${JSON.stringify(version)}`, expect, { version })),
  ...lengths.map(([length, expect]) =>
    attack(`Content-Length ${JSON.stringify(length)}`, expect, { headers: { "content-length": length } })
  ),
  ...codings.map(([coding, expect]) =>
    attack(`Transfer-Encoding ${JSON.stringify(coding)}`, expect, {
      headers: { ...noLength, "transfer-encoding": coding },
      body: chunked(echo)
    })
  ),
  ...chunks.map(([name, body, expect]) => attack(name, expect, { headers: noLength, body })),
  ...smuggled,
  ...raw.map(([name, bytes, expect]): HttpAttack => ({
    name: `${name} instead of a request`,
    expect: typeof expect === "string" ? [expect] : expect,
    send: () => [bytes]
  }))
]
