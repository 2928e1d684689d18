/**
 * Lines that the handlers of a server under test report to the test, outside of the protocol: that a handler began, was
 * interrupted, died. All lines are kept, and a test can wait for one. A server in another process writes them to a file.
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import { appendFileSync } from "node:fs"

/** Reports one line. */
export class Report extends Context.Tag("test/behaviour/Report")<Report, (line: string) => Effect.Effect<void>>() {}

export interface Reports {
  readonly report: Report["Type"]
  readonly lines: () => ReadonlyArray<string>
  /** Waits until a line contains the text. */
  readonly until: (text: string) => Effect.Effect<void>
}

/** Whether a line contains the text. */
export const someIn = (lines: ReadonlyArray<string>, text: string) => lines.some((line) => line.includes(text))

export const inMemory: Effect.Effect<Reports> = Effect.sync(() => {
  const lines: Array<string> = []
  const waiting = new Set<{ readonly text: string; readonly received: Deferred.Deferred<void> }>()
  return {
    report: (line) =>
      Effect.sync(() => {
        lines.push(line)
        for (const one of waiting) if (line.includes(one.text)) Deferred.unsafeDone(one.received, Effect.void)
      }),
    lines: () => lines,
    until: (text) =>
      Effect.suspend(() => {
        if (someIn(lines, text)) return Effect.void
        const one = { text, received: Deferred.unsafeMake<void>(FiberId.none) }
        waiting.add(one)
        return Effect.ensuring(Deferred.await(one.received), Effect.sync(() => waiting.delete(one)))
      })
  }
})

/** For a server in another process. */
export const toFile = (path: string): Report["Type"] => (line) => Effect.sync(() => appendFileSync(path, `${line}\n`))
