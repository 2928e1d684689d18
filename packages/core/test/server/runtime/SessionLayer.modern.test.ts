/** The lifetime of a session layer from 2026-07-28 on, where no handshake begins a session. */
import { assert, describe, it } from "@effect/vitest"
import * as ChangeBus from "@effect-mcp/core/ChangeBus"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { InvalidRequest } from "@effect-mcp/core/protocol/McpError"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as SessionDirectory from "@effect-mcp/core/SessionDirectory"
import * as Tool from "@effect-mcp/core/Tool"
import { Context, Deferred, Effect, Exit, Layer, Scope, TestClock } from "effect"
import * as ResolvedLimits from "../../../src/server/runtime/ResolvedLimits.js"
import * as SessionLayer from "../../../src/server/runtime/SessionLayer.js"
import { type EndpointClient, makeClient } from "../http/TestExchange.js"
import { call, connect, request, text } from "../modern/Modern.js"
import { ask, post, request as posted } from "../modern/Posting.js"
import { act, byHeader, logbook, serve, until } from "../Serving.js"

class Basket extends Context.Tag("Basket")<Basket, { readonly of: string; readonly items: Array<string> }>() {}

/** A basket for each session, and a log of them. */
const baskets = () => {
  const log: Array<string> = []
  let built = 0
  const session = Layer.scoped(
    Basket,
    Effect.flatMap(RequestContext, ({ client }) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const of = `${client.info?.name ?? "nobody"} ${++built}`
          log.push(`open ${of}`)
          return { of, items: [] as Array<string> }
        }),
        ({ of }) => Effect.sync(() => log.push(`close ${of}`))
      ))
  )
  return { log, session }
}

const Add = McpServer.tool(
  Tool.make("add"),
  () => Effect.map(Basket, ({ items, of }) => `${items.push("thing")} in the basket of ${of}`)
)

interface Sender {
  readonly user?: string
  readonly client?: string
  readonly capabilities?: JsonObject
}

const calling = (name: string, { capabilities, client = "test" }: Sender) => {
  const request = posted("tools/call", { name }, { capabilities })
  const clientInfo = { name: client, version: "1.0.0" }
  const _meta = { ...request.params!._meta as object, "io.modelcontextprotocol/clientInfo": clientInfo }
  return { ...request, params: { ...request.params, _meta } }
}

const add = (http: EndpointClient, sender: Sender = {}) =>
  Effect.map(
    ask(http, calling("add", sender), { authorization: sender.user }),
    ({ json }): string => json.error?.message ?? text(json.result)
  )

const ada = { user: "ada" }
const bob = { user: "bob" }

const ofUsers = { lifetime: "user", ...byHeader } as const

describe("The session layer of a pipe at 2026-07-28", () => {
  it.scoped("is built by the first request, is the same for all, and closes with the pipe", () =>
    Effect.gen(function*() {
      const { log, session } = baskets()
      yield* Effect.gen(function*() {
        const [one, two] = [yield* connect, yield* connect]
        assert.deepStrictEqual(log, [])
        assert.strictEqual(text(yield* call(one, "add")), "1 in the basket of test 1")
        assert.strictEqual(text(yield* call(one, "add")), "2 in the basket of test 1")
        assert.strictEqual(text(yield* call(two, "add")), "1 in the basket of test 2")
        yield* one.hangUp
        yield* until(() => log.length > 2)
        assert.deepStrictEqual(log, ["open test 1", "open test 2", "close test 1"])
      }).pipe(Effect.provide(serve(Add, { session })))
    }))

  it.scoped("is waited for by the requests that come meanwhile, and outlives the request that began it", () =>
    Effect.gen(function*() {
      const { log, session } = baskets()
      const gate = yield* Deferred.make<void>()
      const slow = Layer.provideMerge(session, Layer.effectDiscard(Deferred.await(gate)))
      yield* Effect.gen(function*() {
        const peer = yield* connect
        const first = yield* request(peer, "tools/call", { name: "add" })
        const second = yield* request(peer, "tools/call", { name: "add" })
        yield* peer.notify("notifications/cancelled", { requestId: first })
        yield* Deferred.succeed(gate, undefined)
        assert.strictEqual(text(yield* peer.expectResult(second)), "1 in the basket of test 1")
        assert.deepStrictEqual(log, ["open test 1"])
      }).pipe(Effect.provide(serve(Add, { session: slow })))
    }))

  it.scoped("is not kept when it fails: the request fails, and the next one builds it again", () =>
    Effect.gen(function*() {
      const { log, session } = baskets()
      let open = false
      const failing = Layer.merge(
        session,
        Layer.effectDiscard(
          Effect.suspend(() => open ? Effect.void : Effect.fail(new InvalidRequest({ message: "no" })))
        )
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect
        const refused = yield* peer.expectError(yield* request(peer, "tools/call", { name: "add" }))
        assert.deepStrictEqual(refused, { code: -32600, message: "no" })
        open = true
        assert.include(text(yield* call(peer, "add")), "1 in the basket of test")
        assert.include(text(yield* call(peer, "add")), "2 in the basket of test")
        assert.lengthOf(log.filter((line) => line.startsWith("close")), log.length - 2)
      }).pipe(Effect.provide(serve(Add, { session: failing })))
    }))

  it.scoped("is there for handlers that the end of the server interrupts", () =>
    Effect.gen(function*() {
      const { log, session } = baskets()
      const scope = yield* Scope.make()
      const waiting = act(
        Effect.zipRight(Basket, Effect.onInterrupt(Effect.never, () => Effect.sync(() => log.push("interrupted"))))
      )
      const context = yield* Layer.buildWithScope(serve(waiting, { session }), scope)
      yield* Effect.gen(function*() {
        const peer = yield* connect
        yield* request(peer, "tools/call", { name: "act" })
        yield* until(() => log.length > 0)
        yield* Scope.close(scope, Exit.void)
        assert.deepStrictEqual(log, ["open test 1", "interrupted", "close test 1"])
        yield* peer.next
      }).pipe(Effect.provide(context))
    }))
})

describe("The session layer over HTTP at 2026-07-28", () => {
  it.scoped("is built for each request, and closed before its response, which the server says at start", () =>
    Effect.gen(function*() {
      const { log, session } = baskets()
      const { layer, lines } = logbook()
      yield* Effect.gen(function*() {
        const http = yield* makeClient()
        yield* makeClient({ legacy: { sessions: false } })
        assert.deepStrictEqual(lines.map(({ level }) => level), ["Warning", "Warning"])
        assert.include(lines[0]!.message, "lifetime: \"user\"")
        assert.strictEqual(yield* add(http, ada), "1 in the basket of test 1")
        assert.deepStrictEqual(log, ["open test 1", "close test 1"])
        assert.strictEqual(yield* add(http, ada), "1 in the basket of test 2")
      }).pipe(Effect.provide(serve(Add, { session, ...byHeader })), Effect.provide(layer))
    }))

  it.scoped("is not a reason for a warning where all clients have sessions, or users", () =>
    Effect.gen(function*() {
      const { layer, lines } = logbook()
      const { session } = baskets()
      const start = Effect.asVoid(makeClient())
      for (const server of [serve(Add, { session, versions: ["2025-11-25"] }), serve(Add, { session, ...ofUsers })]) {
        yield* Effect.provide(start, Layer.provide(server, layer))
      }
      yield* Effect.provide(start, Layer.provide(serve(act(Effect.void)), layer))
      assert.deepStrictEqual(lines, [])
      yield* Effect.provide(start, Layer.provide(serve(Add, { session, lifetime: "user" }), layer))
      assert.include(lines[0]?.message, "authenticator")
    }))

  it.scoped("lives with a user where the server says so: by user, client and declared capabilities", () =>
    Effect.gen(function*() {
      const { log, session } = baskets()
      yield* Effect.gen(function*() {
        const http = yield* makeClient()
        assert.strictEqual(yield* add(http, ada), "1 in the basket of test 1")
        assert.strictEqual(yield* add(http, ada), "2 in the basket of test 1")
        assert.strictEqual(yield* add(http, bob), "1 in the basket of test 2")
        assert.strictEqual(yield* add(http, { ...ada, capabilities: { roots: {} } }), "1 in the basket of test 3")
        assert.strictEqual(yield* add(http, { ...ada, client: "other" }), "1 in the basket of other 4")
        assert.strictEqual(yield* add(http, ada), "3 in the basket of test 1")
        // Anonymous clients cannot be told apart.
        assert.strictEqual(yield* add(http), "1 in the basket of test 5")
        assert.strictEqual(yield* add(http), "1 in the basket of test 6")
        assert.deepStrictEqual(log.filter((line) => line.startsWith("close")), ["close test 5", "close test 6"])
        // At 2025-11-25 too, where the endpoint has no sessions.
        const stateless = yield* makeClient({ legacy: { sessions: false } })
        const legacy = stateless.ask({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "add" } }, {
          authorization: "ada",
          "mcp-protocol-version": "2025-11-25"
        })
        assert.strictEqual(text((yield* legacy).json.result), "1 in the basket of nobody 7")
        assert.strictEqual(text((yield* legacy).json.result), "2 in the basket of nobody 7")
      }).pipe(Effect.provide(serve(Add, { session, ...ofUsers })))
    }))

  it.scoped("of a user closes when it was idle, never while a request uses it, and with the server", () =>
    Effect.gen(function*() {
      const { log, session } = baskets()
      const gate = yield* Deferred.make<void>()
      const scope = yield* Scope.make()
      const features = Layer.merge(Add, act(Effect.zipRight(Basket, Deferred.await(gate))))
      const context = yield* Layer.buildWithScope(
        serve(features, { session, ...ofUsers, limits: { userSessionIdleTimeout: "10 minutes" } }),
        scope
      )
      yield* Effect.gen(function*() {
        const http = yield* makeClient()
        const waiting = post(http, calling("act", ada), { authorization: "ada" })
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(yield* add(http, ada), "1 in the basket of test 1")
        yield* TestClock.adjust("1 hour")
        yield* Deferred.succeed(gate, undefined)
        yield* until(() => waiting.ended)
        yield* TestClock.adjust("9 minutes")
        assert.strictEqual(yield* add(http, ada), "2 in the basket of test 1")
        yield* TestClock.adjust("9 minutes")
        assert.deepStrictEqual(log, ["open test 1"])
        yield* TestClock.adjust("2 minutes")
        yield* until(() => log.length > 1)
        assert.strictEqual(yield* add(http, ada), "1 in the basket of test 2")
        yield* Scope.close(scope, Exit.void)
        assert.deepStrictEqual(log, ["open test 1", "close test 1", "open test 2", "close test 2"])
      }).pipe(Effect.provide(context))
    }))

  it.scoped("of a user closes also where clients disconnect between any two steps", () =>
    Effect.gen(function*() {
      const { log, session } = baskets()
      const slow = Layer.provideMerge(session, Layer.effectDiscard(Effect.repeatN(Effect.yieldNow(), 3)))
      yield* Effect.gen(function*() {
        const http = yield* makeClient()
        for (let turns = 0; turns < 40; turns++) {
          const sent = post(http, calling("add", { client: `c${turns}` }), { authorization: "ada" })
          yield* Effect.repeatN(Effect.yieldNow(), turns)
          sent.hangUp()
        }
        const closed = () => log.filter((line) => line.startsWith("close")).length
        assert.isAbove(log.length, closed())
        yield* TestClock.adjust("31 minutes")
        yield* until(() => closed() * 2 === log.length)
      }).pipe(Effect.provide(serve(Add, { session: slow, ...ofUsers })))
    }))

  it.scoped("of a user is one of 64: another client gets the place of the one that was idle longest, or none", () =>
    Effect.gen(function*() {
      const { log, session } = baskets()
      yield* Effect.gen(function*() {
        const http = yield* makeClient()
        const of = (n: number) => ({ ...ada, client: `c${n}` })
        const hold = (n: number) => post(http, calling("act", of(n)), { authorization: "ada" })
        yield* add(http, bob)
        for (let n = 0; n < 64; n++) yield* add(http, of(n))
        yield* add(http, of(0))
        assert.lengthOf(log, 65)
        yield* add(http, of(64))
        yield* until(() => log.length > 66)
        assert.include(log, "close c1 3")
        assert.strictEqual(yield* add(http, of(0)), "3 in the basket of c0 2")
        assert.strictEqual(yield* add(http, bob), "2 in the basket of test 1")
        const held = Array.from({ length: 64 }, (_, n) => hold(n + 100))
        yield* until(() => log.filter((line) => line.startsWith("open")).length >= 66 + 64)
        const refused = yield* ask(http, calling("add", of(0)), { authorization: "ada" })
        assert.strictEqual(refused.status, 503)
        assert.include(refused.json.error.message, "in use")
        for (const exchange of held) exchange.hangUp()
        yield* until(() => held.every(({ isGone }) => isGone))
        assert.include(yield* add(http, bob), "3 in the basket of test 1")
      }).pipe(Effect.provide(serve(Layer.merge(Add, act(Effect.zipRight(Basket, Effect.never))), {
        session,
        ...ofUsers,
        limits: { maxInFlight: 100 }
      })))
    }))

  it.scoped(
    "of a user is one of a bounded number of all users: another user gets the place of the one that was idle longest, or none",
    () =>
      Effect.gen(function*() {
        let open = 0
        let built = 0
        const layer = Layer.scopedDiscard(Effect.acquireRelease(
          Effect.sync(() => {
            open++
            built++
          }),
          () => Effect.sync(() => open--)
        ))
        const { ofRequest } = yield* SessionLayer.make(layer, Context.empty(), {
          lifetime: "user",
          maxSessions: 100,
          limits: ResolvedLimits.ofServer()
        })
        const request = (user: string) =>
          ({ client: { capabilities: {} }, principal: { id: user }, origin: {} }) as unknown as Parameters<
            typeof ofRequest
          >[0]
        const use = (user: string) =>
          Effect.scoped(Effect.flatMap(Effect.scope, (scope) => ofRequest(request(user), scope)))
        for (let n = 0; n < 100; n++) yield* use(`${n}`)
        assert.strictEqual(open, 100)
        yield* use("0")
        yield* use("ada")
        yield* until(() => open === 100)
        // The session of user 1 was idle longest.
        yield* use("0")
        assert.strictEqual(built, 101)
        yield* use("1")
        yield* until(() => open === 100)
        assert.strictEqual(built, 102)
        // None is idle.
        const scope = yield* Effect.scope
        for (let n = 0; n < 100; n++) yield* ofRequest(request(`busy ${n}`), scope)
        assert.include(String(yield* Effect.flip(use("eve"))), "in use")
      })
  )

  it.scoped("of a user is not kept when it fails, nor for a client that says too much of itself", () =>
    Effect.gen(function*() {
      let open = false
      const { session } = baskets()
      const failing = Layer.merge(
        session,
        Layer.effectDiscard(
          Effect.suspend(() => open ? Effect.void : Effect.fail(new InvalidRequest({ message: "no" })))
        )
      )
      yield* Effect.gen(function*() {
        const http = yield* makeClient()
        assert.strictEqual(yield* add(http, ada), "no")
        open = true
        assert.include(yield* add(http, ada), "1 in the basket")
        assert.include(yield* add(http, ada), "2 in the basket")
        assert.include(yield* add(http, { ...ada, client: "c".repeat(70_000) }), "65536 characters")
      }).pipe(Effect.provide(serve(Add, { session: failing, ...ofUsers })))
    }))

  it.scoped("of a user that fails takes no place of another client, however often it fails", () =>
    Effect.gen(function*() {
      const { log, session } = baskets()
      const failing = Layer.provideMerge(
        session,
        Layer.effectDiscard(
          Effect.flatMap(
            RequestContext,
            ({ client }) =>
              client.info?.name === "test" ? Effect.void : Effect.fail(new InvalidRequest({ message: "no" }))
          )
        )
      )
      yield* Effect.gen(function*() {
        const http = yield* makeClient()
        assert.strictEqual(yield* add(http, ada), "1 in the basket of test 1")
        for (let n = 0; n < 65; n++) assert.strictEqual(yield* add(http, { ...ada, client: `c${n}` }), "no")
        assert.strictEqual(yield* add(http, ada), "2 in the basket of test 1")
        assert.deepStrictEqual(log, ["open test 1"])
      }).pipe(Effect.provide(serve(Add, { session: failing, ...ofUsers })))
    }))

  it.effect("of a user is refused on a server of several nodes", () =>
    Effect.gen(function*() {
      const { session } = baskets()
      for (const nodes of [ChangeBus.layerMemory, SessionDirectory.layerMemory]) {
        const built = Layer.build(Layer.provide(serve(Add, { session, ...ofUsers }), nodes as Layer.Layer<never>))
        const exit = yield* Effect.exit(Effect.scoped(built))
        assert.include(String(exit), "in the memory of one node")
      }
    }))
})
