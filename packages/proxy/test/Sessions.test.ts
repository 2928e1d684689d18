import { assert, describe, it } from "@effect/vitest"
import * as Ask from "@effect-mcp/core/Ask"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as Connector from "@effect-mcp/core/Connector"
import * as Feature from "@effect-mcp/core/Feature"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import type { ClientCapabilities } from "@effect-mcp/core/protocol/Capabilities"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { Registry } from "@effect-mcp/core/Registry"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import { ServerSession, type ServerSessionService } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import * as Proxy from "@effect-mcp/proxy/Proxy"
import { Context, Deferred, Effect, Fiber, Hash, Layer, Queue, Ref, Schema, Stream, TestClock } from "effect"
import {
  all,
  controlled,
  entrance,
  fromLayer,
  gateway,
  legacy,
  modern,
  pairs,
  proxied,
  received,
  server
} from "./Setting.js"

const text = (result: { readonly content: ReadonlyArray<object> }) => (result.content[0] as { text: string }).text

/** The user of a proxy over HTTP. */
class User extends Context.Tag("User")<User, string>() {}

/** Counts the calls of one session. */
class Counter extends Context.Tag("Counter")<Counter, Ref.Ref<number>>() {}

const Count = Tool.make("count")
const counting = McpServer.layer(
  { name: "upstream", version: "1.0.0" },
  McpServer.tool(
    Count,
    () => Effect.flatMap(Counter, (counter) => Effect.map(Ref.updateAndGet(counter, (n) => n + 1), String))
  ),
  { versions: legacy, session: Layer.effect(Counter, Ref.make(0)) }
)

const Asking = Tool.make("asking", { parameters: { who: Schema.String } })
const Name = Schema.Struct({ name: Schema.String })
const asking = McpServer.tool(
  Asking,
  ({ who }) =>
    Effect.flatMap(
      ServerSession,
      (session) => Effect.map(session.elicit({ message: `${who}?`, schema: Name }), (answer) => JSON.stringify(answer))
    )
)

/** An upstream that reads the roots of its client at once, and whenever they change. */
const rootsReader = (onRoots: (uris: ReadonlyArray<string>) => Effect.Effect<unknown>) => {
  const read = ({ listRoots }: ServerSessionService) =>
    Effect.ignore(Effect.flatMap(listRoots, (roots) => onRoots(roots.map(({ uri }) => uri))))
  return Feature.make(({ observe }) => observe({ onInitialized: read, onRootsChanged: read }))
}

const answering = (name: string) =>
  ClientFeatures.elicitation(() => Effect.succeed({ action: "accept", content: { name } }))

describe("An upstream up to 2025-11-25", () => {
  it.scopedLive("has a session for each client, which ends with the client", () =>
    Effect.gen(function*() {
      const { closed, connector, open } = controlled(yield* fromLayer(counting))
      const through = yield* entrance(connector)
      const [first, second] = yield* Effect.all([
        Client.make(through, { versions: legacy }),
        Client.make(through, { versions: legacy })
      ])
      assert.strictEqual(text(yield* first.callTool("count")), "1")
      assert.strictEqual(text(yield* first.callTool("count")), "2")
      assert.strictEqual(text(yield* second.callTool("count")), "1")
      yield* Effect.scoped(Effect.gen(function*() {
        const third = yield* Client.make(through, { versions: legacy })
        assert.strictEqual(text(yield* third.callTool("count")), "1")
        assert.strictEqual(open.size, 4)
      }))
      yield* closed.take
      assert.strictEqual(open.size, 3)
    }))

  it.scopedLive("may list other entries to each client, and a client gets those that it may call", () =>
    Effect.gen(function*() {
      const able = Effect.map(RequestContext, ({ client: { supports } }) => supports({ roots: {} }))
      const asks = McpServer.tool(Tool.make("asks"), () => Effect.succeed("done")).pipe(Feature.visible(able))
      const plain = McpServer.tool(Tool.make("plain"), () => Effect.succeed("done"))
      const through = yield* entrance(yield* server(Layer.merge(asks, plain), { versions: legacy }))
      const names = (session: Client.Client["Type"]) =>
        Effect.map(all(session.tools), (tools) => tools.map(({ name }) => name))
      const without = yield* Client.make(through, { versions: legacy })
      const roots = ClientFeatures.roots(Effect.succeed([]))
      const session = yield* Client.make(through, { versions: legacy, features: roots })
      assert.deepStrictEqual(yield* names(without), ["plain"])
      assert.deepStrictEqual(yield* names(session), ["asks", "plain"])
      assert.strictEqual(text(yield* session.callTool("asks")), "done")
      assert.strictEqual((yield* Effect.flip(without.callTool("asks")))._tag, "InvalidParams")
    }))

  it.scopedLive("has one session for all clients with sessions: shared", () =>
    Effect.gen(function*() {
      const { connector, open } = controlled(yield* fromLayer(counting))
      const through = yield* entrance(connector, { proxy: { sessions: "shared" } })
      const [first, second] = yield* Effect.all([
        Client.make(through, { versions: legacy }),
        Client.make(through, { versions: modern })
      ])
      assert.strictEqual(text(yield* first.callTool("count")), "1")
      assert.strictEqual(text(yield* second.callTool("count")), "2")
      assert.strictEqual(open.size, 1)
    }))

  it.scopedLive("has one session for the requests of one client of 2026-07-28", () =>
    Effect.gen(function*() {
      const { connector } = controlled(yield* fromLayer(counting))
      const client = yield* gateway(connector, { client: modern })
      assert.strictEqual(text(yield* client.callTool("count")), "1")
      assert.strictEqual(text(yield* client.callTool("count")), "2")
    }))

  it.scopedLive("takes back a question of its own, and reports the end of a page", () =>
    Effect.gen(function*() {
      const shown = yield* Deferred.make<void>()
      const taken = yield* Deferred.make<void>()
      const upstream = Layer.merge(
        McpServer.tool(Tool.make("impatient"), () =>
          Effect.gen(function*() {
            const { elicit } = yield* ServerSession
            const asked = elicit({ message: "Still there?", schema: Name })
            return yield* Effect.raceFirst(
              Effect.as(Effect.orDie(asked), "answered"),
              Effect.as(Deferred.await(shown), "gave up")
            )
          })),
        McpServer.tool(Tool.make("page"), () =>
          Effect.gen(function*() {
            const session = yield* ServerSession
            const url = "https://example.com/"
            const action = yield* session.elicit({ message: "Open", url, elicitationId: "e-1" })
            yield* session.elicitationComplete("e-1")
            return action
          }))
      )
      const session = yield* gateway(yield* server(upstream, { versions: legacy }), {
        features: Layer.merge(
          ClientFeatures.elicitation(() =>
            Effect.zipRight(Deferred.succeed(shown, undefined), Effect.never).pipe(
              Effect.onInterrupt(() => Deferred.succeed(taken, undefined))
            )
          ),
          ClientFeatures.urlElicitation(() => Effect.succeed("accept"))
        )
      })
      assert.strictEqual(text(yield* session.callTool("impatient")), "gave up")
      yield* Deferred.await(taken)
      const completed = yield* received(session.elicitationsCompleted)
      assert.strictEqual(text(yield* session.callTool("page")), "accept")
      assert.strictEqual(yield* completed.take, "e-1")
    }))

  it.scopedLive("keeps no session for a client that has left before the upstream was connected", () =>
    Effect.gen(function*() {
      const { connector, kill, open } = controlled(yield* fromLayer(counting))
      const gate = yield* Effect.makeLatch(true)
      const through = yield* entrance(Connector.make("gated", Effect.zipRight(gate.await, connector.connect)))
      yield* gate.close
      yield* kill
      yield* Effect.scoped(Client.make(through, { versions: legacy }))
      yield* gate.open
      const client = yield* Client.make(through, { versions: legacy })
      assert.strictEqual(text(yield* client.callTool("count")), "1")
      // The session that lists, and that of this client.
      yield* Effect.repeat(Effect.sleep("20 millis"), { until: () => open.size === 2 })
    }))

  it.scopedLive("has one session for a client, whatever it declares beside what is passed on", () =>
    Effect.gen(function*() {
      const { connector, open } = controlled(yield* fromLayer(counting))
      const through = yield* entrance(connector)
      const peer = yield* Client.make(through, { versions: modern })
      for (let n = 1; n <= 3; n++) {
        const { content } = yield* peer.request("tools/call", { name: "count" }, {
          capabilities: { experimental: { any: { n } } }
        })
        assert.deepStrictEqual(content, [{ type: "text", text: String(n) }])
      }
      assert.strictEqual(open.size, 2)
    }))

  it.scopedLive("has one session for each set of capabilities that the requests of a client declare, and declares these to the upstream", () =>
    Effect.gen(function*() {
      const supported = Effect.map(
        RequestContext,
        (
          { client: { supports } }
        ) => [supports({ elicitation: { form: {} } }), supports({ elicitation: { url: {} } }), supports({ roots: {} })]
      )
      const counting = McpServer.layer(
        { name: "upstream", version: "1.0.0" },
        McpServer.tool(Count, () =>
          Effect.zipWith(
            Effect.flatMap(Counter, (counter) => Ref.updateAndGet(counter, (n) => n + 1)),
            supported,
            (n, supported) => JSON.stringify([n, ...supported])
          )),
        { versions: legacy, session: Layer.effect(Counter, Ref.make(0)) }
      )
      const { connector, open } = controlled(yield* fromLayer(counting))
      const client = yield* gateway(connector, { client: modern })
      const count = (capabilities: ClientCapabilities) =>
        Effect.map(
          client.request("tools/call", { name: "count" }, { capabilities }),
          (result) => JSON.parse(text(result as never)) as ReadonlyArray<unknown>
        )
      const elicitation = { form: {} }
      for (const n of [1, 2]) {
        assert.deepStrictEqual(yield* count({}), [n, false, false, false])
        assert.deepStrictEqual(yield* count({ elicitation }), [n, true, false, false])
        assert.deepStrictEqual(yield* count({ elicitation: { form: {}, url: {} } }), [n, true, true, false])
        assert.deepStrictEqual(yield* count({ elicitation, roots: {} }), [n, true, false, true])
      }
      assert.strictEqual(open.size, 5)
    }))

  it.scopedLive("has one session for each user over HTTP, also for users whose ids have the same hash", () =>
    Effect.gen(function*() {
      const users = ["user-XEEGn", "user-ygFfo"]
      assert.strictEqual(...users.map(Hash.string) as [number, number])
      const authenticator = Authenticator.make(User, {
        id: (id) => id,
        http: ({ headers }) => Effect.succeed(headers.authorization!)
      })
      const gateway = McpServer.layer(
        { name: "gateway", version: "1.0.0" },
        Proxy.layer(yield* fromLayer(counting), { name: "up" }),
        { authenticator }
      )
      const { handler } = yield* Effect.flatMap(
        Layer.build(gateway),
        (context) => Effect.provide(WebHandler.make(), context)
      )
      const count = (user: string) =>
        Effect.promise(async () => {
          const headers = {
            authorization: user,
            accept: "application/json, text/event-stream",
            "content-type": "application/json",
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            "mcp-name": "count"
          }
          const params = {
            name: "count",
            _meta: {
              "io.modelcontextprotocol/protocolVersion": "2026-07-28",
              "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
              "io.modelcontextprotocol/clientCapabilities": {}
            }
          }
          const body = JSON.stringify(Message.request(1, "tools/call", params))
          const response = await handler(new Request("http://localhost/mcp", { method: "POST", headers, body }))
          return text((await response.json() as { readonly result: any }).result)
        })
      for (const n of ["1", "2"]) {
        assert.deepStrictEqual(yield* Effect.forEach(users, count), [n, n])
      }
    }))

  it.scopedLive("refuses clients beyond maxSessions", () =>
    Effect.gen(function*() {
      const { connector } = controlled(yield* fromLayer(counting))
      const through = yield* entrance(connector, { proxy: { maxSessions: 1 } })
      const first = yield* Client.make(through, { versions: legacy })
      assert.strictEqual(text(yield* first.callTool("count")), "1")
      const second = yield* Client.make(through, { versions: legacy })
      const error = yield* Effect.flip(second.callTool("count"))
      assert.include(error.message, "already serves 1 clients")
    }))

  it.scopedLive("learns the roots of the client before the first call, and when they change", () =>
    Effect.gen(function*() {
      const seen = yield* Queue.unbounded<ReadonlyArray<string>>()
      const changes = yield* Queue.unbounded<void>()
      const roots = yield* Ref.make([{ uri: "file:///a" }])
      const connector = yield* server(rootsReader((uris) => Queue.offer(seen, uris)), { versions: legacy })
      yield* gateway(connector, {
        features: ClientFeatures.roots(Ref.get(roots), { changes: Stream.fromQueue(changes) })
      })
      assert.deepStrictEqual(yield* seen.take, ["file:///a"])
      yield* Ref.set(roots, [{ uri: "file:///b" }])
      yield* changes.offer()
      assert.deepStrictEqual(yield* seen.take, ["file:///b"])
    }))

  it.scopedLive("asks the client whose call runs, also when clients share a session", () =>
    Effect.gen(function*() {
      const through = yield* entrance(yield* server(asking, { versions: legacy }), { proxy: { sessions: "shared" } })
      const ada = yield* Client.make(through, { versions: legacy, features: answering("Ada") })
      const bob = yield* Client.make(through, { versions: modern, features: answering("Bob") })
      assert.include(text(yield* ada.callTool("asking", { who: "a" })), "Ada")
      assert.include(text(yield* bob.callTool("asking", { who: "b" })), "Bob")
    }))

  it.scopedLive("asks no client when calls of two clients run in a session that they share", () =>
    Effect.gen(function*() {
      const begun = yield* Deferred.make<void>()
      const hang = McpServer.tool(
        Tool.make("hang"),
        () => Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never)
      )
      const through = yield* entrance(yield* server(Layer.merge(asking, hang), { versions: legacy }), {
        proxy: { sessions: "shared" }
      })
      const ada = yield* Client.make(through, { versions: legacy, features: answering("Ada") })
      const bob = yield* Client.make(through, { versions: legacy, features: answering("Bob") })
      const hanging = yield* Effect.fork(bob.callTool("hang"))
      yield* Deferred.await(begun)
      const error = yield* Effect.flip(ada.callTool("asking", { who: "a" }))
      assert.include(error.message, "2 calls run, and the upstream does not say which of them asks")
      yield* Fiber.interrupt(hanging)
    }))

  it.scopedLive("fails a question to a client that cannot answer it", () =>
    Effect.gen(function*() {
      for (const client of [legacy, modern]) {
        const session = yield* gateway(yield* server(asking, { versions: legacy }), { client })
        const error = yield* Effect.flip(session.callTool("asking", { who: "a" }))
        assert.strictEqual(error._tag, "MissingClientCapability")
      }
    }))

  it.scoped("has a session for a client of 2026-07-28 until its requests stop for idleSession", () =>
    Effect.gen(function*() {
      const { closed, connector, open } = controlled(yield* fromLayer(counting))
      const client = yield* gateway(connector, { client: modern, proxy: { idleSession: "5 minutes" } })
      assert.strictEqual(text(yield* client.callTool("count")), "1")
      yield* TestClock.adjust("4 minutes")
      assert.strictEqual(text(yield* client.callTool("count")), "2")
      yield* TestClock.adjust("4 minutes")
      assert.strictEqual(open.size, 2)
      yield* TestClock.adjust("1 minute")
      yield* closed.take
      assert.strictEqual(open.size, 1)
      assert.strictEqual(text(yield* client.callTool("count")), "1")
    }))
})

describe("A call of a client of 2026-07-28 at an upstream up to 2025-11-25", () => {
  /** A client that sees the rounds. */
  const rounds = (session: Client.Client["Type"]) => (more: JsonObject = {}) =>
    session.request("tools/call", { name: "asking", arguments: { who: "you" }, ...more })

  const response = (key: string) => ({ [key]: { action: "accept", content: { name: "Ada" } } })

  it.scopedLive("goes on with the answer, and runs once at the upstream", () =>
    Effect.gen(function*() {
      const session = yield* gateway(yield* server(asking, { versions: legacy }), {
        client: modern,
        features: answering("unused")
      })
      const call = rounds(session)
      const { inputRequests, requestState, resultType } = yield* call()
      assert.strictEqual(resultType, "input_required")
      const [[key, question]] = Object.entries(inputRequests as JsonObject) as [[string, any]]
      assert.deepInclude(question, { method: "elicitation/create" })
      assert.strictEqual(question.params.message, "you?")
      const done = yield* call({ inputResponses: response(key), requestState })
      assert.include(text(done as never), "Ada")
      const again = yield* Effect.flip(call({ inputResponses: response(key), requestState }))
      assert.deepInclude(again, { _tag: "InvalidParams" })
      assert.include(again.message, "has ended, or runs in another process")
    }))

  it.scopedLive("waits for answers only as many times as waiting.max", () =>
    Effect.gen(function*() {
      const session = yield* gateway(yield* server(asking, { versions: legacy }), {
        client: modern,
        features: answering("unused"),
        proxy: { waiting: { max: 1 } }
      })
      const call = rounds(session)
      assert.strictEqual((yield* call()).resultType, "input_required")
      const error = yield* Effect.flip(call())
      assert.include(error.message, "already has 1 calls that wait for answers of clients")
    }))

  it.scoped("ends when its client does not answer in time", () =>
    Effect.gen(function*() {
      const ended = yield* Deferred.make<void>()
      const waiting = McpServer.tool(Asking, ({ who }) =>
        Effect.flatMap(ServerSession, (session) =>
          Effect.as(session.elicit({ message: who, schema: Name }, { timeout: "1 hour" }), "")).pipe(
            Effect.onInterrupt(() =>
              Deferred.succeed(ended, undefined)
            )
          ))
      const session = yield* gateway(yield* server(waiting, { versions: legacy }), {
        client: modern,
        features: answering("unused"),
        proxy: { waiting: { ttl: "3 minutes" } }
      })
      const { inputRequests, requestState } = yield* rounds(session)()
      yield* TestClock.adjust("4 minutes")
      yield* Deferred.await(ended)
      const [key] = Object.keys(inputRequests as JsonObject)
      const error = yield* Effect.flip(rounds(session)({ inputResponses: response(key!), requestState }))
      assert.include(error.message, "has ended, or runs in another process")
    }))

  it.scopedLive("is cancelled at the upstream when the client cancels it", () =>
    Effect.gen(function*() {
      const begun = yield* Deferred.make<void>()
      const ended = yield* Deferred.make<void>()
      const hang = McpServer.tool(Tool.make("hang"), () =>
        Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never).pipe(
          Effect.onInterrupt(() =>
            Deferred.succeed(ended, undefined)
          )
        ))
      const session = yield* gateway(yield* server(hang, { versions: legacy }), {
        client: modern,
        features: answering("unused")
      })
      const call = yield* Effect.fork(session.callTool("hang"))
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(call)
      yield* Deferred.await(ended)
    }))

  it.scopedLive("fails when an upstream of 2026-07-28 asks a client that sees no rounds without end", () =>
    Effect.gen(function*() {
      let asked = 0
      const endless = McpServer.tool(
        Tool.make("endless"),
        () =>
          Effect.flatMap(
            ServerSession,
            ({ ask }) => Effect.as(Effect.forever(ask({ sure: Ask.confirm("Sure?") })), "done")
          )
      )
      const session = yield* proxied(endless, {
        client: legacy,
        upstream: modern,
        server: { limits: { maxRounds: 12 } },
        features: ClientFeatures.elicitation(() =>
          Effect.sync(() => {
            asked++
            return { action: "accept" as const }
          })
        )
      })
      const error = yield* Effect.flip(session.callTool("endless"))
      assert.include(error.message, "The upstream \"up\" asks too many times to serve \"tools/call\"")
      assert.strictEqual(asked, 10)
    }))
})

describe("A client of a proxy", () => {
  const grow = Tool.make("grow", { parameters: { name: Schema.String } })

  for (const [name, client, upstream] of pairs) {
    it.scopedLive(`sees at once what its own calls change in the lists, one call after another (${name})`, () =>
      Effect.gen(function*() {
        const scope = yield* Effect.scope
        const growing = Layer.unwrapEffect(Effect.map(Registry, (registry) =>
          McpServer.tool(grow, ({ name }) => {
            const added = McpServer.tool(Tool.make(name), () => Effect.succeed(""))
            return Effect.as(
              Layer.buildWithScope(Layer.provide(added, Layer.succeed(Registry, registry)), scope),
              name
            )
          })))
        const session = yield* proxied(growing, { client, upstream })
        const changes = yield* received(session.listChanges)
        for (const name of ["a", "b", "c", "d"]) {
          yield* session.callTool("grow", { name })
          const seen = Effect.flatMap(
            changes.take,
            () => Effect.map(all(session.tools), (tools) => tools.some((one) => one.name === name))
          )
          yield* Effect.timeoutFail(Effect.repeat(seen, { until: (isSeen) => isSeen }), {
            duration: "500 millis",
            onTimeout: () => new Error(`"${name}" was not seen`)
          })
        }
      }))
  }
})
