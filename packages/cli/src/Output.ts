/**
 * What a command prints: results to standard output, as text for a person or as one line of JSON for a program; everything
 * else (progress, log messages, advice) to standard error. Colors follow `NO_COLOR`, `FORCE_COLOR` and the terminal.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

/** How a text stands out. */
export type Style = keyof typeof CODES

export interface OutputService {
  /** Whether results are JSON. */
  readonly json: boolean
  /** Whether a person can answer questions: both standard streams are a terminal, and results are not JSON. */
  readonly interactive: boolean
  /** The width of a line, in characters. */
  readonly width: number
  readonly paint: (style: Style, text: string) => string
  /** A result: the value as one line of JSON, or the text. */
  readonly result: (value: unknown, text: string) => Effect.Effect<void>
  /** A line for a person, to standard error. */
  readonly note: (text: string) => Effect.Effect<void>
  /** Replaces the line that it has written before, where standard error is a terminal; without a text, clears that line. */
  readonly status: (text?: string) => Effect.Effect<void>
}

export class Output extends Context.Tag("@effect-mcp/cli/Output")<Output, OutputService>() {}

const COLORS = /\p{Cc}\[[\d;]*m/gu

/** A text without the escape sequences of colors. */
export const uncolored = (text: string): string => text.replace(COLORS, "")

// A control character of a server must not move the cursor of the user.
const CONTROLS = /[^\P{Cc}\t\n]/gu

/** A text of a server without characters that a terminal would obey. */
export const plain = (text: string): string => text.replace(/\r\n/g, "\n").replace(CONTROLS, "\ufffd")

/** The first line of a text, cut to a length. */
export const shortened = (text: string, length: number): string => {
  const [line = ""] = plain(text).split("\n")
  return line.length > length ? `${line.slice(0, Math.max(0, length - 1))}…` : line
}

/** Writes a line, and waits until the stream has taken it. */
export const print = (stream: NodeJS.WriteStream, line: string): Effect.Effect<void> => write(stream, `${line}\n`)

const write = (stream: NodeJS.WriteStream, text: string): Effect.Effect<void> =>
  Effect.async((resume) => void stream.write(text, () => resume(Effect.void)))

/** Whether a stream gets colors. */
export const isColored = ({ isTTY }: NodeJS.WriteStream): boolean => {
  const { FORCE_COLOR: force = "0", NO_COLOR: no = "", TERM } = process.env
  return force !== "0" || (isTTY === true && no === "" && TERM !== "dumb")
}

export const layer = (json: boolean): Layer.Layer<Output> =>
  Layer.sync(Output, () => {
    const { stderr, stdin, stdout } = process
    const color = isColored(stdout)
    return {
      json,
      interactive: !json && stdin.isTTY === true && stdout.isTTY === true,
      // A terminal of unknown size has 0 columns.
      width: stdout.isTTY === true ? stdout.columns || 100 : Infinity,
      paint: (style, text) => color ? `\u001b[${CODES[style]}m${text}\u001b[0m` : text,
      result: (value, text) => print(stdout, json ? JSON.stringify(value) : text),
      note: (text) => print(stderr, isColored(stderr) ? text : uncolored(text)),
      status: (text) =>
        stderr.isTTY === true
          ? write(
            stderr,
            text === undefined ? "\r\u001b[K" : `\r\u001b[K${shortened(text, (stderr.columns || 80) - 1)}`
          )
          : Effect.void
    }
  })
