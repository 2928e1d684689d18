/**
 * What a server under test tells the test beside the protocol: that a handler began, was stopped, died. It is kept, so that
 * nobody has to listen in time, and it can be waited for. A server in another process tells it to a file.
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import { appendFileSync } from "node:fs"

/** Tells one line. */
export class Tell extends Context.Tag("test/behaviour/Tell")<Tell, (line: string) => Effect.Effect<void>>() {}

export interface Told {
  readonly tell: Tell["Type"]
  readonly lines: () => ReadonlyArray<string>
  /** Waits until there is a line with this in it. */
  readonly until: (text: string) => Effect.Effect<void>
}

/** Whether there is a line with this in it. */
export const someIn = (lines: ReadonlyArray<string>, text: string) => lines.some((line) => line.includes(text))

export const inMemory: Effect.Effect<Told> = Effect.sync(() => {
  const lines: Array<string> = []
  const waiting = new Set<{ readonly text: string; readonly heard: Deferred.Deferred<void> }>()
  return {
    tell: (line) =>
      Effect.sync(() => {
        lines.push(line)
        for (const one of waiting) if (line.includes(one.text)) Deferred.unsafeDone(one.heard, Effect.void)
      }),
    lines: () => lines,
    until: (text) =>
      Effect.suspend(() => {
        if (someIn(lines, text)) return Effect.void
        const one = { text, heard: Deferred.unsafeMake<void>(FiberId.none) }
        waiting.add(one)
        return Effect.ensuring(Deferred.await(one.heard), Effect.sync(() => waiting.delete(one)))
      })
  }
})

/** For a server in another process. */
export const toFile = (path: string): Tell["Type"] => (line) => Effect.sync(() => appendFileSync(path, `${line}\n`))
