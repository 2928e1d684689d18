/**
 * The command `trace`, which prints every message between a host and a server to standard error or to a file, for every revision of the
 * protocol. It does not print the secrets that `Redaction` finds. `PassThrough` passes the messages between host and server. `Cli` runs the
 * command.
 */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Redaction from "@effect-mcp/core/Redaction"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { paint, render, say, type Styled } from "../CommandOutput.js"
import { jsonLine, jsonText } from "../Escape.js"
import * as PassThrough from "../PassThrough.js"
import * as Places from "../Places.js"

const MAX = 2000
/** How many requests without an answer the command remembers. When there are more, it forgets the oldest request. */
const MAX_REQUESTS = 10_000

const shown = (value: unknown): string => {
  const text = jsonText(value, 0)
  return text.length > MAX ? `${text.slice(0, MAX)}… (${text.length} characters)` : text
}

const make = (write: (line: Styled) => void, json: boolean, now: () => number): PassThrough.Watcher => {
  const methods = new Map<string, { readonly method: string; readonly at: number }>()
  const started = now()
  const describe = (direction: PassThrough.Direction, message: Record<string, unknown>): Styled => {
    const { error, id, method, params, result } = message
    const name = Predicate.isString(id) ? id : shown(id)
    const key = (of: PassThrough.Direction) => `${of} ${JSON.stringify(id)}`
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
  const line = (direction: PassThrough.Direction, given: unknown, text: string) => {
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
        : [paint("yellow", "not a message:"), ` ${Redaction.text(text).slice(0, MAX)}`]
    ])
  }
  return {
    say: (text) => write(json ? jsonLine({ at: now(), note: text }) : paint("dim", text)),
    see: line
  }
}

/** Appends lines to a file. */
const toFile = (path: string) =>
  Effect.map(Places.file(path, "a"), (file) => (line: Styled) => void file.write(`${render(line, false)}\n`))

export const command = (after: ReadonlyArray<string>) =>
  Command.make("trace", {
    json: Options.boolean("json").pipe(Options.withDescription("Prints each whole message as one line of JSON")),
    output: Options.file("output").pipe(Options.withDescription("A file for the messages"), Options.optional),
    port: PassThrough.port,
    words: PassThrough.url
  }, ({ json, output, port, words: [url] }) =>
    Effect.gen(function*() {
      const clock = yield* Effect.clock
      const write = Option.isSome(output)
        ? yield* toFile(output.value)
        : (line: Styled) => say(process.stderr, line)
      const watcher = make(write, json, () => clock.unsafeCurrentTimeMillis())
      yield* PassThrough.run(after, url, port, watcher)
    }).pipe(Effect.scoped)).pipe(
      Command.withDescription("Prints every message between a host and a server")
    )
