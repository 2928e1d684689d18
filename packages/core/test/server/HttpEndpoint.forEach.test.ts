import * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { assert, describe, it } from "@effect/vitest"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as Tool from "@effect-mcp/core/Tool"
import { Context, Deferred, Effect, Fiber, Layer, Ref, TestClock } from "effect"
import { call, initialize, proper } from "./http/TestExchange.js"

class User extends Context.Tag("test/forEach/User")<User, string>() {}

/** The names of users by the values of the header `Authorization`. A test removes users. */
const known = () => new Map<string | undefined, string>([["a", "ada"], ["ada's other", "ada"], ["b", "bob"]])

const settings = (
  options: Pick<HttpEndpoint.ForEachOptions, "idle" | "maxServers"> = {},
  closing: Effect.Effect<void> = Effect.void
) =>
  Effect.gen(function*() {
    const events: Array<string> = []
    const users = known()
    const authenticator = Authenticator.make(User, {
      id: (name) => name,
      http: ({ headers }) => {
        const name = users.get(headers["authorization"])
        return name === undefined
          ? Effect.fail(HttpRefusal.unauthorized("Bearer"))
          : Effect.as(Authenticator.validFor("1 hour", "1 minute"), name)
      }
    })
    const server = (name: string) =>
      Layer.scopedDiscard(Effect.acquireRelease(
        Effect.sync(() => events.push(`open ${name}`)),
        () => Effect.zipRight(Effect.sync(() => events.push(`close ${name}`)), closing)
      )).pipe(Layer.provideMerge(McpServer.layer(
        { name, version: "1.0.0" },
        Layer.unwrapEffect(Effect.gen(function*() {
          const count = yield* Ref.make(0)
          const request = yield* Effect.serviceOption(HttpServerRequest.HttpServerRequest)
          return Layer.mergeAll(
            McpServer.tool(Tool.make("whoami"), () => User),
            McpServer.tool(Tool.make("count"), () => Effect.map(Ref.updateAndGet(count, (n) => n + 1), String)),
            McpServer.tool(Tool.make("built"), () => Effect.succeed(request._tag))
          )
        })),
        { authenticator }
      )))
    const app = yield* HttpEndpoint.forEach({
      user: Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
        Effect.mapError(
          Effect.fromNullable(users.get(headers["authorization"])),
          () => HttpServerResponse.empty({ status: 401, headers: { "www-authenticate": "Bearer" } })
        )),
      server,
      ...options
    })
    const handler = HttpApp.toWebHandler(app)
    const fetch = (authorization: string, init: RequestInit = {}) =>
      Effect.promise(() =>
        handler(
          new Request("http://localhost:3000/mcp", {
            ...init,
            headers: { ...proper, ...init.headers, authorization } as Record<string, string>
          })
        )
      )
    const post = (authorization: string, body: unknown, headers = {}) =>
      fetch(authorization, { method: "POST", body: JSON.stringify(body), headers })
    const session = (authorization: string) =>
      Effect.gen(function*() {
        const { headers } = yield* post(authorization, initialize())
        const session = { "mcp-session-id": headers.get("mcp-session-id")! }
        yield* post(authorization, Message.notification("notifications/initialized"), session)
        return session
      })
    const tool = (authorization: string, name: string, session: Record<string, string>) =>
      Effect.flatMap(
        post(authorization, call(1, name), session),
        (response) =>
          response.status === 200
            ? Effect.map(Effect.promise(() => response.json()), ({ result }) => result.content[0].text as string)
            : Effect.succeed(String(response.status))
      )
    return { events, fetch, post, session, tool, users }
  })

describe("An endpoint with a server for each user", () => {
  it.scoped("has one server for the requests of one user, and no other user reaches its sessions", () =>
    Effect.gen(function*() {
      const { events, session, tool } = yield* settings()
      const [ada, bob] = [yield* session("a"), yield* session("b")]
      assert.deepStrictEqual(events, ["open ada", "open bob"])
      assert.strictEqual(yield* tool("a", "count", ada), "1")
      assert.strictEqual(yield* tool("ada's other", "count", ada), "2")
      assert.strictEqual(yield* tool("b", "count", bob), "1")
      assert.strictEqual(yield* tool("b", "whoami", bob), "bob")
      assert.strictEqual(yield* tool("b", "count", ada), "404")
      assert.strictEqual(yield* tool("a", "count", ada), "3")
    }))

  it.scoped("builds no server for a request of nobody", () =>
    Effect.gen(function*() {
      const { events, post } = yield* settings()
      const response = yield* post("stranger", initialize())
      assert.strictEqual(response.status, 401)
      assert.strictEqual(response.headers.get("www-authenticate"), "Bearer")
      assert.deepStrictEqual(events, [])
    }))

  it.scoped("builds a server without what the first request has", () =>
    Effect.gen(function*() {
      const { session, tool } = yield* settings()
      assert.strictEqual(yield* tool("a", "built", yield* session("a")), "None")
    }))

  it.scoped("closes a server without requests after the time of idle, and no sooner", () =>
    Effect.gen(function*() {
      const { events, session, tool } = yield* settings({ idle: "5 minutes" })
      const ada = yield* session("a")
      yield* TestClock.adjust("4 minutes")
      assert.strictEqual(yield* tool("a", "count", ada), "1")
      yield* TestClock.adjust("4 minutes")
      assert.strictEqual(yield* tool("a", "count", ada), "2")
      yield* TestClock.adjust("5 minutes")
      assert.deepStrictEqual(events, ["open ada", "close ada"])
      assert.strictEqual(yield* tool("a", "count", ada), "404")
    }))

  it.scoped("keeps a server while a stream is open, which ends when its user is removed", () =>
    Effect.gen(function*() {
      const { events, fetch, session, users } = yield* settings({ idle: "5 minutes" })
      const ada = yield* session("a")
      const { body, status } = yield* fetch("a", { headers: { ...ada, accept: "text/event-stream" } })
      assert.strictEqual(status, 200)
      const read = yield* Effect.fork(Effect.promise(async () => {
        for await (const _ of body as unknown as AsyncIterable<Uint8Array>);
      }))
      yield* TestClock.adjust("30 minutes")
      assert.deepStrictEqual(events, ["open ada"])
      users.delete("a")
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(read)
      assert.strictEqual((yield* fetch("a", { headers: ada })).status, 401)
      yield* Effect.yieldNow()
      yield* TestClock.adjust("5 minutes")
      assert.deepStrictEqual(events, ["open ada", "close ada"])
    }))

  it.scoped("refuses further users when maxServers are open", () =>
    Effect.gen(function*() {
      const { post, session } = yield* settings({ maxServers: 1, idle: "5 minutes" })
      yield* session("a")
      const refused = yield* post("b", initialize())
      assert.strictEqual(refused.status, 503)
      assert.strictEqual(refused.headers.get("retry-after"), "60")
      assert.strictEqual((yield* post("ada's other", initialize())).status, 200)
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual((yield* post("b", initialize())).status, 200)
    }))

  it.scoped("closes all servers at the same time", () =>
    Effect.gen(function*() {
      const both = yield* Deferred.make<void>()
      let closing = 0
      const closed = Effect.suspend(() => ++closing === 2 ? Deferred.succeed(both, undefined) : Deferred.await(both))
      const serving = yield* Effect.fork(Effect.scoped(Effect.gen(function*() {
        const { session } = yield* settings({}, closed)
        yield* session("a")
        yield* session("b")
      })))
      yield* Fiber.join(serving)
      assert.strictEqual(closing, 2)
    }))
})
