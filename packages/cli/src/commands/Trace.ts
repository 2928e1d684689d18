/**
 * `trace`: stands between a host and a server and prints every message, both eras alike. A host launches it in place of a server
 * of a pipe, and connects to it in place of a URL; what passes is not changed. Messages go to standard error or to a file.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as TimeLimit from "@effect-mcp/core/unstable/kit/TimeLimit"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { spawn } from "node:child_process"
import { createWriteStream } from "node:fs"
import * as Http from "node:http"
import * as Https from "node:https"
import { type Readable, Transform } from "node:stream"
import { Failure, refused, usage } from "../CommandFailure.js"
import { paint, render, say, type Styled } from "../CommandOutput.js"
import { jsonLine, jsonText } from "../Escape.js"
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

const SECRET = /^(authorization|token|access_token|refresh_token|password|secret|api_?key)$/i

const redacted = (key: string, value: unknown): unknown => SECRET.test(key) && Predicate.isString(value) ? "***" : value

const shown = (value: unknown): string => {
  const text = jsonText(value, 0, redacted)
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
      if (id !== undefined) methods.set(key(direction), { method, at: now() })
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
  const line = (direction: Direction, message: unknown, text: string) => {
    if (json) return write(jsonLine({ at: now(), direction, message: message ?? text }))
    const arrow = direction === "sent" ? paint("cyan", "->") : paint("green", "<-")
    const time = `${((now() - started) / 1000).toFixed(3)} s`.padStart(10)
    write([
      paint("dim", time),
      [" ", arrow, " "],
      Predicate.isRecord(message)
        ? describe(direction, message)
        : [paint("yellow", "no message:"), ` ${text.slice(0, MAX)}`]
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

/** Passes bytes on, and gives each line of them to `see`. */
const lines = (see: (line: string) => void): Transform => {
  let rest = ""
  const decoder = new TextDecoder()
  return new Transform({
    transform(chunk: Buffer, _, done) {
      const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n")
      rest = parts.pop() ?? ""
      if (rest.length > MAX_LINE) rest = ""
      parts.forEach(see)
      done(null, chunk)
    },
    flush(done) {
      see(rest)
      done()
    }
  })
}

const closed = (stream: Readable): Effect.Effect<void> =>
  Effect.async((resume) => stream.closed ? resume(Effect.void) : void stream.once("close", () => resume(Effect.void)))

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
        closed(child.stdout).pipe(
          // A child of the server may hold the standard error open.
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
  return lines((line) => {
    const text = line.replace(/\r$/, "")
    if (text.startsWith("data:")) data.push(text.slice(5).trimStart())
    else if (text === "" && data.length > 0) {
      see(data.join("\n"))
      data = []
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
      see(Buffer.concat(chunks).toString())
      done()
    }
  })
}

const forward = (to: URL, { say, see }: Tracer): Http.RequestListener => (request, response) => {
  const { "accept-encoding": ___, connection: _, host: __, ...headers } = request.headers
  // Servers of 2024-11-05 have a second path.
  const [path = "/", base] = [request.url, "http://127.0.0.1"] as const
  if (!URL.canParse(path, base)) return void response.writeHead(400).end()
  const url = new URL(to)
  const { pathname, search } = new URL(path, base)
  url.pathname = pathname
  url.search = search
  const upstream = (to.protocol === "https:" ? Https : Http).request(
    url,
    { method: request.method, headers },
    (answer) => {
      const { statusCode = 502 } = answer
      const { connection: _, "keep-alive": __, "transfer-encoding": ___, ...headers } = answer.headers
      response.writeHead(statusCode, headers)
      response.flushHeaders()
      const isStream = /^text\/event-stream/i.test(answer.headers["content-type"] ?? "")
      if (statusCode >= 300) say(`${request.method} was answered with ${statusCode}`)
      answer.pipe((isStream ? events : whole)((text) => see("received", text))).pipe(response)
    }
  )
  upstream.once("error", (error) => {
    say(`${request.method} failed: ${error.message}`)
    if (!response.headersSent) response.writeHead(502)
    response.end()
  })
  response.once("close", () => upstream.destroy())
  if (request.method !== "POST") say(`${request.method} ${request.url}`)
  request.pipe(whole((text) => see("sent", text))).pipe(upstream)
}

const ofUrl = (to: URL, port: number, tracer: Tracer) =>
  Effect.async<never, Failure>((resume) => {
    const server = Http.createServer(forward(to, tracer))
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

/** Appends lines to a file. */
const toFile = (path: string) =>
  Effect.acquireRelease(
    Effect.sync(() => createWriteStream(path, { flags: "a" })),
    (file) => Effect.async<void>((resume) => void file.end(() => resume(Effect.void)))
  ).pipe(Effect.map((file) => (line: Styled) => void file.write(`${render(line, false)}\n`)))

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
        yield* ofUrl(new URL(url), port, tracer)
      } else return yield* usage("Give the URL of the server, or its command line after --")
    }).pipe(Effect.scoped)).pipe(
      Command.withDescription("Prints every message between a host and a server")
    )
