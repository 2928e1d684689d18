/**
 * Stands between a host and a server: passes every message on unchanged, and gives each message to a `Watcher`. The watcher of `Trace`
 * prints messages, and the watcher of `Record` records messages. A host launches this program in place of a server over stdio, or connects
 * to this program in place of the server's URL. The requests to the server's URL use the same HTTP client as the other commands, with the
 * proxies of the environment. By Host and Origin, this program refuses requests of web pages that do not come from this machine.
 */
import * as Args from "@effect/cli/Args"
import * as Options from "@effect/cli/Options"
import * as Cookies from "@effect/platform/Cookies"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Redaction from "@effect-mcp/core/Redaction"
import * as Race from "@effect-mcp/core/unstable/kit/Race"
import * as TimeLimit from "@effect-mcp/core/unstable/kit/TimeLimit"
import * as Guard from "@effect-mcp/core/unstable/server/Guard"
import * as GuardedHttpClient from "@effect-mcp/node/GuardedHttpClient"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import { spawn } from "node:child_process"
import * as Http from "node:http"
import { pipeline, type Readable, Transform } from "node:stream"
import { Failure, refused, usage } from "./CommandFailure.js"
import * as Target from "./Target.js"

export type Direction = "sent" | "received"

export interface Watcher {
  /**
   * Gets each JSON value that is passed on, and the text that contains the value. The value should be a message. `message` is `undefined`
   * for a text that is not JSON.
   */
  readonly see: (direction: Direction, message: unknown, text: string) => void
  /** Gets a sentence about everything else that happens, such as the end of the server. */
  readonly say: (text: string) => void
}

/**
 * The longest message that the watcher gets: in characters for a line or an event, in bytes for a body. A longer message is passed on, but
 * the watcher does not get it.
 */
export const MAX_LINE = 16 * 1024 * 1024

/** Gives the watcher each message of a text that is passed on. */
const shown = ({ see }: Watcher, direction: Direction) => (text: string): void => {
  if (text.trim() === "") return
  const value = Option.getOrUndefined(Option.liftThrowable(() => JSON.parse(text) as unknown)())
  for (const message of Array.isArray(value) ? value : [value]) see(direction, message, text)
}

/** Passes bytes on, and gives each of their lines to `see`. For a line that is too long, `see` gets an empty text. */
const lines = (see: (line: string) => void): Transform => {
  let parts: Array<string> = []
  let size = 0
  const decoder = new TextDecoder()
  const keep = (text: string) => {
    size += text.length
    if (size <= MAX_LINE) parts.push(text)
    else parts = []
  }
  const end = () => {
    see(parts.join(""))
    parts = []
    size = 0
  }
  return new Transform({
    transform(chunk: Buffer, _, done) {
      const [first = "", ...more] = decoder.decode(chunk, { stream: true }).split("\n")
      keep(first)
      for (const part of more) {
        end()
        keep(part)
      }
      done(null, chunk)
    },
    flush(done) {
      end()
      done()
    }
  })
}

const closed = (stream: Readable): Effect.Effect<void> =>
  Effect.async((resume) => stream.closed ? resume(Effect.void) : void stream.once("close", () => resume(Effect.void)))

/**
 * Waits until a stream has closed, or until its reader has taken everything and no data has come for a second. Then destroys the stream.
 */
const drained = (stream: Readable): Effect.Effect<void> => {
  let size = 0
  let before = -1
  const count = (chunk: Buffer) => void (size += chunk.length)
  const look: Effect.Effect<void> = Effect.suspend(() => {
    if (size === before && stream.readableLength === 0 && !stream.isPaused()) return Effect.void
    before = size
    return Effect.zipRight(Effect.sleep("1 second"), look)
  })
  return Effect.acquireUseRelease(
    Effect.sync(() => stream.on("data", count)),
    () => Race.raceFirst(closed(stream), look),
    () => Effect.sync(() => void stream.off("data", count).destroy())
  )
}

const ofPipe = (program: string, args: ReadonlyArray<string>, watcher: Watcher) =>
  Effect.async<number, Failure>((resume) => {
    const child = spawn(program, args, { stdio: "pipe" })
    const ended = Effect.async<void>((resume) => {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) resume(Effect.void)
      else child.once("exit", () => resume(Effect.void))
    })
    child.once(
      "error",
      ({ message }) =>
        resume(Effect.fail(new Failure({ kind: "connect", message: `Cannot launch ${program}: ${message}` })))
    )
    child.once("exit", (code, signal) =>
      resume(
        // A child of the server may hold both streams open.
        drained(child.stdout).pipe(
          Effect.zipRight(TimeLimit.end(closed(child.stderr), "1 second")),
          Effect.map(() => {
            child.stderr.destroy()
            watcher.say(`The server has ended: ${signal ?? `code ${code}`}`)
            return code ?? 1
          })
        )
      ))
    process.stdin.pipe(lines(shown(watcher, "sent"))).pipe(child.stdin)
    child.stdout.pipe(lines(shown(watcher, "received"))).pipe(process.stdout)
    child.stderr.pipe(process.stderr, { end: false })
    child.stdin.on("error", () => {})
    const kill = (signal: NodeJS.Signals) =>
      Effect.zipRight(
        Effect.sync(() => void child.kill(signal)),
        TimeLimit.end(ended, "2 seconds")
      )
    return Effect.zipRight(kill("SIGTERM"), kill("SIGKILL"))
  })

/** Passes an event stream on, and gives the data of each event to `see`. The data of an event is a message. */
const events = (see: (text: string) => void): Transform => {
  let data: Array<string> = []
  let size = 0
  return lines((line) => {
    const text = line.replace(/\r$/, "")
    if (text.startsWith("data:")) {
      size += text.length
      if (size <= MAX_LINE) data.push(text.slice(5).trimStart())
    } else if (text === "") {
      if (data.length > 0 && size <= MAX_LINE) see(data.join("\n"))
      data = []
      size = 0
    }
  })
}

const whole = (see: (text: string) => void): Transform => {
  const chunks: Array<Buffer> = []
  let size = 0
  return new Transform({
    transform(chunk: Buffer, _, done) {
      size += chunk.length
      if (size <= MAX_LINE) chunks.push(chunk)
      done(null, chunk)
    },
    flush(done) {
      if (size <= MAX_LINE) see(Buffer.concat(chunks).toString())
      done()
    }
  })
}

/** Refuses requests that do not come from programs and pages of this machine. The port is on the loopback interface. */
const guard = Guard.make()

const headersOf = ({ headers }: Http.IncomingMessage) => ({ host: headers.host, origin: headers.origin })

/** Headers that belong to one connection and are therefore not passed on. `undici` refuses requests with some of these headers. */
const HOP = new Set(["connection", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"])

const passed = (headers: Http.IncomingHttpHeaders, without: ReadonlyArray<string> = []): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || HOP.has(name) || without.includes(name) ? [] : [[name, String(value)]]
    )
  )

type Run = (effect: Effect.Effect<void, never, HttpClient.HttpClient>) => Fiber.RuntimeFiber<void>

const forward = (to: URL, watcher: Watcher, run: Run): Http.RequestListener => (request, response) => {
  const { say } = watcher
  const refusal = guard.check(headersOf(request))
  if (refusal !== undefined) {
    say(`${request.method} was refused: ${refusal.message}`)
    return void response.writeHead(403).end()
  }
  // Servers of revision 2024-11-05 have a second path.
  const [path = "/", base] = [request.url, "http://127.0.0.1"] as const
  if (!URL.canParse(path, base)) return void response.writeHead(400).end()
  const url = new URL(to)
  const { pathname, search } = new URL(path, base)
  url.pathname = pathname
  url.search = search
  if (request.method !== "POST") say(`${request.method} ${Redaction.text(path)}`)
  const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers
  const outgoing = HttpClientRequest.make(request.method as HttpMethod)(url.href, {
    headers: passed(request.headers, ["accept-encoding"]),
    // `pipeline` is not used here, because it would close the connection to the host when the server cannot be reached.
    ...(encoding !== undefined || length !== "0"
      ? { body: HttpBody.raw(request.pipe(whole(shown(watcher, "sent")))) }
      : undefined)
  })
  const fiber = run(
    HttpClient.execute(outgoing).pipe(
      Effect.matchEffect({
        onFailure: (error) =>
          Effect.sync(() => {
            say(`${request.method} failed: ${reasonOf(error)}`)
            response.writeHead(502).end()
          }),
        onSuccess: (answer) => answerWith(answer, request, response, watcher)
      }),
      // Tracing is off, because a span would add headers to the request.
      Effect.withTracerEnabled(false)
    )
  )
  // When the host closes its connection, the request to the server ends.
  response.once("close", () => fiber.unsafeInterruptAsFork(fiber.id()))
}

const reasonOf = (error: Error): string => error.cause instanceof Error ? error.cause.message : error.message

const answerWith = (
  answer: HttpClientResponse,
  request: Http.IncomingMessage,
  response: Http.ServerResponse,
  watcher: Watcher
): Effect.Effect<void> =>
  Effect.flatMap(NodeStream.toReadable(answer.stream), (body) =>
    Effect.async((resume) => {
      const { status } = answer
      const cookies = Cookies.toSetCookieHeaders(answer.cookies)
      response.writeHead(status, {
        ...passed(answer.headers, ["set-cookie"]),
        ...(cookies.length === 0 ? undefined : { "set-cookie": cookies })
      })
      response.flushHeaders()
      const isStream = /^text\/event-stream/i.test(answer.headers["content-type"] ?? "")
      if (status >= 300) watcher.say(`${request.method} was answered with ${status}`)
      // When the answer of the server ends too early, the answer to the host ends too early as well.
      pipeline(body, (isStream ? events : whole)(shown(watcher, "received")), response, (error) => {
        if (error) watcher.say(`The answer to ${request.method} was cut: ${reasonOf(error)}`)
        resume(Effect.void)
      })
    }))

const ofUrl = (to: URL, port: number, watcher: Watcher) =>
  Effect.flatMap(
    FiberSet.makeRuntime<HttpClient.HttpClient, void, never>(),
    (run) =>
      Effect.async<never, Failure>((resume) => {
        const server = Http.createServer(forward(to, watcher, run))
        server.once("error", (error) => resume(Effect.fail(refused(error.message))))
        server.listen(port, "127.0.0.1", () => {
          const address = server.address()
          const own = typeof address === "object" && address !== null ? address.port : port
          watcher.say(`Connect the host to http://127.0.0.1:${own}${to.pathname}${to.search}`)
        })
        return Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        })
      })
  )

export const port = Target.port.pipe(
  Options.withDescription("The port to which the host connects in place of a URL, 0 for any free port"),
  Options.withDefault(0)
)

/** The word that names a server with a URL, for `trace` and `record`. */
export const url = Args.text({ name: "url" }).pipe(
  Args.withDescription("The URL of the server, unless its command line comes after --"),
  Args.atMost(1)
)

/**
 * Passes messages on until a launched server ends or the command is interrupted. `after` is the command line after `--`. Fails when the
 * server cannot be launched or ends with another exit code than 0, when the port cannot be used, and when the user names no server.
 */
export const run = (
  after: ReadonlyArray<string>,
  url: string | undefined,
  port: number,
  watcher: Watcher
) =>
  Effect.gen(function*() {
    const [program, ...args] = after
    if (program !== undefined) {
      const code = yield* ofPipe(program, args, watcher)
      if (code !== 0) return yield* refused(`The server ended with code ${code}`)
    } else if (url !== undefined && URL.canParse(url)) {
      yield* Effect.provide(ofUrl(new URL(url), port, watcher), GuardedHttpClient.layer)
    } else return yield* usage("Give the URL of the server, or its command line after --")
  })
