/** What `serve` of a dispatcher does beside the laws (`ServeLaws`): users, eras, headers, notifications, subscriptions. */
import { assert, describe, it } from "@effect/vitest"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as Feature from "@effect-mcp/core/Feature"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as MessageText from "@effect-mcp/core/MessageText"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import * as Extension from "@effect-mcp/core/protocol/Extension"
import * as Registry from "@effect-mcp/core/Registry"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Schema, Scope, Stream } from "effect"
import { entrances } from "../Entrances.js"
import { headers, request } from "../modern/Posting.js"
import { act, answer, byHeader, GreetLive, logbook, messages, Sender, serve, speaking, until } from "../Serving.js"

const modern = request("tools/call", { name: "act" })
const legacy = Message.request(1, "tools/call", { name: "act" })

describe("Dispatcher.serve", () => {
  it.effect("finds the user before it serves a message, as the transports of the server do", () => {
    const seen: Array<unknown> = []
    const note = act(
      Effect.flatMap(
        Effect.all([Sender, RequestContext]),
        ([sender, { headers, principal }]) => Effect.sync(() => seen.push(sender, principal?.id, headers["x-tenant"]))
      )
    )
    return Effect.gen(function*() {
      yield* answer(legacy, Authenticator.http({ headers: { authorization: "ada", "x-tenant": "a" } }))
      yield* answer(modern, Authenticator.given(Context.make(Sender, "bob")))
      assert.deepStrictEqual(seen, ["ada", "ada", "a", "bob", "bob", undefined])
    }).pipe(Effect.provide(serve(note, byHeader)))
  })

  it.effect("answers a sender without a user with one error, whatever runs, and serves no notification of it", () => {
    const { layer, lines } = logbook()
    const Ext = Extension.make("com.example/notes", {
      notifications: { noted: Extension.notification("notes/noted", { params: Schema.Struct({}), from: "client" }) }
    })
    let served = 0
    const count = Effect.sync(() => served++)
    const refusal = HttpRefusal.unauthorized("Bearer")
    const authenticator = Authenticator.make(Sender, {
      id: (id) => id,
      http: ({ headers }) => headers.authorization === "ada" ? Effect.succeed("ada") : Effect.fail(refusal)
    })
    return Effect.gen(function*() {
      const stranger = Authenticator.http({ headers: headers(modern) })
      const running = yield* Effect.fork(
        messages(request("tools/call", { name: "wait" }), Authenticator.given(Context.make(Sender, "ada")))
      )
      yield* until(() => served === 1)
      for (const one of [modern, legacy]) {
        assert.strictEqual((yield* answer(one, stranger)).error.message, refusal.error.message)
      }
      assert.match((yield* answer(legacy)).error.message, /accept, listen or serve must pass the user/)
      const { id: _, ...notification } = request("notes/noted", {}, { capabilities: { extensions: { [Ext.id]: {} } } })
      assert.deepStrictEqual(yield* messages(notification, stranger), [])
      assert.strictEqual(served, 1)
      const ada = Authenticator.given(Context.make(Sender, "ada"))
      assert.deepStrictEqual(yield* messages(notification, ada), [])
      yield* until(() => served === 2)
      yield* Fiber.interrupt(running)
      assert.isTrue(lines.some(({ message }) => message.includes("cannot find the user on this transport")))
    }).pipe(
      Effect.provide(serve(
        Layer.mergeAll(
          act(count),
          act(Effect.zipRight(count, Effect.never), "wait"),
          MethodHandler.notification(Ext.notifications.noted, () => Effect.asVoid(count))
        ),
        { authenticator, extensions: [Ext], limits: { maxExchanges: 1, maxWaiting: 0 } }
      )),
      Effect.provide(layer)
    )
  })

  it.effect("interrupts the authenticator when its stream is closed", () => {
    let interrupted = 0
    const authenticator = Authenticator.make(Sender, {
      id: (id) => id,
      http: () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => interrupted++))
    })
    return Effect.gen(function*() {
      const reading = yield* Effect.fork(answer(legacy, Authenticator.http({})))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(reading)
      yield* until(() => interrupted === 1)
    }).pipe(Effect.provide(serve(GreetLive, { authenticator })))
  })

  it.effect("refuses what requires a scope that the user lacks", () => {
    let runs = 0
    const authenticator = Authenticator.make(Sender, {
      id: (id) => id,
      permit: (sender, scopes) =>
        scopes.length === 0 || sender === "ada" ? undefined : HttpRefusal.forbidden(`Forbidden: ${scopes.join()}`)
    })
    return Effect.gen(function*() {
      for (const [sender, has] of [["ada", true], ["bob", false]] as const) {
        for (const one of [modern, legacy]) {
          const { error } = yield* answer(one, Authenticator.given(Context.make(Sender, sender)))
          assert.strictEqual(error?.message, has ? undefined : "Forbidden: write")
        }
      }
      assert.strictEqual(runs, 2)
    }).pipe(
      Effect.provide(serve(act(Effect.sync(() => runs++)).pipe(Feature.requires(["write"])), { authenticator }))
    )
  })

  it.effect("serves a legacy message in the revision of its header, else in that of a message without a header", () => {
    const versions: Array<string> = []
    const note = act(Effect.map(RequestContext, ({ version }) => versions.push(version)))
    return Effect.gen(function*() {
      yield* answer(legacy)
      yield* answer(legacy, speaking("2025-11-25"))
      const { error, id } = yield* answer(legacy, speaking("2024-01-01"))
      assert.deepStrictEqual([id, error.code], [1, -32600])
      assert.match(error.message, /Unsupported protocol version: 2024-01-01/)
      assert.deepStrictEqual(versions, ["2025-03-26", "2025-11-25"])
      const { result } = yield* answer(Message.request(1, "initialize", {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "test", version: "0.0.0" }
      }))
      assert.strictEqual(result.protocolVersion, "2025-06-18")
    }).pipe(Effect.provide(serve(note)))
  })

  it.effect("compares a modern message with the headers of an HTTP request, and with nothing elsewhere", () =>
    Effect.gen(function*() {
      const fit = headers(modern)
      assert.property(yield* answer(modern, Authenticator.http({ headers: fit })), "result")
      assert.property(yield* answer(modern), "result")
      for (const wrong of [{ ...fit, "mcp-name": "other" }, { ...fit, "mcp-method": "tools/list" }, {}]) {
        const { error } = yield* answer(modern, Authenticator.http({ headers: wrong }))
        assert.match(error.message, /^Header mismatch/)
      }
      const unknown = yield* answer(request("tools/call", { name: "act" }, { version: "2030-01-01" }))
      assert.deepInclude(unknown.error.data, { requested: "2030-01-01" })
    }).pipe(Effect.provide(serve(act(Effect.void)))))

  it.effect("refuses the messages of the other era on a server of one era", () =>
    Effect.gen(function*() {
      const initialize = Message.request(1, "initialize", {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "test", version: "0.0.0" }
      })
      const onModern = yield* Effect.provide(answer(initialize), serve(GreetLive, { versions: ["2026-07-28"] }))
      assert.deepStrictEqual(onModern.error.data.supported, ["2026-07-28"])
      const onLegacy = yield* Effect.provide(answer(modern), serve(GreetLive, { versions: ["2025-06-18"] }))
      assert.deepStrictEqual([onLegacy.error.code, onLegacy.error.data.supported], [-32602, ["2025-06-18"]])
    }))

  it.effect("answers a batch with one error: each of its messages is served by itself", () =>
    Effect.gen(function*() {
      const { error } = yield* answer(MessageText.parse(JSON.stringify([legacy, legacy])))
      assert.match(error.message, /received a batch/)
    }).pipe(Effect.provide(serve(GreetLive))))

  it.effect("serves a message once for each run of its stream", () => {
    let runs = 0
    return Effect.gen(function*() {
      const { serve } = yield* Dispatcher
      const stream = serve(modern)
      assert.strictEqual(runs, 0)
      yield* Effect.all([Stream.runDrain(stream), Stream.runDrain(stream)])
      assert.strictEqual(runs, 2)
    }).pipe(Effect.provide(serve(act(Effect.sync(() => runs++)))))
  })

  it.effect("has a request leave the line when its stream is closed while it waits", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      let served = 0
      const handler = Effect.zipRight(Effect.sync(() => served++), Deferred.await(gate))
      yield* Effect.gen(function*() {
        const first = yield* Effect.fork(answer(modern))
        yield* until(() => served === 1)
        const second = yield* Effect.fork(answer(modern))
        yield* Effect.yieldNow()
        yield* Fiber.interrupt(second)
        const third = yield* Effect.fork(answer(modern))
        yield* Deferred.succeed(gate, undefined)
        assert.property(yield* Fiber.join(first), "result")
        assert.property(yield* Fiber.join(third), "result")
        assert.strictEqual(served, 2)
      }).pipe(Effect.provide(serve(act(handler), { limits: { maxExchanges: 1, maxWaiting: 1 } })))
    }))

  it.effect("keeps a subscription open, and ends it with its result when the server closes", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(serve(GreetLive), scope)
      const listen = request("subscriptions/listen", { notifications: { toolsListChanged: true } })
      const { serve: serveOne } = Context.get(context, Dispatcher)
      const methods: Array<string> = []
      const reading = yield* Effect.fork(
        Stream.runForEach(
          serveOne(listen),
          (message) =>
            Effect.sync(() => methods.push("method" in message ? message.method : Object.keys(message).join()))
        )
      )
      yield* until(() => methods.length === 1)
      yield* Effect.scoped(Effect.zipRight(
        Registry.add(McpServer.tool(Tool.make("more"), () => Effect.void)),
        until(() => methods.length === 2)
      )).pipe(Effect.provide(context))
      yield* Scope.close(scope, Exit.void)
      yield* Fiber.join(reading)
      assert.deepStrictEqual(methods.slice(0, 2), [
        "notifications/subscriptions/acknowledged",
        "notifications/tools/list_changed"
      ])
      assert.strictEqual(methods.at(-1), "jsonrpc,id,result")
      const late = yield* Effect.provide(Effect.all([answer(modern), answer(legacy)]), context)
      for (const { error } of late) assert.strictEqual(error.message, "Connection closed")
    }))

  it.effect("frees the place of a subscription whose stream is closed", () =>
    Effect.gen(function*() {
      const listen = request("subscriptions/listen", { notifications: { toolsListChanged: true } })
      const { serve } = yield* Dispatcher
      for (let n = 0; n < 3; n++) {
        const first = yield* Stream.runHead(serve(listen))
        assert.deepInclude(first, { _tag: "Some" })
        assert.deepInclude((first as any).value, { method: "notifications/subscriptions/acknowledged" })
      }
    }).pipe(Effect.provide(serve(GreetLive, { limits: { maxListens: 1 } }))))

  it.effect("reads on in place of a client of an older revision that has gone: the handler is not suspended", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      let sent = 0
      const send = Effect.flatMap(RequestContext, ({ progress }) =>
        Effect.zipRight(
          Deferred.await(gate),
          Effect.whileLoop({ while: () => sent < 1000, body: () => progress(sent + 1), step: () => void sent++ })
        ))
      yield* Effect.gen(function*() {
        const { requests } = yield* entrances
        const params = { name: "act", _meta: { progressToken: "t" } }
        const reading = yield* Effect.fork(answer(Message.request(1, "tools/call", params)))
        yield* until(() => requests.size === 1)
        yield* Fiber.interrupt(reading)
        yield* Deferred.succeed(gate, undefined)
        yield* until(() => requests.size === 0)
        assert.strictEqual(sent, 1000)
      }).pipe(Effect.provide(serve(act(send))))
    }))

  it.effect("leaves no request behind, however its stream ends", () =>
    Effect.gen(function*() {
      const { requests } = yield* entrances
      const { serve } = yield* Dispatcher
      const one = (method: string) => request("tools/call", { name: method }, { progressToken: "t" })
      yield* Stream.runHead(serve(one("act")))
      yield* Effect.exit(Stream.runForEach(serve(one("act")), () => Effect.fail("the reader fails")))
      yield* Effect.exit(Stream.runForEach(serve(one("act")), () => Effect.die("the reader dies")))
      yield* Stream.runDrain(Stream.take(serve(one("act")), 1))
      yield* Stream.runDrain(serve(one("none")))
      yield* until(() => requests.size === 0)
    }).pipe(Effect.provide(serve(act(
      Effect.flatMap(RequestContext, ({ progress }) => Effect.zipRight(progress(1), Effect.never))
    )))))

  it.effect("gives handlers no way to send requests", () => {
    const failures: Array<unknown> = []
    const ask = act(Effect.flatMap(
      ServerSession,
      (session) => Effect.catchAll(session.request("roots/list"), ({ _tag }) => Effect.sync(() => failures.push(_tag)))
    ))
    return Effect.gen(function*() {
      yield* answer(legacy)
      yield* answer(modern)
      assert.deepStrictEqual(failures, ["NoBackChannel", "NoBackChannel"])
    }).pipe(Effect.provide(serve(ask)))
  })
})
