import { assert, describe, it } from "@effect/vitest"
import { UrlElicitationRequired } from "@effect-mcp/core/protocol/McpError"
import { Deferred, Effect, Fiber } from "effect"
import { logbook, serve, until } from "../Serving.js"
import { ask, asking, confirm, questions, retry, session } from "./Asking.js"
import { connect, error, silence, text } from "./Modern.js"

describe("The handler that asks", () => {
  it.scoped("runs its finalizers, the innermost first, before the question leaves", () => {
    const events: Array<string> = []
    const note = (event: string) => Effect.sync(() => events.push(event))
    const handler = Effect.gen(function*() {
      yield* Effect.addFinalizer(() => note("scope"))
      yield* Effect.ensuring(
        Effect.onInterrupt(confirm("Sure?"), () => Effect.zipRight(Effect.yieldNow(), note("inner"))),
        note("outer")
      )
    })
    return Effect.gen(function*() {
      const peer = yield* connect
      yield* ask(peer)
      assert.deepStrictEqual(events, ["inner", "outer", "scope"])
    }).pipe(Effect.provide(serve(asking(handler))))
  })

  for (
    const [where, handler] of [
      ["its scope", Effect.zipRight(Effect.addFinalizer(() => Effect.die("a bug")), confirm("Sure?"))],
      ["the question", Effect.ensuring(confirm("Sure?"), Effect.die("a bug"))]
    ] as const
  ) {
    it.scoped(`whose finalizer of ${where} dies still counts its rounds, and the log has the bug`, () => {
      const { layer, lines } = logbook()
      return Effect.gen(function*() {
        const peer = yield* connect
        const first = yield* ask(peer)
        assert.deepStrictEqual(questions(first), ["Sure?"])
        assert.isString(first.requestState)
        yield* until(() => lines.length > 0)
        assert.deepStrictEqual(lines.map(({ level }) => level), ["Error"])
        assert.include(String(lines[0]!.cause), "a bug")
      }).pipe(Effect.provide(serve(asking(handler))), Effect.provide(layer))
    })
  }

  it.scoped("leaves nothing in the log when it only asks", () => {
    const { layer, lines } = logbook()
    const handler = Effect.zipRight(Effect.addFinalizer(() => Effect.void), confirm("Sure?"))
    return Effect.gen(function*() {
      const peer = yield* connect
      yield* ask(peer)
      yield* silence(peer)
      assert.deepStrictEqual(lines, [])
    }).pipe(Effect.provide(serve(asking(handler))), Effect.provide(layer))
  })

  it.scoped("cannot swallow the question by catching everything", () => {
    let acted = false
    const handler = confirm("Sure?").pipe(
      Effect.catchAllCause(() => Effect.succeed("swallowed")),
      Effect.tap(() => Effect.sync(() => acted = true))
    )
    return Effect.gen(function*() {
      const peer = yield* connect
      assert.deepStrictEqual(questions(yield* ask(peer)), ["Sure?"])
      assert.isFalse(acted)
    }).pipe(Effect.provide(serve(asking(handler))))
  })

  for (
    const [what, region] of [
      ["as it is", Effect.uninterruptible],
      [
        "and catches everything",
        (self: Effect.Effect<any, any, any>) =>
          Effect.uninterruptible(Effect.catchAllCause(self, () => Effect.succeed("swallowed")))
      ],
      ["and exits", (self: Effect.Effect<any, any, any>) => Effect.uninterruptible(Effect.exit(self))]
    ] as const
  ) {
    it.scoped(`in an uninterruptible region, ${what}, still sends the question`, () =>
      Effect.gen(function*() {
        const peer = yield* connect
        const first = yield* ask(peer)
        assert.deepStrictEqual(questions(first), ["Sure?"])
        assert.include(text(yield* ask(peer, retry(first)))!, "true")
      }).pipe(Effect.provide(serve(asking(region(confirm("Sure?")))))))
  }

  it.scoped("may ask in a fiber that it has forked", () => {
    let released = 0
    const handler = Effect.gen(function*() {
      const fiber = yield* Effect.fork(Effect.ensuring(confirm("Forked?"), Effect.sync(() => released++)))
      return yield* Fiber.join(fiber)
    })
    return Effect.gen(function*() {
      const peer = yield* connect
      const first = yield* ask(peer)
      assert.deepStrictEqual(questions(first), ["Forked?"])
      assert.strictEqual(released, 1)
      assert.strictEqual(text(yield* ask(peer, retry(first))), `{"sure":true}`)
    }).pipe(Effect.provide(serve(asking(handler))))
  })

  it.scoped("may ask in a daemon while the request runs, and after it the question fails", () =>
    Effect.gen(function*() {
      const late = yield* Deferred.make<unknown>()
      const go = yield* Deferred.make<void>()
      const handler = Effect.forkDaemon(
        Effect.zipRight(Deferred.await(go), Effect.exit(confirm("Late?"))).pipe(
          Effect.flatMap((exit) => Deferred.succeed(late, exit._tag === "Failure" ? String(exit.cause) : exit))
        )
      ).pipe(Effect.as("done"))
      yield* Effect.gen(function*() {
        const peer = yield* connect
        assert.strictEqual(text(yield* ask(peer)), `"done"`)
        yield* Deferred.succeed(go, undefined)
        assert.include(yield* Deferred.await(late), "NoBackChannel")
        yield* silence(peer)
      }).pipe(Effect.scoped, Effect.provide(serve(asking(handler))))
    }))

  it.scoped("may race the question against something else: the question ends the round", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      assert.deepStrictEqual(questions(yield* ask(peer)), ["Race?"])
    }).pipe(Effect.provide(serve(asking(Effect.race(confirm("Race?"), Effect.never))))))

  it.scoped("may want a person to open URLs: these are questions, too", () => {
    const handler = Effect.fail(
      new UrlElicitationRequired({
        elicitations: [{ mode: "url", elicitationId: "1", url: "https://example.com/a", message: "Sign in" }]
      })
    )
    return Effect.gen(function*() {
      const peer = yield* connect
      const first = yield* ask(peer)
      assert.deepStrictEqual(Object.values(first.inputRequests), [
        { method: "elicitation/create", params: { mode: "url", message: "Sign in", url: "https://example.com/a" } }
      ])
      assert.strictEqual((yield* error(peer, "tools/call", { name: "ask" }, { capabilities: {} })).code, -32021)
    }).pipe(Effect.provide(serve(asking(handler))))
  })

  it.scoped("asks for a page without the id that older revisions have", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      const first = yield* ask(peer)
      assert.deepStrictEqual(Object.values(first.inputRequests), [
        { method: "elicitation/create", params: { mode: "url", message: "Sign in", url: "https://example.com/a" } }
      ])
      assert.strictEqual(text(yield* ask(peer, retry(first, () => ({ action: "accept" })))), `"accept"`)
    }).pipe(Effect.provide(serve(asking(Effect.flatMap(session, (one) =>
      one.elicit({ message: "Sign in", url: "https://example.com/a", elicitationId: "1" })))))))
})
