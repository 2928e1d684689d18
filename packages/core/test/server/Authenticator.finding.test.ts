import { assert, describe, it } from "@effect/vitest"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import * as Message from "@effect-mcp/core/Message"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import * as Middleware from "@effect-mcp/core/Middleware"
import { InternalError, InvalidRequest } from "@effect-mcp/core/protocol/McpError"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import * as TestTransport from "@effect-mcp/testing/TestTransport"
import { Context, Deferred, Effect, Fiber, Layer, Schema, Stream, TestClock } from "effect"
import * as Entrances from "./Entrances.js"
import { answered, call, initialize, proper, withEndpoint } from "./http/TestExchange.js"
import { ask, request } from "./modern/Posting.js"
import { act, byHeader, GreetLive, identified, logbook, Sender, serve, until } from "./Serving.js"

/** A server on which the sender of a message is found in this way, on every transport. */
const finding = (
  found: Effect.Effect<string | undefined, Authenticator.Refuses>,
  options: Partial<Authenticator.Options<string | undefined>> = {}
) =>
  serve(GreetLive, {
    authenticator: Authenticator.make(Sender, { id: (id) => id, http: () => found, inProcess: found, ...options })
  })

/** The error of `initialize` on a pipe. */
const refused = Effect.gen(function*() {
  const peer = yield* TestPeer.client()
  return yield* peer.expectError(yield* peer.request("initialize", initialize().params))
})

describe("The authenticator", () => {
  it.effect("is interrupted after its deadline, and the request is answered with 503", () => {
    const { layer, lines } = logbook()
    let interrupted = 0
    const hanging = Effect.onInterrupt(Effect.never, () => Effect.sync(() => interrupted++))
    return withEndpoint(finding(hanging, { timeout: "2 seconds" }), (http) =>
      Effect.gen(function*() {
        const exchange = http.post(initialize())
        yield* TestClock.adjust("1999 millis")
        assert.isUndefined(exchange.status)
        yield* TestClock.adjust("1 millis")
        yield* answered(exchange)
        assert.deepStrictEqual([exchange.status, exchange.sent["retry-after"], exchange.answers], [503, "1", 1])
        assert.match(exchange.json.error.message, /could not authenticate the client in time/)
        assert.deepStrictEqual(lines.map(({ level }) => level), ["Error"])
        assert.match(lines[0]!.message, /within 2s/)
        assert.strictEqual(interrupted, 1)
      })).pipe(Effect.provide(layer))
  })

  it.effect("is not waited for after its deadline when it cannot be interrupted, and its late user is dropped", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const stubborn = Effect.uninterruptible(Effect.as(Deferred.await(gate), "ada"))
      yield* withEndpoint(finding(stubborn, { concurrency: 1 }), (http) =>
        Effect.gen(function*() {
          const exchange = http.post(initialize())
          yield* TestClock.adjust("10 seconds")
          assert.strictEqual((yield* answered(exchange)).status, 503)
          // It still counts, so a server that hangs does not collect such effects.
          assert.match((yield* http.ask(initialize())).json.error.message, /too many clients/)
          yield* Deferred.succeed(gate, undefined)
          yield* Effect.yieldNow()
          assert.strictEqual((yield* http.ask(initialize())).status, 200)
          assert.strictEqual(exchange.answers, 1)
        }))
    }))

  it.effect("runs for a limited number of requests at once; more get 503 at once", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* withEndpoint(finding(Effect.as(Deferred.await(gate), "ada"), { concurrency: 3 }), (http) =>
        Effect.gen(function*() {
          const waiting = Array.from({ length: 3 }, () =>
            http.post(initialize()))
          const fourth = http.post(initialize())
          assert.deepStrictEqual([fourth.status, fourth.sent["retry-after"]], [503, "1"])
          yield* Deferred.succeed(gate, undefined)
          for (const exchange of waiting) assert.strictEqual((yield* answered(exchange)).status, 200)
        }))
    }))

  it.effect("is interrupted when the client disconnects", () => {
    let interrupted = 0
    return withEndpoint(
      finding(Effect.onInterrupt(Effect.never, () => Effect.sync(() => interrupted++))),
      (http) =>
        Effect.gen(function*() {
          const exchange = http.post(initialize())
          exchange.hangUp()
          yield* until(() => interrupted === 1)
          yield* TestClock.adjust("1 minute")
          assert.strictEqual(exchange.answers, 0)
        })
    )
  })

  it.effect("is interrupted when the server closes", () => {
    let interrupted = 0
    return Effect.gen(function*() {
      yield* withEndpoint(
        finding(Effect.onInterrupt(Effect.never, () => Effect.sync(() => interrupted++))),
        (http) => Effect.sync(() => http.post(initialize()))
      )
      yield* until(() => interrupted === 1)
    })
  })

  it.scoped("may take any time on a pipe: messages wait for it, in their order", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* Effect.gen(function*() {
        const peer = yield* TestPeer.client()
        const first = yield* peer.request("initialize", initialize().params)
        yield* peer.notify("notifications/initialized")
        const second = yield* peer.request("tools/list")
        yield* Deferred.succeed(gate, undefined)
        yield* peer.expectResult(first)
        yield* peer.expectResult(second)
      }).pipe(Effect.provide(finding(Effect.as(Deferred.await(gate), "ada"))))
    }))

  it.scoped("has its deadline on a pipe, too, whose client then gets an error for each request", () =>
    Effect.gen(function*() {
      const error = yield* Effect.fork(refused)
      yield* TestClock.adjust("10 seconds")
      assert.match((yield* Fiber.join(error)).message, /could not authenticate the client in time/)
    }).pipe(Effect.provide(finding(Effect.never)), Effect.provide(logbook().layer)))

  for (
    const [what, found] of [
      ["dies", Effect.die(new Error("the password is hunter2"))],
      ["fails with what is not a refusal", Effect.fail(new Error("the password is hunter2")) as never],
      ["returns no Effect", Promise.resolve("ada") as never],
      ["is interrupted", Effect.interrupt]
    ] as ReadonlyArray<[string, Effect.Effect<string, Authenticator.Refuses>]>
  ) {
    it.effect(`refuses when it ${what}, and the client learns nothing of the reason`, () =>
      withEndpoint(
        finding(Effect.void as never, { http: () => found, inProcess: Effect.suspend(() => found) }),
        (http) =>
          Effect.gen(function*() {
            const exchange = yield* http.ask(initialize())
            assert.deepStrictEqual(exchange.json, {
              jsonrpc: "2.0",
              error: { code: -32603, message: "Internal error" }
            })
            assert.strictEqual(exchange.status, 500)
          })
      ).pipe(Effect.provide(logbook().layer)))
  }

  it.effect("refuses when the id of the user is empty or no text, which would let users share sessions", () =>
    Effect.gen(function*() {
      for (const id of ["", 7, null, {}] as ReadonlyArray<any>) {
        yield* withEndpoint(
          finding(Effect.succeed("ada"), { id: () => id }),
          (http) => Effect.map(http.ask(initialize()), ({ status }) => assert.strictEqual(status, 500))
        )
      }
      yield* withEndpoint(
        finding(Effect.succeed("ada"), {
          id: () => {
            throw new Error("no id")
          }
        }),
        (http) => Effect.map(http.ask(initialize()), ({ status }) => assert.strictEqual(status, 500))
      )
    }).pipe(Effect.provide(logbook().layer)))

  it.effect("may refuse with an McpError: 403 over HTTP, 500 for an InternalError", () =>
    Effect.gen(function*() {
      for (
        const [error, status] of [
          [new InvalidRequest({ message: "Invalid request: no user" }), 403],
          [new InternalError({ message: "The user directory is down" }), 500]
        ] as const
      ) {
        yield* withEndpoint(finding(Effect.fail(error)), (http) =>
          Effect.map(http.ask(initialize()), (exchange) => {
            assert.strictEqual(exchange.status, status)
            assert.strictEqual(exchange.json.error.message, error.message)
          }))
        assert.strictEqual(
          (yield* Effect.scoped(Effect.provide(refused, finding(Effect.fail(error))))).message,
          error.message
        )
      }
    }))

  it.effect("sees what the client sent: method, path and query, headers; not the body", () => {
    const seen: Array<Authenticator.HttpRequest> = []
    return withEndpoint(
      serve(
        GreetLive,
        identified((request) => {
          seen.push(request)
          return Effect.fail(HttpRefusal.forbidden())
        })
      ),
      (http) =>
        Effect.gen(function*() {
          for (const [method, url] of [["POST", "/mcp?a=b&c"], ["GET", "/mcp"], ["DELETE", "/mcp/"]] as const) {
            const exchange = yield* answered(http.send(method, { ...proper, dpop: "proof" }, "{", url))
            assert.deepStrictEqual([exchange.status, exchange.read], [403, false])
            const { headers, ...rest } = seen.pop()!
            const unknown = { remoteAddress: undefined, encrypted: undefined }
            assert.deepStrictEqual(rest, { method, url, isForwarded: false, ...unknown })
            assert.strictEqual(headers.dpop, "proof")
          }
        })
    )
  })

  it.effect("runs for each request of a session, and its user is that of the request", () => {
    const seen: Array<string> = []
    class User extends Context.Tag("test/User")<User, { readonly id: string; readonly token: string }>() {}
    const authenticator = Authenticator.make(User, {
      id: ({ id }) => id,
      http: ({ headers }) =>
        headers.authorization === "revoked"
          ? Effect.fail(HttpRefusal.unauthorized("Bearer"))
          : Effect.succeed({ id: "ada", token: headers.authorization! })
    })
    const look = act(Effect.map(User, ({ token }) => seen.push(token)))
    return withEndpoint(serve(look, { authenticator }), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open(undefined, {}, { authorization: "first" })
        yield* client.ask(call(1, "act"))
        yield* client.ask(call(2, "act"), { authorization: "second" })
        assert.strictEqual((yield* client.ask(call(3, "act"), { authorization: "revoked" })).status, 401)
        assert.deepStrictEqual(seen, ["first", "second"])
      }))
  })

  it.effect("leaves no secret of a request in the log, and none in an answer", () => {
    const { layer, lines } = logbook()
    const secret = "Bearer hunter2"
    const outcomes = [
      Effect.fail(HttpRefusal.unauthorized(HttpRefusal.challenge("Bearer", { error: "invalid_token" }))),
      Effect.die(new Error("cannot verify")),
      Effect.never
    ]
    return Effect.gen(function*() {
      for (const outcome of outcomes) {
        yield* withEndpoint(serve(GreetLive, identified(() => outcome)), (http) =>
          Effect.gen(function*() {
            const exchange = http.post(initialize(), { authorization: secret })
            yield* TestClock.adjust("10 seconds")
            yield* answered(exchange)
            assert.notInclude(JSON.stringify([exchange.text, exchange.sent]), "hunter2")
          }))
      }
      assert.notInclude(JSON.stringify(lines), "hunter2")
    }).pipe(Effect.provide(layer))
  })
})

describe("The user of a notification", () => {
  const changed = Message.notification("notifications/roots/list_changed")
  const seeing = (seen: Array<string | undefined>, options: Parameters<typeof finding>[1] = {}) =>
    serve(MethodHandler.rootsListChanged(Effect.map(Sender, (name) => void seen.push(name))), {
      authenticator: Authenticator.make(Sender, { id: (id) => id, ...options })
    })

  it.effect("is that of its own request over HTTP", () => {
    const seen: Array<string | undefined> = []
    return withEndpoint(
      seeing(seen, { http: ({ headers }) => Effect.succeed(headers.authorization) }),
      (http) =>
        Effect.gen(function*() {
          const client = yield* http.open(undefined, {}, { authorization: "ada" })
          assert.strictEqual((yield* client.ask(changed)).status, 202)
          yield* until(() => seen.length === 1)
          assert.deepStrictEqual(seen, ["ada"])
        })
    )
  })

  it.scoped("is that of the pipe, of which each one of a listener has its own; without one it is dropped", () =>
    Effect.gen(function*() {
      const seen: Array<string | undefined> = []
      yield* Effect.gen(function*() {
        const { listen } = yield* Dispatcher
        const pairs = yield* Effect.replicateEffect(TestTransport.pair(), 3)
        const names = ["ada", "bob"]
        yield* Effect.forkScoped(listen(Stream.fromIterable(pairs.map(({ server }) => server)), (transport) => {
          const name = names[pairs.findIndex(({ server }) => server === transport)]
          return name === undefined ? Authenticator.inProcess : Authenticator.given(Context.make(Sender, name))
        }))
        for (const { client } of pairs.slice(0, 2)) {
          const peer = yield* TestPeer.make(client)
          yield* peer.initialize()
          yield* peer.notify(changed.method)
        }
        const last = yield* TestPeer.make(pairs[2]!.client)
        yield* last.notify(changed.method)
        yield* last.expectError(yield* last.request("ping"))
        yield* until(() => seen.length === 2)
        assert.deepStrictEqual(seen, names)
      }).pipe(Effect.provide(seeing(seen)), Effect.provide(logbook().layer))
    }))
})

describe("A message without a user", () => {
  it.effect("is refused on a server with an authenticator, over any transport", () =>
    Effect.gen(function*() {
      const { open } = yield* Entrances.entrances
      const sent: Array<any> = []
      const channel = { send: () => Effect.void, unsafeSend: (message: unknown) => sent.push(message) > 0 }
      const conversation = open(channel, () => {})
      conversation.receive({ ...initialize(), id: 1 })
      conversation.receive(request("tools/call", { name: "greet", arguments: { name: "Ada" } }, undefined, 2))
      assert.deepStrictEqual(sent.map(({ error, id }) => [id, error.code]), [[1, -32600], [2, -32600]])
      for (const { error } of sent) assert.match(error.message, /has not authenticated its sender/)
    }).pipe(Effect.scoped, Effect.provide(serve(GreetLive, byHeader))))

  it.effect("is not handled on a server with an authenticator when it is a notification, in either era", () => {
    const heard: Array<string> = []
    const hears = MethodHandler.customNotification(
      "x/heard",
      Schema.Struct({}),
      () => Effect.sync(() => heard.push("heard"))
    )
    return Effect.gen(function*() {
      const { modern, open } = yield* Entrances.entrances
      const channel = { send: () => Effect.void, unsafeSend: () => true }
      const { params } = request("x/heard")
      const modernNotification = Message.notification("x/heard", params)
      assert.isUndefined(modern!.notification(modernNotification, channel, true))
      const conversation = open(channel, () => {})
      for (const notification of [modernNotification, Message.notification("x/heard", {})]) {
        conversation.receive(notification)
      }
      yield* Effect.repeatN(Effect.yieldNow(), 100)
      assert.deepStrictEqual(heard, [])
    }).pipe(Effect.scoped, Effect.provide(serve(hears, byHeader)))
  })

  it.effect("may come from an anonymous user, who has no principal", () => {
    const anonymous = serve(act(Effect.map(Sender, (id) => assert.isUndefined(id))), byHeader)
    return withEndpoint(anonymous, (http) =>
      Effect.gen(function*() {
        const exchange = yield* ask(http, request("tools/call", { name: "act" }))
        assert.notProperty(exchange.json.result, "isError")
      }))
  })
})

describe("The user", () => {
  class Name extends Context.Tag("test/Name")<Name, string>() {}
  const authenticator = Authenticator.make(Name, { id: (name) => name, inProcess: Effect.succeed("user") })
  const seeing = (options: object) => {
    const seen: Array<string> = []
    const server = serve(act(Effect.map(Name, (name) => seen.push(name))), { authenticator, ...options }).pipe(
      Layer.provide(Layer.succeed(Name, "captured"))
    )
    return { seen, server: server as Layer.Layer<Dispatcher> }
  }

  for (
    const [title, winner, options] of [
      ["comes before what a layer was built with", "user", {}],
      ["comes before the session layer", "user", { session: Layer.succeed(Name, "session") }],
      ["comes after the middleware", "middleware", {
        middleware: Middleware.provide(Name, () => Effect.succeed("middleware"))
      }]
    ] as const
  ) {
    it.scoped(title, () => {
      const { seen, server } = seeing(options)
      return Effect.gen(function*() {
        const peer = yield* TestPeer.client()
        yield* peer.initialize()
        yield* peer.expectResult(yield* peer.request("tools/call", { name: "act" }))
        assert.deepStrictEqual(seen, [winner])
      }).pipe(Effect.provide(server))
    })
  }
})
