/**
 * What only a hostile HTTP server can do: redirects, compressed bodies that grow, streams that are cut or never begin, storms
 * of comments, refusals without end. The client must end its call, send few requests, and send its credentials to no other
 * origin.
 */
import { deflateSync, gzipSync } from "node:zlib"
import { grows } from "../Growth.js"
import { error, type Exchange, initialized, notification, range, result, type ServerAttack } from "./Server.js"

const attack = (name: string, http: ServerAttack["http"], more: Partial<ServerAttack> = {}): ServerAttack => ({
  name: `http: ${name}`,
  over: ["http"],
  http,
  ...more
})

const isCall = (body: string): boolean => body.includes("\"tools/call\"")

const idOf = (body: string): string => JSON.stringify(JSON.parse(body).id)

/** Answers calls only; the other requests are answered as any server does. */
const toCalls = (answer: (exchange: Exchange, id: string) => void) => (exchange: Exchange): boolean => {
  if (!isCall(exchange.body)) return false
  answer(exchange, idOf(exchange.body))
  return true
}

const redirect = (name: string, status: number, target: (exchange: Exchange) => string): ServerAttack =>
  attack(
    `${status} to ${name}`,
    toCalls((exchange) => void exchange.response.writeHead(status, { location: target(exchange) }).end()),
    { expect: "fails", atMost: 12 }
  )

const targets: ReadonlyArray<readonly [name: string, target: (exchange: Exchange) => string]> = [
  ["itself", ({ request }) => request.url!],
  ["a new place each time", ({ request }) => `${request.url!}?${Math.random()}`],
  ["another origin", ({ other }) => `${other}/stolen`],
  ["another origin without a scheme", ({ other }) => `${other.replace("http:", "")}/stolen`],
  ["credentials of this origin", ({ origin, request }) => origin.replace("//", "//user:secret@") + request.url!],
  ["a file", () => "file:///etc/passwd"],
  ["a private address", () => "http://169.254.169.254/latest/meta-data"],
  ["data", () => "data:application/json,{}"],
  ["a script", () => "javascript:alert(1)"],
  ["no URL", () => "http://["],
  ["a URL of 10 KB", ({ request }) => `${request.url!}?${"q".repeat(10_000)}`]
]

const redirects: ReadonlyArray<ServerAttack> = [
  ...[307, 308].flatMap((status) => targets.map(([name, target]) => redirect(name, status, target))),
  ...[301, 302, 303].map((status) => redirect("another origin", status, ({ other }) => `${other}/stolen`)),
  redirect("itself", 304, ({ request }) => request.url!),
  attack("307 without a target", toCalls(({ response }) => void response.writeHead(307).end()), { expect: "fails" })
]

/** A valid answer whose text is `size` times the same letter: compressed, it is a thousand times smaller. */
const bomb = (id: string, size: number): string =>
  result(id, `{"content":[{"type":"text","text":"${"a".repeat(size)}"}]}`)

const json = { "content-type": "application/json" }
const events = { "content-type": "text/event-stream", "cache-control": "no-cache" }

/** A compressed body that is much larger than the client takes when it is unpacked, where it begins with `begin`. */
const large = (begin: string, pack: (bytes: Buffer, options: { level: number }) => Buffer): Buffer =>
  pack(Buffer.concat([Buffer.from(begin), Buffer.alloc(100_000_000, "a")]), { level: 1 })

let packed: Record<"gzip" | "deflate" | "event", Buffer>

/** Compresses the bodies. It must be called before the attacks, because a client would not wait so long. */
export const prepare = (): void => {
  packed = { gzip: large("[\"", gzipSync), deflate: large("[\"", deflateSync), event: large("data: ", gzipSync) }
}

const exploding = (
  name: string,
  bytes: keyof typeof packed,
  headers: Record<string, string>,
  more: Partial<ServerAttack>,
  status = 200
): ServerAttack =>
  attack(name, toCalls(({ response }) => void response.writeHead(status, headers).end(packed[bytes])), {
    expect: "fails",
    ...more
  })

/** An answer in chunks of one byte. */
const inSingleBytes = (name: string, headers: Record<string, string>, text: (id: string) => string): ServerAttack =>
  attack(
    name,
    toCalls(({ response }, id) => {
      response.writeHead(200, headers)
      response.flushHeaders()
      const chunks = Array.from(text(id), (character) => `1\r\n${character}\r\n`).join("")
      // Not by the response, which would not write so many chunks at once.
      response.socket!.end(`${chunks}0\r\n\r\n`)
    }),
    { expect: "ok" }
  )

const bombs: ReadonlyArray<ServerAttack> = [
  grows(300_000, (size) => inSingleBytes("an answer in chunks of one byte", json, (id) => bomb(id, size))),
  grows(
    300_000,
    (size) => inSingleBytes("an event in chunks of one byte", events, (id) => `data: ${bomb(id, size)}\n\n`)
  ),
  grows(8_000_000, (size) =>
    attack(
      "an answer of 8 MB in gzip",
      toCalls(({ response }, id) => {
        response.writeHead(200, { ...json, "content-encoding": "gzip" }).end(gzipSync(bomb(id, size)))
      }),
      { expect: "ok" }
    )),
  exploding("a bomb of 100 MB in gzip", "gzip", { ...json, "content-encoding": "gzip" }, { says: /bytes/ }),
  exploding("a bomb of 100 MB in deflate", "deflate", { ...json, "content-encoding": "deflate" }, { says: /bytes/ }),
  exploding("a bomb in gzip as an event", "event", { ...events, "content-encoding": "gzip" }, { says: /bytes/ }),
  exploding("a bomb in gzip as a refusal", "gzip", { ...json, "content-encoding": "gzip" }, {}, 500),
  attack(
    "half of an answer in gzip",
    toCalls(({ response }, id) => {
      const bytes = gzipSync(bomb(id, 100_000))
      response.writeHead(200, { ...json, "content-encoding": "gzip" }).end(bytes.subarray(0, bytes.length / 2))
    }),
    { expect: "fails" }
  ),
  attack(
    "an answer that says gzip and is not compressed",
    toCalls(({ response }, id) => {
      response.writeHead(200, { ...json, "content-encoding": "gzip" }).end(bomb(id, 100))
    })
  ),
  attack(
    "gzip in gzip",
    toCalls(({ response }, id) => {
      response.writeHead(200, { ...json, "content-encoding": "gzip, gzip" }).end(gzipSync(gzipSync(bomb(id, 100))))
    })
  )
]

/** A stream that begins with this text, and is then cut. A GET that would resume the stream gets a stream of the same kind. */
const cut = (name: string, text: (n: number) => string, more: Partial<ServerAttack> = {}): ServerAttack => {
  let times = 0
  return attack(
    name,
    ({ body, request, response }) => {
      const resumes = request.method === "GET" && request.headers["last-event-id"] !== undefined
      if (!isCall(body) && !resumes) return false
      response.writeHead(200, { ...events, "mcp-session-id": "hostile" })
      response.write(text(times++))
      setImmediate(() => response.destroy())
      return true
    },
    { expect: "fails", atMost: 40, ...more }
  )
}

const endless = (name: string, text: string, more: Partial<ServerAttack> = {}): ServerAttack =>
  attack(
    name,
    toCalls(({ response }) => {
      response.writeHead(200, events)
      const write = (): void => {
        let free = true
        for (let n = 0; n < 64 && free; n++) free = response.write(text)
        if (response.destroyed) return
        if (free) setImmediate(write)
        else response.once("drain", write)
      }
      write()
    }),
    { expect: "fails", ...more }
  )

/** An answer after something that a reader must skip. */
const after = (name: string, text: string, more: Partial<ServerAttack> = {}): ServerAttack =>
  attack(
    name,
    toCalls(({ response }, id) => {
      response.writeHead(200, events).end(`${text}data: ${result(id, "{\"content\":[]}")}\n\n`)
    }),
    { expect: "ok", ...more }
  )

const log = notification("notifications/message", "{\"level\":\"info\",\"data\":\"x\"}")

const streams: ReadonlyArray<ServerAttack> = [
  cut("a cut stream that may be resumed at once", (n) => `id: ${n}\nretry: 0\ndata:\n\n`),
  cut(
    "a cut stream that may be resumed in 1e308 milliseconds",
    (n) => `id: ${n}\nretry: ${"9".repeat(308)}\ndata:\n\n`
  ),
  cut("a cut stream that may be resumed in the past", (n) => `id: ${n}\nretry: -1\ndata:\n\n`),
  cut("a cut stream with one id for ever", () => "id: same\nretry: 0\ndata:\n\n"),
  cut("a cut stream without an id", () => "retry: 0\ndata:\n\n"),
  grows(
    1_000_000,
    (size) => cut("a cut stream with an id of 1 MB", () => `id: ${"i".repeat(size)}\nretry: 0\ndata:\n\n`)
  ),
  grows(10_000, (size) =>
    cut(
      "a cut stream with 10,000 ids",
      (n) => range(size).map((m) => `id: ${n}-${m}\ndata:\n\n`).join("") + "retry: 0\n\n"
    )),
  cut(
    "a cut stream with a change in each",
    (n) => `id: ${n}\nretry: 0\ndata: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n`
  ),
  endless("events that begin a stream, for ever", "id: 1\ndata:\n\n"),
  endless("comments for ever", ": keep alive\n"),
  endless("one line for ever", "x".repeat(10_000)),
  endless("one event for ever", `data: ${"x".repeat(10_000)}\n`),
  endless("changes for ever", "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n"),
  endless("malformed events for ever", "data: {no}\n\n"),
  ...([
    ["200,000 comments", 200_000, ": comment\n"],
    ["200,000 unknown fields", 200_000, "colour: red\n"],
    ["100,000 empty events", 100_000, "\n\n"],
    ["100,000 events of another type", 100_000, "event: other\ndata: {}\n\n"],
    ["100,000 ids", 100_000, "id: 1\n\n"],
    ["10,000 malformed events", 10_000, "data: {no}\n\n"],
    ["10,000 logs in events", 10_000, `data: ${log}\n\n`]
  ] as const).map(([name, count, text]) => grows(count, (size) => after(name, text.repeat(size), { isBounded: true }))),
  grows(
    100_000,
    (size) => after("an event of another type in 100,000 lines", `event: other\n${"data: x\n".repeat(size)}\n`)
  ),
  grows(9_000_000, (size) => after("a comment of 9 MB", `: ${"x".repeat(size)}\n\n`)),
  after("a mark of the byte order and other line ends", "\ufeff: comment\r\n\r: comment\n\n"),
  attack(
    "an answer one byte at a time",
    toCalls(({ response }, id) => {
      const text = result(id, "{\"content\":[]}")
      response.writeHead(200, json)
      const write = (at: number): void => {
        if (at >= text.length) return void response.end()
        response.write(text[at])
        setImmediate(write, at + 1)
      }
      write(0)
    }),
    { expect: "ok" }
  ),
  attack(
    "a body that is shorter than it says",
    toCalls(({ response }, id) => {
      response.writeHead(200, { ...json, "content-length": "1000000" })
      response.write(result(id, "{\"content\":[]}"))
      setTimeout(() => response.destroy(), 50)
    }),
    { expect: "fails" }
  ),
  attack("a body that never begins", toCalls(({ response }) => void response.writeHead(200, json).flushHeaders()), {
    expect: "fails"
  }),
  attack(
    "an answer of an unknown kind",
    toCalls(({ response }, id) => {
      response.writeHead(200, { "content-type": "multipart/mixed; boundary=x" }).end(result(id, "{\"content\":[]}"))
    })
  ),
  attack(
    "an error that repeats the token",
    toCalls(({ request, response }, id) => {
      const message = JSON.stringify(`not for ${request.headers.authorization}`)
      response.writeHead(200, json).end(error(id, `{"code":-32000,"message":${message},"data":${message}}`))
    }),
    { expect: "fails", says: /^(?![^]*hostile-token)[^]*not for/ }
  ),
  attack("204 for a call", toCalls(({ response }) => void response.writeHead(204).end()), { expect: "fails" }),
  attack("202 for a call", toCalls(({ response }) => void response.writeHead(202).end()), { expect: "fails" }),
  grows(1000, (size) =>
    attack(
      "1,000 headers",
      toCalls(({ response }, id) => {
        response.writeHead(200, { ...json, ...Object.fromEntries(range(size).map((n) => [`x-h${n}`, "v"])) })
        response.end(result(id, "{\"content\":[]}"))
      })
    ))
]

const refused = (
  status: number,
  headers: Record<string, string>,
  text = "",
  more: Partial<ServerAttack> = {}
): ServerAttack =>
  attack(
    `${status} for ever${Object.keys(headers).length === 0 ? "" : ` with ${Object.keys(headers).join(", ")}`}`,
    toCalls(({ response }) => void response.writeHead(status, headers).end(text)),
    { expect: "fails", atMost: 25, ...more }
  )

let sessions = 0

const refusals: ReadonlyArray<ServerAttack> = [
  refused(401, { "www-authenticate": `Bearer ${"realm=\"x\",".repeat(500)}` }),
  refused(403, {}),
  refused(429, { "retry-after": "0" }),
  refused(503, { "retry-after": "-1" }),
  refused(408, {}),
  refused(425, {}),
  grows(5_000_000, (size) => refused(500, {}, "x".repeat(size))),
  attack(
    "404 for each new session",
    ({ body, response }) => {
      if (isCall(body)) return response.writeHead(404).end() !== undefined
      if (!body.includes("\"initialize\"")) return false
      response.writeHead(200, { ...json, "mcp-session-id": `s${sessions++}` })
      return response.end(result(idOf(body), initialized())) !== undefined
    },
    { expect: "fails", atMost: 30 }
  ),
  attack(
    "a session id of 8 KB",
    ({ body, response }) => {
      if (!body.includes("\"initialize\"")) return false
      response.writeHead(200, { ...json, "mcp-session-id": "s".repeat(8000) })
      return response.end(result(idOf(body), initialized())) !== undefined
    }
  )
]

export const attacks: ReadonlyArray<ServerAttack> = [...redirects, ...bombs, ...streams, ...refusals]
