import { assert, describe, it } from "@effect/vitest"
import * as Readiness from "@effect-mcp/core/Readiness"
import { Effect, Exit } from "effect"
import * as Sqlite from "./Sqlite.js"

describe("the readiness of a process with a database", () => {
  it.scopedLive("needs an answer of the database", () =>
    Effect.gen(function*() {
      const answering = Sqlite.connection(yield* Sqlite.file)
      const [check] = yield* Effect.zipRight(answering, Readiness.current)
      assert.strictEqual(check!.name, "The database")
      yield* check!.run
      const before = yield* Readiness.current
      // The client has closed with the scope. Other tests may add checks meanwhile.
      const closed = yield* Effect.scoped(
        Effect.flatMap(Sqlite.file, (path) => Effect.zipRight(Sqlite.connection(path), Readiness.current))
      )
      const added = closed.filter((check) => !before.includes(check))
      const exits = yield* Effect.forEach(added, ({ run }) => Effect.exit(run))
      assert.isTrue(exits.some(Exit.isFailure))
    }))
})
