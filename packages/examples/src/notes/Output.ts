/**
 * Prints what the client sends and receives, in color on a terminal.
 * The client of the notes example uses it.
 */
import type * as Progress from "@effect-mcp/core/Progress"
import * as Console from "effect/Console"
import type * as Effect from "effect/Effect"

const paint = (code: number) => (text: string): string =>
  process.stdout.isTTY === true && process.env.NO_COLOR === undefined ? `\u001b[${code}m${text}\u001b[0m` : text

const bold = paint(1)
const dim = paint(2)
const red = paint(31)
const green = paint(32)
const blue = paint(34)

export const heading = (text: string): Effect.Effect<void> => Console.log(`\n${bold(text)}`)

export const sent = (text: string): Effect.Effect<void> => Console.log(`  ${blue("→")} ${text}`)

export const received = (text: string): Effect.Effect<void> => Console.log(`  ${green("←")} ${text}`)

export const failed = (text: string): Effect.Effect<void> => Console.log(`  ${red("✗")} ${text}`)

export const serverLog = (line: string): Effect.Effect<void> => Console.log(dim(`  ┊ server log: ${line.trim()}`))

export const progress = ({ message, progress, total = progress }: Progress.Progress): Effect.Effect<void> => {
  const done = Math.round((progress / total) * 20)
  const bar = "█".repeat(done) + "░".repeat(20 - done)
  return Console.log(dim(`  · ${bar} ${String(progress).padStart(String(total).length)}/${total}  ${message ?? ""}`))
}
