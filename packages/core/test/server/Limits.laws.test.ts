/**
 * The limits of a server under one law, see `Limit`.
 */
import { assert } from "@effect/vitest"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as Middleware from "@effect-mcp/core/Middleware"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Resource from "@effect-mcp/core/Resource"
import * as SharedLimits from "@effect-mcp/core/SharedLimits"
import { Effect, Layer, Option, TestClock } from "effect"
import { answered, call, EndpointClient, initialize, type TestExchange } from "./http/TestExchange.js"
import { abandoned, endpoint, held, law, type Limit } from "./Limit.js"
import * as Modern from "./modern/Modern.js"
import { post, request } from "./modern/Posting.js"
import { act, byHeader, connect, GreetLive, Sender, serve, until } from "./Serving.js"

const ada = { authorization: "ada" }

/** Requests that run. */
const running = (what: string, limits: object, send: (http: EndpointClient) => TestExchange): Limit => ({
  what,
  max: 2,
  ways: ["end", "die", "disconnect"],
  misses: ["disconnect"],
  make: Effect.gen(function*() {
    const { begin, handler } = held()
    const http = yield* endpoint(
      serve(act(Effect.orDie(handler)), { limits: { maxWaiting: 0, ...limits }, ...byHeader })
    )
    return { take: begin(() => send(http)), misses: { disconnect: abandoned(() => send(http)) } }
  })
})

/** Sessions whose clients read a stream. */
const sessions = (what: string, limits: object, headers: Record<string, string>): Limit => ({
  what,
  max: 2,
  ways: ["end", "are idle", "expire"],
  misses: ["fail", "disconnect"],
  make: Effect.gen(function*() {
    let fails = false
    const session = Layer.effectDiscard(Effect.suspend(() => fails ? Effect.die(new Error("a bug")) : Effect.void))
    const http = yield* endpoint(serve(GreetLive, { session, ...byHeader }), {
      limits: { sessionIdleTimeout: "1 minute", ...limits }
    })
    return {
      take: Effect.gen(function*() {
        const opened = yield* http.ask(initialize(), headers)
        if (opened.status === 503) return undefined
        const client = new EndpointClient(http.endpoint, {
          "mcp-session-id": opened.sent["mcp-session-id"],
          ...headers
        })
        if (client.post(Message.notification("notifications/initialized")).status === 503) return undefined
        const stream = client.get()
        yield* until(() => stream.status !== undefined)
        const idle = Effect.sync(() => stream.hangUp())
        return {
          end: Effect.suspend(() => answered(client.delete())),
          // For a second the sessions of all clients are taken to be busy, without another look.
          "are idle": Effect.zipRight(idle, TestClock.adjust("2 seconds")),
          expire: Effect.zipRight(idle, TestClock.adjust("3 minutes"))
        }
      }),
      misses: {
        fail: Effect.suspend(() => {
          fails = true
          return Effect.map(http.ask(initialize(), headers), ({ status }) => {
            fails = false
            assert.notStrictEqual(status, 503)
          })
        }),
        disconnect: abandoned(() => http.post(initialize(), headers))
      }
    }
  })
})

/** Each request has something to release, which takes a turn of the scheduler. */
const releasing = Middleware.make((_, next) => Effect.zipRight(Effect.addFinalizer(() => Effect.yieldNow()), next))

/** Subscriptions over HTTP. */
const listening = (what: string, listen: object, headers: Record<string, string>): Limit => ({
  what,
  max: 2,
  ways: ["disconnect"],
  misses: ["are refused", "disconnect"],
  make: Effect.gen(function*() {
    const http = yield* endpoint(
      serve(GreetLive, { limits: { ...listen, maxSubscribedResources: 1 }, middleware: releasing, ...byHeader })
    )
    const send = (notifications: JsonObject) => post(http, request("subscriptions/listen", { notifications }), headers)
    return {
      take: Effect.gen(function*() {
        const exchange = send({ toolsListChanged: true })
        yield* until(() => exchange.status !== undefined)
        return exchange.status === 503 ? undefined : { disconnect: Effect.sync(() => exchange.hangUp()) }
      }),
      misses: {
        "are refused": Effect.suspend(() => answered(send({ toolsListChanged: 1 }))),
        disconnect: abandoned(() => send({ toolsListChanged: true }))
      }
    }
  })
})

const limits: ReadonlyArray<Limit> = [
  running(
    "requests of a user that run",
    { maxInFlight: 2 },
    (http) => post(http, request("tools/call", { name: "act" }), ada)
  ),
  running(
    "requests of all clients that run",
    { maxExchanges: 2 },
    (http) => post(http, request("tools/call", { name: "act" }))
  ),
  {
    what: "requests of a session that run",
    max: 2,
    ways: ["end", "die", "are cancelled"],
    make: Effect.gen(function*() {
      const { begin, handler } = held()
      const http = yield* endpoint(serve(act(Effect.orDie(handler)), { limits: { maxInFlight: 2, maxWaiting: 0 } }))
      const client = yield* http.open()
      let id = 0
      return {
        take: Effect.gen(function*() {
          const requestId = ++id
          const place = yield* begin(() => client.post(call(requestId, "act")))
          return place && {
            ...place,
            "are cancelled": Effect.sync(() =>
              client.post(Message.notification("notifications/cancelled", { requestId }))
            )
          }
        })
      }
    })
  },
  {
    what: "users that are being found",
    max: 2,
    ways: ["end", "fail", "die", "disconnect"],
    together: ["take too long"],
    misses: ["disconnect"],
    make: Effect.gen(function*() {
      const { begin, handler } = held()
      const authenticator = Authenticator.make(Sender, {
        id: (id) => id,
        concurrency: 2,
        http: () => Effect.as(handler, "ada")
      })
      const http = yield* endpoint(serve(GreetLive, { authenticator }))
      const send = () => http.post(initialize())
      return {
        take: Effect.map(
          begin(send),
          (place) => place && { ...place, "take too long": TestClock.adjust("10 seconds") }
        ),
        misses: { disconnect: abandoned(send) }
      }
    })
  },
  sessions("sessions of a user", { maxSessionsPerPrincipal: 2 }, ada),
  sessions("sessions of all clients", { maxSessions: 2 }, {}),
  {
    what: "sessions that are being opened",
    max: 16,
    ways: ["end", "are opened"],
    together: ["take too long"],
    make: Effect.map(endpoint(serve(GreetLive), { limits: { maxSessions: 100 } }), (http) => ({
      take: Effect.gen(function*() {
        const { sent, status } = yield* http.ask(initialize())
        if (status === 503) return undefined
        const client = new EndpointClient(http.endpoint, { "mcp-session-id": sent["mcp-session-id"] })
        return {
          end: Effect.suspend(() => answered(client.delete())),
          "are opened": Effect.sync(() => client.post(Message.notification("notifications/initialized"))),
          "take too long": TestClock.adjust("1 minute")
        }
      })
    }))
  },
  {
    what: "sessions of HTTP+SSE of a user",
    max: 2,
    ways: ["disconnect"],
    make: Effect.map(
      endpoint(serve(GreetLive, byHeader), { limits: { maxSessionsPerPrincipal: 2 }, legacy: { ssePath: "/sse" } }),
      (http) => ({
        take: Effect.gen(function*() {
          const headers = { host: "127.0.0.1:3000", accept: "text/event-stream", ...ada }
          const stream = http.send("GET", headers, "", "/sse")
          yield* until(() => stream.status !== undefined)
          return stream.isStream ? { disconnect: Effect.sync(() => stream.hangUp()) } : undefined
        })
      })
    )
  },
  {
    what: "standalone streams of a session",
    max: 1,
    ways: ["disconnect"],
    make: Effect.map(Effect.flatMap(endpoint(serve(GreetLive)), (http) => http.open()), (client) => ({
      take: Effect.gen(function*() {
        const stream = client.get()
        yield* until(() => stream.status !== undefined)
        return stream.isStream ? { disconnect: Effect.sync(() => stream.hangUp()) } : undefined
      })
    }))
  },
  listening("subscriptions of a user over HTTP", { maxListensPerClient: 2 }, ada),
  listening("subscriptions of all clients over HTTP", { maxListens: 2 }, {}),
  {
    what: "subscriptions of a pipe",
    max: 2,
    ways: ["are cancelled"],
    misses: ["are refused"],
    make: Effect.gen(function*() {
      const context = yield* Layer.build(serve(GreetLive, { limits: { maxListensPerClient: 2 } }))
      const peer = yield* Effect.provide(Modern.connect, context)
      yield* Effect.addFinalizer(() => peer.hangUp)
      const ask = (notifications: JsonObject) => Modern.request(peer, "subscriptions/listen", { notifications })
      return {
        take: Effect.gen(function*() {
          const requestId = yield* ask({ toolsListChanged: true })
          if ("error" in (yield* peer.next)) return undefined
          return { "are cancelled": peer.notify("notifications/cancelled", { requestId }) }
        }),
        misses: { "are refused": Effect.flatMap(ask({ toolsListChanged: 1 }), peer.expectError) }
      }
    })
  },
  {
    what: "resources that a session has subscribed to",
    max: 2,
    ways: ["end"],
    misses: ["are refused"],
    make: Effect.gen(function*() {
      const uris = ["a", "b", "c", "d"].map((name) => `file:///${name}`)
      const resources = uris.map((uri, n) => McpServer.resource(Resource.make(`r${n}`, { uri }), Effect.succeed("")))
      const server = serve(Layer.mergeAll(...(resources as [typeof resources[0]])), {
        limits: { maxSubscribedResources: 2 }
      })
      const peer = yield* Effect.provide(connect(), yield* Layer.build(server))
      const ask = (method: string, uri: string) =>
        Effect.flatMap(peer.request(`resources/${method}`, { uri }), () => peer.next)
      const free = new Set(uris)
      return {
        take: Effect.gen(function*() {
          const uri = [...free][0]!
          if ("error" in (yield* ask("subscribe", uri))) return undefined
          free.delete(uri)
          return { end: Effect.zipRight(ask("unsubscribe", uri), Effect.sync(() => free.add(uri))) }
        }),
        misses: { "are refused": ask("subscribe", "file:///unknown") }
      }
    })
  },
  {
    what: "what happens once, in memory",
    max: 3,
    ways: [],
    together: ["expire"],
    make: Effect.gen(function*() {
      const { once } = yield* SharedLimits.memory({ maxKeys: 3 })
      let keys = 0
      return {
        take: Effect.map(
          Effect.option(Effect.suspend(() => once(`${keys++}`, "1 minute"))),
          (first) => Option.isNone(first) ? undefined : { expire: TestClock.adjust("1 minute") }
        )
      }
    })
  },
  {
    what: "a rate in memory",
    max: 3,
    ways: ["are there again"],
    make: Effect.map(SharedLimits.memory(), ({ take }) => ({
      take: Effect.map(
        take("key", { burst: 3, every: "1 second" }),
        (wait) => wait > 0 ? undefined : { "are there again": TestClock.adjust("1 second") }
      )
    }))
  }
]

limits.forEach(law)
