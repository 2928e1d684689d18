import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import { Effect, Fiber, Layer, Option, Stream, TestClock } from "effect"
import {
  answered,
  assertRefused,
  call,
  EndpointClient,
  initialize,
  proper,
  type TestExchange
} from "../http/TestExchange.js"
import { act, GreetLive, logbook, serve, until } from "../Serving.js"
import * as Cluster from "./Cluster.js"
import { later } from "./Cluster.js"

const greet = (id: number) => call(id, "greet", { name: "you" })

const hello = { content: [{ type: "text", text: "Hello, you!" }] }

const resultOf = (exchange: TestExchange) => (exchange.isStream ? exchange.messages.at(-1) : exchange.json).result

/** Does something before each node looks a session up. */
const finding = ({ directory }: Cluster.Cluster, before: (id: string) => Effect.Effect<unknown>) => {
  const { join } = directory
  Object.assign(directory, {
    join: (node: string) =>
      Effect.map(join(node), (membership) => ({
        ...membership,
        find: (id: string) => Effect.zipRight(before(id), membership.find(id))
      }))
  })
}

describe("a node that gets what no proper client or node sends", () => {
  it.scoped("serves a request with a session id where there are no sessions, but HTTP+SSE", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive), { legacy: { sessions: false, ssePath: "/sse" } })
      const { http } = yield* node
      const exchange = yield* http.ask(greet(1), { "mcp-session-id": "0".repeat(32) })
      assert.deepStrictEqual(resultOf(exchange), hello)
    }))

  it.scoped("does not look up a session id that no node has made", () =>
    Effect.gen(function*() {
      const cluster = yield* Cluster.make(serve(GreetLive), { legacy: { sessionIdPrefix: "a.b-" } })
      const looked: Array<string> = []
      finding(cluster, (id) => Effect.sync(() => looked.push(id)))
      const [one, two] = [yield* cluster.node, yield* cluster.node]
      const { session } = yield* one.http.open()
      const hex = "0123456789abcdef".repeat(2)
      const strange = [
        "x",
        hex.slice(1),
        `}{${hex}`,
        `ä${hex}`,
        `${hex} `,
        `${hex}, ${hex}`,
        `a\0${hex}`,
        "x".repeat(65) + hex
      ]
      for (const id of [...strange, "x".repeat(1_000_000)]) {
        assertRefused(yield* two.http.ask(greet(1), { "mcp-session-id": id }), 404, -32001, /^Session not found/)
      }
      assert.deepStrictEqual(looked, [])
      assert.deepStrictEqual(resultOf(yield* two.http.ask(greet(1), session)), hello)
      assert.deepStrictEqual(looked, [session["mcp-session-id"]])
    }))

  it.scoped("keeps its sessions when malformed texts arrive in its inbox", () =>
    Effect.gen(function*() {
      const { directory, inbox, node } = yield* Cluster.make(serve(GreetLive))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      const other = yield* directory.join("other")
      const { node: name } = Option.getOrThrow(yield* other.find(client.session["mcp-session-id"]!))
      const { send } = yield* inbox.open("other")
      const id = "1"
      const malformed = [
        "",
        "null",
        "{",
        "\n",
        `${JSON.stringify({ type: "exchange", id, from: "other" })}\n{`,
        { type: "exchange", id, from: "other" },
        { type: "exchange", id: "2", from: "other", method: "POST", url: "/mcp", path: "/mcp", headers: null, body: 1 },
        { type: "taken", id, from: "other" },
        { type: "reply", id },
        { type: "text", id }
      ]
      const waiting = two.of(client).get()
      yield* until(() => waiting.status === 200)
      for (const text of malformed) yield* send(name, typeof text === "string" ? text : JSON.stringify(text))
      for (let n = 0; n < 100; n++) yield* Effect.yieldNow()
      assert.strictEqual(one.endpoint.sessions(), 1)
      assert.isFalse(waiting.ended)
      assert.deepStrictEqual(resultOf(yield* two.of(client).ask(greet(1))), hello)
    }))

  it.scoped("tells a node of an earlier version, whose requests have their body in their line, that it does not serve them", () =>
    Effect.gen(function*() {
      const { directory, inbox, node } = yield* Cluster.make(serve(GreetLive))
      const one = yield* node
      const client = yield* one.http.open()
      const other = yield* directory.join("other")
      const { node: name } = Option.getOrThrow(yield* other.find(client.session["mcp-session-id"]!))
      const { received, send } = yield* inbox.open("other")
      const answers: Array<string> = []
      yield* Effect.forkScoped(Stream.runForEach(received, (text) => Effect.sync(() => answers.push(text))))
      const old = {
        type: "request",
        id: "7",
        from: "other",
        method: "POST",
        url: "/mcp",
        path: "/mcp",
        headers: {},
        body: "{}"
      }
      yield* send(name, JSON.stringify(old))
      yield* until(() => answers.length > 0)
      assert.deepStrictEqual(answers.map((text) => JSON.parse(text)), [{ type: "moved", id: "7" }])
    }))

  it.scoped("answers with 404 to a session whose facts it cannot read, removes it and its events, and logs once that it has ended", () =>
    Effect.gen(function*() {
      const { layer, lines } = logbook()
      const { directory, events, node } = yield* Cluster.make(serve(GreetLive))
      const one = yield* Effect.provide(node, layer)
      const other = yield* directory.join("other")
      const facts = {
        version: "2025-11-25",
        clientCapabilities: {},
        serverCapabilities: { tools: {} },
        subscriptions: []
      }
      const malformed = [
        {},
        null,
        [],
        { ...facts, version: "1999-01-01" },
        { ...facts, owner: 1 },
        { ...facts, level: "loud" },
        { ...facts, clientInfo: 1 },
        { ...facts, clientCapabilities: undefined },
        { ...facts, serverCapabilities: [] },
        { ...facts, subscriptions: "x" },
        { ...facts, subscriptions: [1] },
        { version: 1, subscriptions: "x", clientInfo: 1 }
      ]
      for (const [n, facts] of malformed.entries()) {
        const id = n.toString(16).repeat(32)
        yield* other.create(id, facts as never)
        yield* events.open({ session: id, stream: "01", epoch: 1 }, [1])
        yield* other.release(id, 1)
        lines.length = 0
        for (const headers of [{}, { "mcp-protocol-version": "2025-06-18" }]) {
          const exchange = one.http.post(greet(1), { ...headers, "mcp-session-id": id })
          assertRefused(yield* later(answered(exchange)), 404, -32001, /^Session not found/)
        }
        assert.deepStrictEqual(lines.map(({ level }) => level), ["Error"])
        assert.match(lines[0]!.message, /^This node cannot read the facts about a session in the directory/)
        assert.isTrue(Option.isNone(yield* other.find(id)))
        assert.deepStrictEqual(yield* events.unfinished({ session: id, stream: "01" }), [])
      }
      yield* other.create("f".repeat(32), { ...facts, ofAnotherVersion: true })
      yield* other.release("f".repeat(32), 1)
      const exchange = one.http.post(greet(1), { "mcp-session-id": "f".repeat(32) })
      assert.deepStrictEqual(resultOf(yield* later(answered(exchange))), hello)
    }))

  it.scoped(
    "goes on with every session that `initialize` has accepted, however strange its client",
    () =>
      Effect.gen(function*() {
        const { node } = yield* Cluster.make(serve(GreetLive))
        const [one, two] = [yield* node, yield* node]
        const strange = [undefined, null, 5, "x", [], {}, { listChanged: 5 }, [{ src: 5 }]]
        const ofInfo = ["name", "title", "version", "icons", "description", "websiteUrl", "other"]
        const ofClient = ["experimental", "roots", "sampling", "elicitation", "tasks", "extensions", "other"]
        const info = { name: "test", version: "0" }
        const accepted: Array<EndpointClient> = []
        for (const version of ["2024-11-05", "2025-11-25"]) {
          const handshakes = strange.flatMap((value) => [
            ...ofInfo.map((key) => ({ clientInfo: { ...info, [key]: value }, capabilities: {} })),
            ...ofClient.map((key) => ({ clientInfo: info, capabilities: { [key]: value } })),
            { clientInfo: value, capabilities: {} },
            { clientInfo: info, capabilities: value }
          ])
          for (const handshake of handshakes) {
            const params = { protocolVersion: version, ...handshake }
            const opened = yield* one.http.ask({ ...initialize(), params })
            const session = opened.sent["mcp-session-id"]
            if (session === undefined) continue
            const client = new EndpointClient(one.endpoint, { "mcp-session-id": session })
            client.post(Message.notification("notifications/initialized"))
            accepted.push(client)
          }
        }
        assert.isAbove(accepted.length, 100)
        yield* one.stop
        for (const client of accepted) {
          const exchange = yield* later(answered(two.of(client).post(greet(1))))
          assert.deepStrictEqual(resultOf(exchange), hello)
        }
      }),
    30_000
  )

  it.scoped("takes a session over while a flood of clients begins a handshake", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive), { limits: { maxSessions: 40 } })
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      const refused = yield* Effect.forEach(Array.from({ length: 20 }), () => two.http.ask(initialize()))
      assert.strictEqual(refused.at(-1)!.status, 503)
      yield* one.stop
      const exchange = two.of(client).post(greet(1))
      yield* later(answered(exchange))
      assert.deepStrictEqual([exchange.status, resultOf(exchange)], [200, hello])
    }))

  it.scoped("passes the body of a request on once to a node that leaves, and again when another node serves the session", () =>
    Effect.gen(function*() {
      const gate = yield* Effect.makeLatch()
      const cluster = yield* Cluster.make(serve(Layer.merge(GreetLive, act(gate.await))), {
        drainTimeout: "10 seconds"
      })
      let sent = 0
      const { open } = cluster.inbox
      Object.assign(cluster.inbox, {
        open: (node: string) =>
          Effect.map(open(node), (mailbox) => ({
            ...mailbox,
            send: (to: string, text: string) => {
              if (text.includes("greet")) sent++
              return mailbox.send(to, text)
            }
          }))
      })
      const [one, two] = [yield* cluster.node, yield* cluster.node]
      const client = yield* one.http.open()
      const running = one.of(client).post(call(1, "act"))
      const leaving = yield* Effect.fork(one.leave)
      yield* Effect.yieldNow()
      const waiting = two.of(client).post(greet(2))
      for (let n = 0; n < 50; n++) yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual([running.ended, waiting.ended, sent], [false, false, 1])
      yield* gate.open
      yield* later(Effect.all([answered(waiting), Fiber.join(leaving)]))
      assert.deepStrictEqual([resultOf(waiting), two.endpoint.sessions()], [hello, 1])
    }))

  it.scoped("refuses with 503, and not as unknown, a session that it has no place for", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive), { limits: { maxSessions: 1 } })
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      const reader = (yield* two.http.open()).get()
      yield* one.stop
      const refused = two.of(client).post(greet(1))
      yield* later(answered(refused))
      assertRefused(refused, 503, -32000, /try again/)
      reader.hangUp()
      yield* TestClock.adjust("2 seconds")
      const served = two.of(client).post(greet(2))
      yield* later(answered(served))
      assert.deepStrictEqual(resultOf(served), hello)
    }))

  it.scoped("passes nothing on to itself for a conversation of HTTP+SSE that it does not have", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive), { legacy: { ssePath: "/sse" } })
      const one = yield* node
      const stream = one.http.send("GET", { host: "127.0.0.1:3000", accept: "text/event-stream" }, "", "/sse")
      yield* until(() => stream.events.length === 1)
      const url = stream.events[0]!.data!.replace(/.{32}$/, "0".repeat(32))
      one.faults.losesTexts = true
      const sent = yield* answered(one.http.send("POST", proper, greet(1), url))
      assertRefused(sent, 404, -32001, /not found/i)
    }))

  it.scoped("gives the standalone stream to the next reader when the first has disconnected while its node was looked for", () =>
    Effect.gen(function*() {
      const cluster = yield* Cluster.make(serve(GreetLive))
      const found = yield* Effect.makeLatch(true)
      finding(cluster, () => found.await)
      const [one, two] = [yield* cluster.node, yield* cluster.node]
      const client = yield* one.http.open()
      yield* found.close
      two.of(client).get().hangUp()
      yield* found.open
      for (let n = 0; n < 100; n++) yield* Effect.yieldNow()
      const next = one.of(client).get()
      yield* until(() => next.status !== undefined)
      assert.strictEqual(next.status, 200)
    }))
})
