/**
 * What every store of credentials does, and what every store does that processes share. The laws move the `TestClock`; the stores have the
 * real time where a database needs it.
 */
import { assert } from "@effect/vitest"
import type { CredentialStoreService, Registration } from "@effect-mcp/auth/CredentialStore"
import type { Tokens } from "@effect-mcp/auth/Tokens"
import { Deferred, Effect, Fiber, Redacted, type Scope, TestClock } from "effect"

export interface Law<Subject> {
  readonly name: string
  readonly check: (make: Effect.Effect<Subject, unknown, Scope.Scope>) => Effect.Effect<void, unknown, Scope.Scope>
}

/** Two processes that share a store. */
export type Pair = readonly [CredentialStoreService, CredentialStoreService]

export interface Shared {
  /** Makes a store of an owner, as another process has it. */
  readonly of: (owner: string) => Effect.Effect<CredentialStoreService>
  /** Of "ada", in a process that can be cut off from the database: then everything that it asks of the database fails. */
  readonly one: CredentialStoreService
  readonly cut: (isCut: boolean) => Effect.Effect<void>
}

export const ISSUER = "https://auth.test"

export const registration = (clientId: string): Registration => ({
  clientId,
  clientSecret: Redacted.make("a-secret"),
  authMethod: undefined,
  secretExpiresAt: undefined,
  redirectUris: ["http://127.0.0.1/x"]
})

export const tokens = (value: string): Tokens => ({
  accessToken: Redacted.make(value),
  type: "Bearer",
  expiresAt: 1,
  renewAt: undefined,
  refreshToken: Redacted.make(`refresh-${value}`),
  scopes: ["a", "ü \u0000 \ud800"]
})

const law = <Subject>(
  name: string,
  check: (subject: Subject) => Effect.Effect<void, unknown, Scope.Scope>
): Law<Subject> => ({ name, check: (make) => Effect.flatMap(make, check) })

/** Lets the database answer, and then time pass. */
export const passing = (store: CredentialStoreService) =>
  Effect.zipRight(store.tokens.get("nothing", ""), TestClock.adjust("100 millis"))

/** Lets time pass until a fiber has ended. */
export const ended = <A, E>(fiber: Fiber.RuntimeFiber<A, E>, store: CredentialStoreService) =>
  Effect.gen(function*() {
    let steps = 0
    for (; fiber.unsafePoll() === null; steps++) yield* passing(store)
    yield* Fiber.join(fiber)
    return steps * 100
  })

/** Holds the lock of "r" until it may end. */
export const holding = (store: CredentialStoreService, work: Effect.Effect<unknown, unknown> = Effect.void) =>
  Effect.gen(function*() {
    const isHeld = yield* Deferred.make<void>()
    const mayEnd = yield* Deferred.make<void>()
    const wait = Effect.zipRight(Deferred.succeed(isHeld, undefined), Deferred.await(mayEnd))
    const fiber = yield* Effect.forkScoped(store.exclusive(Effect.zipRight(wait, work), ISSUER, "r"))
    yield* Effect.raceFirst(Deferred.await(isHeld), Fiber.join(fiber))
    return { fiber, end: Deferred.succeed(mayEnd, undefined) }
  })

export const valueOf = (found: Tokens | undefined) =>
  found === undefined ? undefined : Redacted.value(found.accessToken)

export const laws: ReadonlyArray<Law<Pair>> = [
  law("MUST keep credentials by issuer, exactly as the issuer is written", ([store, other]) =>
    Effect.gen(function*() {
      const issuers = [
        "https://a.test",
        "https://a.test/",
        "https://A.test",
        "https://a.test/t1",
        "https://a.test/\u0000",
        "https://a.test/\ud800",
        "https://a.test/\ud801",
        "%_*?[a]{b}'\";\n",
        `https://a.test/${"x".repeat(3000)}`
      ]
      for (const issuer of issuers) yield* store.registrations.set(registration(issuer), issuer)
      for (const issuer of issuers) assert.strictEqual((yield* other.registrations.get(issuer))!.clientId, issuer)
      yield* store.registrations.set(undefined, issuers[0]!)
      yield* store.registrations.set(undefined, issuers[0]!)
      assert.isUndefined(yield* other.registrations.get(issuers[0]!))
      assert.isDefined(yield* other.registrations.get(issuers[1]!))
    })),
  law(
    "MUST keep tokens by issuer and resource, and never take one for the other",
    ([store, other]) =>
      Effect.gen(function*() {
        yield* store.tokens.set(tokens("t"), "https://a.test", "https://r.test/x")
        assert.deepStrictEqual(yield* other.tokens.get("https://a.test", "https://r.test/x"), tokens("t"))
        for (
          const key of [
            ["https://a.test"],
            ["https://r.test/x", "https://a.test"],
            ["https://a.test", "https://r.test"],
            ["https://a.testhttps://r.test/x"]
          ]
        ) {
          assert.isUndefined(yield* other.tokens.get(...key))
        }
      })
  ),
  law("lets one process renew at a time, and each resource by itself", ([one, other]) =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const { end, fiber } = yield* holding(one, Effect.sync(() => log.push("first")))
      yield* ended(yield* Effect.fork(other.exclusive(Effect.void, ISSUER, "s")), other)
      // A renewal changes the registrations of the issuer, too.
      const nested = other.exclusive(other.exclusive(Effect.void, ISSUER, ""), ISSUER, "s")
      yield* ended(yield* Effect.fork(nested), other)
      const waiting = yield* Effect.fork(other.exclusive(Effect.sync(() => log.push("second")), ISSUER, "r"))
      const given = yield* Effect.fork(Effect.interruptible(other.exclusive(Effect.void, ISSUER, "r")))
      // The process that holds it is alive, so nothing takes it away.
      for (let step = 0; step < 300; step++) yield* passing(other)
      assert.deepStrictEqual(log, [])
      yield* Fiber.interrupt(given)
      yield* end
      yield* ended(fiber, one)
      yield* ended(waiting, other)
      assert.deepStrictEqual(log, ["first", "second"])
    })),
  law("gives the turn on when a renewal has failed or was interrupted", ([one, other]) =>
    Effect.gen(function*() {
      assert.strictEqual(yield* Effect.flip(one.exclusive(Effect.fail("no"), ISSUER, "r")), "no")
      const { fiber } = yield* holding(one)
      yield* Fiber.interrupt(fiber)
      assert.isAtMost(yield* ended(yield* Effect.fork(other.exclusive(Effect.void, ISSUER, "r")), other), 1000)
    }))
]

export const shared: ReadonlyArray<Law<Shared>> = [
  law(
    "keeps the credentials of each owner from the others, whatever the owners are called",
    ({ of }) =>
      Effect.gen(function*() {
        const owners = ["ada", "Ada", "", "a}{b", "*", "ada:lock", "\u0000", "\ud800", "\ud801", "x".repeat(100_000)]
        const stores = yield* Effect.forEach(owners, of)
        for (const [n, store] of stores.entries()) yield* store.tokens.set(tokens(`${n}`), ISSUER, "r")
        for (const [n, store] of stores.entries()) {
          assert.strictEqual(valueOf(yield* store.tokens.get(ISSUER, "r")), `${n}`)
        }
        // One owner does not wait for another one's renewal.
        const { end, fiber } = yield* holding(stores[0]!)
        assert.isAtMost(
          yield* ended(yield* Effect.fork(stores[1]!.exclusive(Effect.void, ISSUER, "r")), stores[1]!),
          1000
        )
        yield* end
        yield* ended(fiber, stores[0]!)
      })
  ),
  law(
    "waits about 15 seconds for a process that has ended in its turn, and then lets one other go on",
    ({ cut, of, one }) =>
      Effect.gen(function*() {
        const others = yield* Effect.forEach([1, 2, 3], () => of("ada"))
        const { end, fiber } = yield* holding(one)
        yield* cut(true)
        yield* end
        yield* Fiber.await(fiber)
        let running = 0
        let most = 0
        const renew = Effect.acquireUseRelease(
          Effect.sync(() => most = Math.max(most, ++running)),
          () => passing(others[0]!),
          () => Effect.sync(() => running--)
        )
        const fibers = yield* Effect.forEach(others, (store) => Effect.fork(store.exclusive(renew, ISSUER, "r")))
        const waited = yield* ended(fibers[0]!, others[0]!)
        for (const other of fibers) yield* ended(other, others[0]!)
        assert.strictEqual(most, 1)
        assert.isAtLeast(waited, 14_000)
      })
  ),
  law(
    "never lets a process that has lost its turn overwrite or remove newer credentials",
    ({ cut, of, one }) =>
      Effect.gen(function*() {
        const other = yield* of("ada")
        yield* one.tokens.set(tokens("old"), ISSUER, "r")
        const failures: Array<string> = []
        const late = Effect.forEach(
          [
            one.tokens.set(tokens("late"), ISSUER, "r"),
            one.tokens.set(undefined, ISSUER, "r"),
            // Another fiber of the same turn: a refresh that nothing waits for.
            Effect.flatMap(Effect.fork(one.bindings.set(undefined, "server")), Fiber.join)
          ],
          (write) =>
            Effect.catchAll(write, ({ message, reason }) => Effect.sync(() => failures.push(`${reason} ${message}`)))
        )
        const { end, fiber } = yield* holding(one, late)
        yield* cut(true)
        const renew = Effect.zipRight(
          other.bindings.set({ issuer: ISSUER, resource: "r", scopes: undefined, key: undefined }, "server"),
          other.tokens.set(tokens("new"), ISSUER, "r")
        )
        yield* ended(yield* Effect.fork(other.exclusive(renew, ISSUER, "r")), other)
        yield* cut(false)
        yield* end
        yield* ended(fiber, other)
        assert.lengthOf(failures, 3)
        for (const failure of failures) assert.match(failure, /^Store .*another program has taken the lock/)
        assert.strictEqual(valueOf(yield* other.tokens.get(ISSUER, "r")), "new")
        assert.isDefined(yield* other.bindings.get("server"))
        // Outside of a renewal a process stores what its user has done: a login, a logout.
        yield* one.tokens.set(undefined, ISSUER, "r")
        assert.isUndefined(yield* other.tokens.get(ISSUER, "r"))
      })
  ),
  law(
    "does not take the turn of the process that waits next, when it comes back late",
    ({ cut, of, one }) =>
      Effect.gen(function*() {
        const [second, third] = [yield* of("ada"), yield* of("ada")]
        const first = yield* holding(one)
        yield* cut(true)
        const next = yield* Effect.fork(holding(second))
        yield* ended(next, third)
        yield* cut(false)
        yield* first.end
        yield* ended(first.fiber, third)
        const waiting = yield* Effect.fork(third.exclusive(Effect.void, ISSUER, "r"))
        for (let step = 0; step < 200; step++) yield* passing(third)
        assert.isNull(waiting.unsafePoll())
        yield* Effect.flatMap(Fiber.join(next), ({ end }) => end)
        yield* ended(waiting, third)
      })
  ),
  law(
    "stores what was renewed although the database was away for a while",
    ({ cut, of, one }) =>
      Effect.gen(function*() {
        const other = yield* of("ada")
        const { end, fiber } = yield* holding(one, one.tokens.set(tokens("new"), ISSUER, "r"))
        yield* cut(true)
        yield* end
        for (let step = 0; step < 20; step++) yield* passing(other)
        assert.isNull(fiber.unsafePoll())
        yield* cut(false)
        yield* ended(fiber, other)
        assert.strictEqual(valueOf(yield* other.tokens.get(ISSUER, "r")), "new")
      })
  ),
  law("renews nothing and says why while the database is away", ({ cut, one }) =>
    Effect.gen(function*() {
      yield* cut(true)
      let renewals = 0
      const error = yield* Effect.flip(one.exclusive(Effect.sync(() => renewals++), ISSUER, "r"))
      assert.strictEqual(error.reason, "Store")
      assert.match(error.message, /could not be locked/)
      assert.isDefined(error.cause)
      assert.strictEqual(renewals, 0)
      for (const call of [one.tokens.get(ISSUER, "r"), one.tokens.set(tokens("a-secret"), ISSUER, "r")]) {
        const error = yield* Effect.flip(call)
        assert.strictEqual(error.reason, "Store")
        assert.notInclude(`${error.message} ${JSON.stringify(error.cause)}`, "a-secret")
      }
    })),
  law(
    "refuses a record that is too large, and one more than an owner may have, and loses nothing",
    ({ of }) =>
      Effect.gen(function*() {
        const store = yield* of("grace")
        yield* store.tokens.set(tokens("first"), ISSUER, "r")
        const large = yield* Effect.flip(store.tokens.set(tokens("x".repeat(262_144)), ISSUER, "r"))
        assert.match(large.message, /^Credentials of \d{6} characters were not stored: the limit is 262144$/)
        for (let n = 1; n < MAX_RECORDS; n++) yield* store.tokens.set(tokens(`${n}`), ISSUER, `${n}`)
        const full = yield* Effect.flip(store.tokens.set(tokens("more"), ISSUER, "more"))
        assert.strictEqual(full.reason, "Store")
        assert.match(full.message, /as many credentials as the store allows/)
        // What is there can be renewed, and others have room of their own.
        yield* store.exclusive(store.tokens.set(tokens("next"), ISSUER, "r"), ISSUER, "r")
        assert.strictEqual(valueOf(yield* store.tokens.get(ISSUER, "r")), "next")
        yield* (yield* of("eve")).tokens.set(tokens("more"), ISSUER, "more")
        yield* store.tokens.set(undefined, ISSUER, "r")
        yield* store.tokens.set(tokens("more"), ISSUER, "more")
        assert.strictEqual(valueOf(yield* store.tokens.get(ISSUER, "more")), "more")
      })
  )
]

/** The option `maxRecords` of the stores that the laws get. */
export const MAX_RECORDS = 20
