/** Checks that laws find faults: an implementation that keeps all laws but for one operation. */
import { assert, it } from "@effect/vitest"
import type * as Law from "@effect-mcp/testing/Law"
import { Effect, type Scope } from "effect"

/** The names of the laws that are broken. */
export const brokenBy = <S>(laws: ReadonlyArray<Law.Law<S>>, make: Effect.Effect<S, never, Scope.Scope>) =>
  Effect.map(
    Effect.forEach(laws, ({ check, name }) =>
      Effect.map(
        Effect.isFailure(Effect.timeoutFail(check(make), {
          duration: "2 seconds",
          onTimeout: () => "hangs"
        })),
        (
          fails
        ) => ({ fails, name })
      )),
    (all) => all.flatMap(({ fails, name }) => fails ? [name] : [])
  )

/**
 * Two tests for each fault: `change` makes an operation faulty, and the law of this name finds it; without the fault all laws
 * are kept.
 */
export const found = <S extends object>(
  laws: ReadonlyArray<Law.Law<readonly [S, S]>>,
  memory: Effect.Effect<S, never, Scope.Scope>,
  faults: Readonly<Record<string, readonly [change: (service: S) => Partial<S>, law: string]>>,
  clock: "test" | "live" = "test"
): void => {
  it[clock === "test" ? "effect" : "live"]("are kept in memory", () =>
    Effect.map(
      brokenBy(laws, Effect.map(memory, (one) => [one, one] as const)),
      (names) => assert.deepStrictEqual(names, [])
    ))
  for (const [fault, [change, law]] of Object.entries(faults)) {
    it.live(`find one that ${fault}`, () =>
      Effect.map(
        brokenBy(
          laws.filter(({ name }) => name === law),
          Effect.map(memory, (one) => {
            const faulty = { ...one, ...bound(one), ...change(one) }
            return [faulty, faulty] as const
          })
        ),
        (names) => assert.deepStrictEqual(names, [law])
      ))
  }
}

/** The methods of an instance of a class, which a spread leaves out. */
const bound = <S extends object>(service: S): Partial<S> => {
  const prototype = Object.getPrototypeOf(service) as object
  if (prototype === Object.prototype) return {}
  return Object.fromEntries(
    Object.getOwnPropertyNames(prototype).map((name) => {
      const member = (service as Record<string, unknown>)[name]
      return [name, typeof member === "function" ? member.bind(service) : member]
    })
  ) as Partial<S>
}
