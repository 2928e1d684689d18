/**
 * `trace`: stands between a host and a server and prints every message, both eras alike. A host launches it in place of a server
 * of a pipe, and connects to it in place of a URL; what passes is not changed. Messages go to standard error or to a file, without the
 * secrets that `Redaction` knows. The server is reached as other commands reach it, also through a proxy of the environment. A page of
 * the web cannot use the port of a trace: its Host or Origin is refused. `Cli` runs the command.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
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
import * as Predicate from "effect/Predicate"
import { spawn } from "node:child_process"
import * as Http from "node:http"
import { pipeline, type Readable, Transform } from "node:stream"
import { Failure, refused, usage } from "../CommandFailure.js"
import { paint, render, say, type Styled } from "../CommandOutput.js"
import { jsonLine, jsonText } from "../Escape.js"
import * as Places from "../Places.js"
import { port } from "../Target.js"

type Direction = "sent" | "received"

interface Tracer {
  /** A text that passed, which should be a message. */
  readonly see: (direction: Direction, text: string) => void
  readonly say: (text: string) => void
}

const MAX = 2000
/** The longest line that is kept to be shown; longer ones pass unseen. */
const MAX_LINE = 16 * 1024 * 1024

/** The most requests that are remembered until their answers; the oldest are forgotten first. */
const MAX_REQUESTS = 10_000

const shown = (value: unknown): string => {
  const text = jsonText(value, 0)
  return text.length > MAX ? `${text.slice(0, MAX)}… (${text.length} characters)` : text
}

const make = (write: (line: Styled) => void, json: boolean, now: () => number): Tracer => {
  const methods = new Map<string, { readonly method: string; readonly at: number }>()
  const started = now()
  const describe = (direction: Direction, message: Record<string, unknown>): Styled => {
    const { error, id, method, params, result } = message
    const name = Predicate.isString(id) ? id : shown(id)
    const key = (of: Direction) => `${of} ${JSON.stringify(id)}`
    if (Predicate.isString(method)) {
      if (id !== undefined) {
        methods.set(key(direction), { method, at: now() })
        if (methods.size > MAX_REQUESTS) methods.delete(methods.keys().next().value!)
      }
      return [id === undefined ? "" : [paint("dim", `#${name}`), " "], paint("bold", method), ` ${shown(params)}`]
    }
    const asked = key(direction === "sent" ? "received" : "sent")
    const request = methods.get(asked)
    methods.delete(asked)
    return [
      paint("dim", `#${name}`),
      request === undefined ? " " : ` ${request.method} (${now() - request.at} ms) `,
      error === undefined ? shown(result) : [paint("red", "error"), ` ${shown(error)}`]
    ]
  }
  const line = (direction: Direction, given: unknown, text: string) => {
    const message = Redaction.value(given)
    if (json) {
      return write(jsonLine({ at: now(), direction, message: given === undefined ? Redaction.text(text) : message }))
    }
    const arrow = direction === "sent" ? paint("cyan", "->") : paint("green", "<-")
    const time = `${((now() - started) / 1000).toFixed(3)} s`.padStart(10)
    write([
      paint("dim", time),
      [" ", arrow, " "],
      Predicate.isRecord(message)
        ? describe(direction, message)
        : [paint("yellow", "no message:"), ` ${Redaction.text(text).slice(0, MAX)}`]
    ])
  }
  return {
    say: (text) => write(json ? jsonLine({ at: now(), note: text }) : paint("dim", text)),
    see: (direction, text) => {
      if (text.trim() === "") return
      const parsed = Option.liftThrowable(() => JSON.parse(text) as unknown)()
      const value = Option.getOrUndefined(parsed)
      for (const message of Array.isArray(value) ? value : [value]) line(direction, message, text)
    }
  }
}

/** Passes bytes on, and gives each line of them to `see`; a line that is too long passes unseen. */
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

/** Waits until a stream has closed, or has had nothing to read for a second, while its reader has taken everything. */
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

const ofPipe = (program: string, args: ReadonlyArray<string>, { say, see }: Tracer) =>
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
            say(`The server has ended: ${signal ?? `code ${code}`}`)
            return code ?? 1
          })
        )
      ))
    process.stdin.pipe(lines((line) => see("sent", line))).pipe(child.stdin)
    child.stdout.pipe(lines((line) => see("received", line))).pipe(process.stdout)
    child.stderr.pipe(process.stderr, { end: false })
    child.stdin.on("error", () => {})
    const kill = (signal: NodeJS.Signals) =>
      Effect.zipRight(
        Effect.sync(() => void child.kill(signal)),
        TimeLimit.end(ended, "2 seconds")
      )
    return Effect.zipRight(kill("SIGTERM"), kill("SIGKILL"))
  })

/** The data of an event stream: its messages. */
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

/** The trace listens at the loopback interface, so it is for programs and pages of this machine. */
const guard = Guard.make()

const headersOf = ({ headers }: Http.IncomingMessage) => ({ host: headers.host, origin: headers.origin })

/** Headers of the connection between two programs, which are not passed on. undici refuses requests with some of them. */
const HOP = new Set(["connection", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"])

const passed = (headers: Http.IncomingHttpHeaders, without: ReadonlyArray<string> = []): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || HOP.has(name) || without.includes(name) ? [] : [[name, String(value)]]
    )
  )

type Run = (effect: Effect.Effect<void, never, HttpClient.HttpClient>) => Fiber.RuntimeFiber<void>

const forward = (to: URL, tracer: Tracer, run: Run): Http.RequestListener => (request, response) => {
  const { say, see } = tracer
  const refusal = guard.check(headersOf(request))
  if (refusal !== undefined) {
    say(`${request.method} was refused: ${refusal.message}`)
    return void response.writeHead(403).end()
  }
  // Servers of 2024-11-05 have a second path.
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
    // Not by `pipeline`, which would close the connection to the host where the server cannot be reached.
    ...(encoding !== undefined || length !== "0"
      ? { body: HttpBody.raw(request.pipe(whole((text) => see("sent", text)))) }
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
        onSuccess: (answer) => answerWith(answer, request, response, tracer)
      }),
      // A span would add headers to the request.
      Effect.withTracerEnabled(false)
    )
  )
  // The host has gone: the request to the server ends.
  response.once("close", () => fiber.unsafeInterruptAsFork(fiber.id()))
}

const reasonOf = (error: Error): string => error.cause instanceof Error ? error.cause.message : error.message

const answerWith = (
  answer: HttpClientResponse,
  request: Http.IncomingMessage,
  response: Http.ServerResponse,
  { say, see }: Tracer
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
      if (status >= 300) say(`${request.method} was answered with ${status}`)
      // An answer that is cut short cuts the answer to the host.
      pipeline(body, (isStream ? events : whole)((text) => see("received", text)), response, (error) => {
        if (error) say(`The answer to ${request.method} was cut: ${reasonOf(error)}`)
        resume(Effect.void)
      })
    }))

const ofUrl = (to: URL, port: number, tracer: Tracer) =>
  Effect.flatMap(
    FiberSet.makeRuntime<HttpClient.HttpClient, void, never>(),
    (run) =>
      Effect.async<never, Failure>((resume) => {
        const server = Http.createServer(forward(to, tracer, run))
        server.once("error", (error) => resume(Effect.fail(refused(error.message))))
        server.listen(port, "127.0.0.1", () => {
          const address = server.address()
          const own = typeof address === "object" && address !== null ? address.port : port
          tracer.say(`Connect the host to http://127.0.0.1:${own}${to.pathname}${to.search}`)
        })
        return Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        })
      })
  )

/** Appends lines to a file. */
const toFile = (path: string) =>
  Effect.map(Places.file(path, "a"), (file) => (line: Styled) => void file.write(`${render(line, false)}\n`))

export const command = (after: ReadonlyArray<string>) =>
  Command.make("trace", {
    json: Options.boolean("json").pipe(Options.withDescription("Prints each message as one line of JSON, whole")),
    output: Options.file("output").pipe(Options.withDescription("A file for the messages"), Options.optional),
    port: port.pipe(
      Options.withDescription("Where to listen in place of a URL"),
      Options.withDefault(0)
    ),
    words: Args.text({ name: "url" }).pipe(
      Args.withDescription("The URL of the server, unless its command line stands after --"),
      Args.atMost(1)
    )
  }, ({ json, output, port, words: [url] }) =>
    Effect.gen(function*() {
      const clock = yield* Effect.clock
      const write = Option.isSome(output)
        ? yield* toFile(output.value)
        : (line: Styled) => say(process.stderr, line)
      const tracer = make(write, json, () => clock.unsafeCurrentTimeMillis())
      const [program, ...args] = after
      if (program !== undefined) {
        const code = yield* ofPipe(program, args, tracer)
        if (code !== 0) return yield* refused(`The server ended with code ${code}`)
      } else if (url !== undefined && URL.canParse(url)) {
        yield* Effect.provide(ofUrl(new URL(url), port, tracer), GuardedHttpClient.layer)
      } else return yield* usage("Give the URL of the server, or its command line after --")
    }).pipe(Effect.scoped)).pipe(
      Command.withDescription("Prints every message between a host and a server")
    )
