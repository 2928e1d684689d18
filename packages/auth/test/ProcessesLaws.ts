/** What processes do that share a store of credentials. */
import { assert } from "@effect/vitest"
import type { CredentialStoreService } from "@effect-mcp/auth/CredentialStore"
import { Deferred, Effect, Redacted, type Scope } from "effect"
import * as Processes from "./Processes.js"

export interface Place {
  readonly store: CredentialStoreService
  /** What a process is told of the place of the store. */
  readonly argument: string
}

export const laws: ReadonlyArray<{
  readonly name: string
  readonly check: (
    folder: string,
    place: Effect.Effect<Place, unknown, Scope.Scope>
  ) => Effect.Effect<void, unknown, Scope.Scope>
}> = [
  {
    name: "refresh once, when fifty programs in five processes meet an expired token",
    check: (folder, place) =>
      Effect.gen(function*() {
        const { argument, store } = yield* place
        const provider = yield* Processes.provider()
        yield* Processes.expired(store, provider.issuer)
        const file = yield* Processes.bundle(folder)
        const runs = yield* Effect.forEach([1, 2, 3, 4, 5], () => Processes.start(file, argument, provider.issuer, 10))
        const sent = (yield* Effect.forEach(runs, (run) => run.sent)).flat()
        assert.deepStrictEqual(sent, Array(50).fill("Bearer access-1"))
        assert.deepInclude(provider, { refreshes: 1, refused: 0 })
      })
  },
  {
    name: "go on when the one that refreshes was killed, and do not send its refresh token again and again",
    check: (folder, place) =>
      Effect.gen(function*() {
        const { argument, store } = yield* place
        const provider = yield* Processes.provider()
        yield* Processes.expired(store, provider.issuer)
        const file = yield* Processes.bundle(folder)
        provider.holds = true
        const first = yield* Processes.start(file, argument, provider.issuer, 1)
        yield* Deferred.await(provider.arrived)
        first.child.kill("SIGKILL")
        yield* first.sent
        const second = yield* Processes.start(file, argument, provider.issuer, 3)
        // The refresh token is used up: these programs go on with what they have, and the server will have the user log in.
        assert.deepStrictEqual(yield* second.sent, Array(3).fill("Bearer access-0"))
        assert.strictEqual(provider.refreshes, 1)
        assert.isAtMost(provider.refused, 3)
      })
  },
  {
    name: "keep the newer credentials when the one that refreshed was stopped for long and wakes up",
    check: (folder, place) =>
      Effect.gen(function*() {
        const { argument, store } = yield* place
        const provider = yield* Processes.provider(true)
        yield* Processes.expired(store, provider.issuer)
        const file = yield* Processes.bundle(folder)
        provider.holds = true
        const first = yield* Processes.start(file, argument, provider.issuer, 1)
        yield* Deferred.await(provider.arrived)
        first.child.kill("SIGSTOP")
        const second = yield* Processes.start(file, argument, provider.issuer, 1)
        assert.deepStrictEqual(yield* second.sent, ["Bearer access-2"])
        provider.release()
        first.child.kill("SIGCONT")
        const [sent, ...more] = yield* first.sent
        assert.include(more.concat(sent!).join("\n"), "Bearer access-1")
        const stored = yield* store.tokens.get(provider.issuer, Processes.SERVER)
        assert.strictEqual(Redacted.value(stored!.accessToken), "access-2")
      })
  }
]
