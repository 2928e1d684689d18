/**
 * Prints the output of a command. Results go to standard output, as text for a person or as one line of JSON for a program. Progress, log
 * messages and advice go to standard error. The variables `NO_COLOR` and `FORCE_COLOR` and the terminal decide whether there are colors.
 *
 * The texts come from servers, files and users, so this module escapes each text that it writes. A command gives a text a color with
 * `paint`, and never writes escape sequences itself. `guard` also escapes the text that other code writes to the standard streams, such as
 * a logger or the stderr of a launched program.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import { Buffer } from "node:buffer"
import { Writable } from "node:stream"
import { ESC, escaped, except, fit, jsonLine, line, Passage, RESET } from "./Escape.js"

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

/** The color or weight of a text. */
type Style = keyof typeof CODES

/** A text to be shown, with the colors of its parts. */
export type Styled =
  | string
  | { readonly style: Style; readonly text: string }
  | { readonly json: string }
  | ReadonlyArray<Styled>

export const paint = (style: Style, text: string): Styled => ({ style, text })

/** Joins texts with line feeds. */
export const lines = (texts: ReadonlyArray<Styled>): Styled =>
  texts.map((text, index) => index === 0 ? text : ["\n", text])

/** JSON, with colors for its names, texts and other values. */
export const json = (text: string): Styled => ({ json: text })

export interface OutputService {
  /** Whether results are JSON. */
  readonly json: boolean
  /** Whether a person can answer questions: standard input and output are a terminal, and results are not JSON. */
  readonly interactive: boolean
  /** The width of a line, in columns; `Infinity` when standard output is not a terminal. */
  readonly width: number
  /** Prints a result to standard output: the value as one line of JSON, or the text for a person. */
  readonly result: (value: unknown, text: Styled) => Effect.Effect<void>
  /** Prints a line for a person to standard error. */
  readonly note: (text: Styled) => Effect.Effect<void>
  /**
   * Writes the status line to standard error, and replaces the previous status line. Without a text, clears the line. Does nothing when
   * standard error is not a terminal.
   */
  readonly status: (text?: string) => Effect.Effect<void>
}

export class Output extends Context.Tag("@effect-mcp/cli/Output")<Output, OutputService>() {}

/** Returns the text for a terminal or a file: escaped, and with colors if `isColored` is true. */
export const render = (text: Styled, isColored: boolean): string => {
  if (Predicate.isString(text)) return escaped(text)
  if ("json" in text) return isColored ? colored(escaped(text.json)) : escaped(text.json)
  if (!("style" in text)) return text.map((one) => render(one, isColored)).join("")
  return isColored ? sequence(text.style, escaped(text.text)) : escaped(text.text)
}

const sequence = (style: Style, text: string): string => `${ESC}[${CODES[style]}m${text}${RESET}`

const TOKEN = /("[^"\\]*(?:\\.[^"\\]*)*")(:?)|-?\d[\d.eE+-]*|\b(?:true|false|null)\b/g

const colored = (json: string): string =>
  json.replace(TOKEN, (token: string, text: string | undefined, colon: string | undefined) =>
    text === undefined
      ? sequence("yellow", token)
      : colon === ":"
      ? `${sequence("cyan", text)}:`
      : sequence("green", text))

type Stream = NodeJS.WriteStream

/**
 * Writes a text that this module has escaped. Does not call `stream.write`, because after `guard` this function would escape the text
 * again.
 */
const writeNow = (stream: Stream, text: string, done?: () => void): void =>
  void Writable.prototype.write.call(stream, text, "utf8", done)

const write = (stream: Stream, text: string): Effect.Effect<void> =>
  Effect.async((resume) => writeNow(stream, text, () => resume(Effect.void)))

/** Writes a line, and does not wait until the stream has taken the line. */
export const say = (stream: Stream, text: Styled): void => writeNow(stream, `${render(text, isColored(stream))}\n`)

/** Writes a line, and waits until the stream has taken the line. */
export const print = (stream: Stream, text: Styled): Effect.Effect<void> =>
  write(stream, `${render(text, isColored(stream))}\n`)

/** Returns whether a text for this stream gets colors. */
const isColored = ({ isTTY }: Pick<Stream, "isTTY">): boolean => {
  const { FORCE_COLOR: force = "0", NO_COLOR: no = "", TERM } = process.env
  return force !== "0" || (isTTY === true && no === "" && TERM !== "dumb")
}

/**
 * The sequences with which `@effect/cli` moves the cursor in a question, erases the question and colors it, and the bell of `@effect/cli`.
 */
const QUESTION = new RegExp(`(${ESC}\\[(?:\\?25[hl]|\\d*[A-DGKsu]|[\\d;]*m)|^\\u0007$)`)

/**
 * Writes one frame of a prompt of `@effect/cli`. The function does not escape the control sequences of the frame, because the prompt needs
 * them. The caller must escape the texts before it makes the prompt.
 */
export const question = (step: string): Effect.Effect<void> =>
  write(
    process.stdout,
    except(step, QUESTION, (sequence) => isColored(process.stdout) || !sequence.endsWith("m") ? sequence : "")
  )

/**
 * From this call on, escapes all text that other code writes to the standard streams, so that the text cannot control the terminal. On
 * standard error the colors of a launched program stay, if the user wants colors. When standard output is not a terminal, its text is not
 * changed, because a host or a program reads the text.
 */
export const guard = (): void => {
  const { stderr, stdout } = process
  for (const stream of stdout.isTTY === true ? [stderr, stdout] : [stderr]) {
    const passage = new Passage(stream === stderr && isColored({ isTTY: true }))
    stream.write = (
      chunk: string | Uint8Array,
      encoding?: BufferEncoding | ((error?: Error | null) => void),
      done?: (error?: Error | null) => void
    ) => {
      const [bytes, then] = Predicate.isString(encoding) && Predicate.isString(chunk)
        ? [Buffer.from(chunk, encoding), done]
        : [chunk, Predicate.isFunction(encoding) ? encoding : done]
      return Writable.prototype.write.call(stream, passage.next(bytes), "utf8", then)
    }
  }
}

export const layer = (isJson: boolean): Layer.Layer<Output> =>
  Layer.sync(Output, () => {
    const { stderr, stdin, stdout } = process
    return {
      json: isJson,
      interactive: !isJson && stdin.isTTY === true && stdout.isTTY === true,
      // A terminal of unknown size has 0 columns.
      width: stdout.isTTY === true ? stdout.columns || 100 : Infinity,
      result: (value, text) => print(stdout, isJson ? json(jsonLine(value)) : text),
      note: (text) => print(stderr, text),
      status: (text) =>
        stderr.isTTY === true
          ? write(stderr, `\r${ESC}[K${text === undefined ? "" : fit(line(text), (stderr.columns || 80) - 1)}`)
          : Effect.void
    }
  })
