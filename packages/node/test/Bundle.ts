/**
 * Bundles a TypeScript fixture to a program, once for all tests of a file.
 */
import { afterAll, beforeAll } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { bundled } from "./Fixture.js"

/** The path of the program, until all tests of the file have run. */
export const bundledOnce = (name: string): Effect.Effect<string> => {
  const scope = Effect.runSync(Scope.make())
  let path = ""
  beforeAll(async () => {
    path = await Effect.runPromise(Scope.extend(bundled(name), scope))
  })
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  return Effect.sync(() => path)
}
