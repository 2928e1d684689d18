/**
 * Prints what happened, and remembers which promises were not kept. It decides nothing itself: each part of the run knows what it
 * expects.
 */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"

export class Account {
  /** The promises that were not kept; grows only. */
  readonly broken: Array<string> = []

  heading(text: string): Effect.Effect<void> {
    return Console.log(`\n${text}`)
  }

  line(text: string): Effect.Effect<void> {
    return Console.log(`  ${text}`)
  }

  /** A promise, and what is otherwise: printed only when it is not kept. */
  expect(isKept: boolean, promise: string, otherwise = ""): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (isKept) return Effect.void
      const text = otherwise === "" ? promise : `${promise}: ${otherwise}`
      this.broken.push(text)
      return this.line(`NOT AS PROMISED: ${text}`)
    })
  }
}

/** `1.2 s` */
export const seconds = (millis: number): string => `${(millis / 1000).toFixed(1)} s`
