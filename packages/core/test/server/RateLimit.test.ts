import { assert, describe, it } from "@effect/vitest"
import * as FeatureMiddleware from "@effect-mcp/core/FeatureMiddleware"
import * as Message from "@effect-mcp/core/Message"
import * as RateLimit from "@effect-mcp/core/RateLimit"
import * as SharedLimits from "@effect-mcp/core/SharedLimits"
import { Effect, Layer, TestClock } from "effect"
import { call, type EndpointClient, makeClient, type TestExchange, withEndpoint } from "./http/TestExchange.js"
import * as Modern from "./modern/Modern.js"
import * as Posting from "./modern/Posting.js"
import { act, byHeader, connect, GreetLive, identified, logbook, Sender, serve, uninitialized } from "./Serving.js"

const rate = { burst: 2, every: "10 seconds" } as const

const limited = { middleware: RateLimit.middleware("requests", rate) }

const two = Layer.merge(act(Effect.void), act(Effect.void, "other"))

/** A call of a tool, by a client of each era. */
const eras: Readonly<
  Record<
    string,
    (http: EndpointClient) => Effect.Effect<(tool?: string, sender?: string) => Effect.Effect<TestExchange>>
  >
> = {
  "2025-11-25": (http) =>
    Effect.succeed((tool = "act", sender) =>
      Effect.flatMap(
        http.open(undefined, undefined, sender === undefined ? {} : { authorization: sender }),
        (client) => client.ask(call(1, tool))
      )
    ),
  "2026-07-28": (http) =>
    Effect.succeed((tool = "act", sender) =>
      Posting.ask(http, Posting.request("tools/call", { name: tool }), { authorization: sender })
    )
}

const statuses = (exchanges: ReadonlyArray<TestExchange>) => exchanges.map(({ status }) => status)

describe("A limit of rates", () => {
  it.effect("counts a key of any length by itself, and gives the store a short one", () =>
    Effect.gen(function*() {
      const limits = yield* SharedLimits.memory()
      let longest = 0
      const recorded: SharedLimits.SharedLimitsService = {
        ...limits,
        take: (key, ...rest) => {
          longest = Math.max(longest, key.length)
          return limits.take(key, ...rest)
        }
      }
      const { take } = RateLimit.make("keys", { burst: 1, every: "1 hour" })
      const long = "x".repeat(100_000)
      for (const key of ["x", long, `${long}y`, `${long}\ud800`, `${long}\udc00`]) {
        const taken = Effect.provideService(take(key), SharedLimits.SharedLimits, recorded)
        yield* taken
        assert.strictEqual((yield* Effect.flip(taken)).status, 429)
      }
      assert.isBelow(longest, 400)
    }))

  for (const [version, client] of Object.entries(eras)) {
    it.scoped(`refuses a request beyond it with 429, and serves the sender again after the time that it names (${version})`, () =>
      withEndpoint(serve(two, limited), (http) =>
        Effect.gen(function*() {
          const ask = yield* client(http)
          assert.deepStrictEqual(statuses([yield* ask(), yield* ask("other")]), [200, 200])
          yield* TestClock.adjust("1 second")
          const refused = yield* ask()
          assert.deepStrictEqual([refused.status, refused.sent["retry-after"]], [429, "9"])
          assert.deepStrictEqual(refused.json, {
            jsonrpc: "2.0",
            id: 1,
            error: {
              // From 2026-07-28 on, SHOULD NOT send a code from -32000 to -32019.
              code: version === "2026-07-28" ? -32600 : -32000,
              message: "Too Many Requests: send the next request in 9 s",
              data: { retryAfter: 9 }
            }
          })
          yield* TestClock.adjust("9 seconds")
          assert.deepStrictEqual(statuses([yield* ask(), yield* ask()]), [200, 429])
        })))

    it.scoped(`is for each principal, or for what a function names (${version})`, () =>
      Effect.gen(function*() {
        const names = [undefined, (name: string | undefined) => name === "free" ? undefined : "all"]
        for (const name of names) {
          const options = name === undefined ? rate : { ...rate, by: () => Effect.map(Sender, name) }
          const middleware = RateLimit.middleware("requests", options)
          yield* withEndpoint(serve(two, { ...byHeader, middleware }), (http) =>
            Effect.gen(function*() {
              const ask = yield* client(http)
              const sent = yield* Effect.forEach(
                ["ada", "ada", "ada", "bob", "free", "free", "free"],
                (sender) => ask("act", sender)
              )
              assert.deepStrictEqual(
                statuses(sent),
                name === undefined ? [200, 200, 429, 200, 200, 200, 429] : [200, 200, 429, 429, 200, 200, 200]
              )
            }))
        }
      }))

    it.scoped(`may be of each tool by itself, and of one feature alone (${version})`, () =>
      Effect.gen(function*() {
        const perTool = serve(two, { middleware: RateLimit.middleware("calls", { ...rate, perTool: true }) })
        const tools = ["act", "act", "act", "other", "other", "other"]
        yield* withEndpoint(perTool, (http) =>
          Effect.gen(function*() {
            const ask = yield* client(http)
            const sent = yield* Effect.forEach(tools, (tool) => ask(tool))
            assert.deepStrictEqual(statuses(sent), [200, 200, 429, 200, 200, 429])
            for (let i = 0; i < 4; i++) assert.notStrictEqual((yield* ask(`unknown-${i % 2}`)).status, 429)
          }))
        const rare = act(Effect.void).pipe(FeatureMiddleware.around(RateLimit.featureMiddleware("rare", rate)))
        yield* withEndpoint(serve(Layer.merge(rare, act(Effect.void, "other"))), (http) =>
          Effect.gen(function*() {
            const ask = yield* client(http)
            const sent = yield* Effect.forEach(tools, (tool) => ask(tool))
            assert.deepStrictEqual(statuses(sent), [200, 200, 429, 200, 200, 200])
          }))
      }))

    it.scoped(`is counted by all nodes together where they share their counters (${version})`, () =>
      Effect.gen(function*() {
        const shared = Layer.succeed(SharedLimits.SharedLimits, yield* SharedLimits.memory())
        const node = Effect.flatMap(
          Layer.build(Layer.provide(
            Layer.fresh(serve(two, { middleware: RateLimit.middleware("requests", rate) })),
            shared
          )),
          (context) => Effect.flatMap(Effect.provide(makeClient(), context), client)
        )
        const [one, other] = [yield* node, yield* node]
        assert.deepStrictEqual(statuses([yield* one(), yield* other(), yield* one(), yield* other()]), [
          200,
          200,
          429,
          429
        ])
      }))

    it.scoped(`lets requests through while its store is away, or refuses them, and tells its cause to the log only (${version})`, () =>
      Effect.gen(function*() {
        let error: SharedLimits.SharedLimitsError | undefined = new SharedLimits.SharedLimitsError({
          message: "secret"
        })
        const away = Layer.succeed(SharedLimits.SharedLimits, {
          take: () => Effect.suspend(() => error ?? Effect.succeed(0)),
          once: () => Effect.die("not used")
        })
        for (const whenAway of ["serve", "refuse"] as const) {
          const { layer, lines } = logbook()
          const count = () => lines.filter(({ message }) => message === "The store of limits failed: secret").length
          const server = serve(two, { middleware: RateLimit.middleware("requests", { ...rate, whenAway }) })
          yield* withEndpoint(server.pipe(Layer.provide(away), Layer.provide(layer)), (http) =>
            Effect.gen(function*() {
              const ask = yield* client(http)
              const sent = [yield* ask(), yield* ask(), yield* ask()]
              assert.deepStrictEqual(statuses(sent), whenAway === "serve" ? [200, 200, 200] : [503, 503, 503])
              for (const { sent: headers, text } of sent) {
                assert.notInclude(text, "secret")
                assert.strictEqual(headers["retry-after"], whenAway === "serve" ? undefined : "1")
              }
              assert.strictEqual(count(), 1)
              const lost = error
              error = undefined
              assert.strictEqual((yield* ask()).status, 200)
              error = lost
              yield* ask()
              assert.strictEqual(count(), 2)
            }))
        }
      }))
  }

  it.scoped("leaves a client what it needs to connect and to live: initialize, ping and notifications", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      yield* peer.initialize()
      for (let i = 0; i < 5; i++) {
        yield* peer.expectResult(yield* peer.request("ping"))
        yield* peer.notify("notifications/roots/list_changed")
      }
      yield* peer.expectResult(yield* peer.request("tools/list"))
    }).pipe(Effect.provide(serve(GreetLive, limited))))

  it.scoped("answers with an error on a pipe, which has no status (2025-11-25)", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      for (let i = 0; i < 2; i++) yield* peer.expectResult(yield* peer.request("tools/list"))
      assert.deepStrictEqual(yield* peer.expectError(yield* peer.request("tools/list")), {
        code: -32000,
        message: "Too Many Requests: send the next request in 10 s",
        data: { retryAfter: 10 }
      })
      yield* TestClock.adjust("10 seconds")
      yield* peer.expectResult(yield* peer.request("tools/list"))
    }).pipe(Effect.provide(serve(GreetLive, { middleware: RateLimit.middleware("requests", rate) }))))

  it.scoped("answers with an error on a pipe, which has no status (2026-07-28)", () =>
    Effect.gen(function*() {
      const peer = yield* Modern.connect
      for (let i = 0; i < 2; i++) yield* Modern.result(peer, "tools/list")
      assert.deepStrictEqual(yield* Modern.error(peer, "tools/list"), {
        code: -32600,
        message: "Too Many Requests: send the next request in 10 s",
        data: { retryAfter: 10 }
      })
    }).pipe(Effect.provide(serve(GreetLive, { middleware: RateLimit.middleware("requests", rate) }))))

  it.scoped("answers each request of a batch by itself", () =>
    withEndpoint(serve(two, { middleware: RateLimit.middleware("requests", rate) }), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open("2025-03-26")
        const exchange = yield* client.ask([1, 2, 3].map((id) => call(id, "act")))
        assert.strictEqual(exchange.status, 200)
        const refused = (exchange.json as ReadonlyArray<Message.Response>).filter((one) => !Message.isSuccess(one))
        assert.lengthOf(refused, 1)
      })))

  it.scoped("refuses a request before its body is read, where an authenticator uses it", () => {
    const addresses = RateLimit.make("addresses", rate)
    const server = serve(
      two,
      identified(({ headers }) => Effect.as(addresses.take(headers["x-address"] ?? ""), undefined))
    )
    return withEndpoint(server, (http) =>
      Effect.gen(function*() {
        const ask = (address: string) => Posting.ask(http, Posting.greet, { "x-address": address })
        const sent = [yield* ask("1"), yield* ask("1"), yield* ask("1"), yield* ask("2")]
        assert.deepStrictEqual(statuses(sent), [200, 200, 429, 200])
        assert.deepStrictEqual(sent.map(({ read }) => read), [true, true, false, true])
        assert.strictEqual(sent[2]!.sent["retry-after"], "10")
      }))
  })
})
