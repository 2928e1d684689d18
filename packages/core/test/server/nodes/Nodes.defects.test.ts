import { assert, describe, it } from "@effect/vitest"
import * as Inbox from "@effect-mcp/core/Inbox"
import * as SessionDirectory from "@effect-mcp/core/SessionDirectory"
import { Cause, Deferred, Effect, Layer, Stream } from "effect"
import { answered, assertRefused, call, makeClient, proper } from "../http/TestExchange.js"
import { act, GreetLive, logbook, serve, until } from "../Serving.js"
import * as Cluster from "./Cluster.js"

const lost = {
  code: -32000,
  message: "The node that served this request has ended; whether the request has run is not known"
}

const greet = (id: number) => call(id, "greet", { name: "you" })

const hello = { content: [{ type: "text", text: "Hello, you!" }] }

/** Answers are JSON. */
const plain = { isResumable: false }

/** The messages of errors. */
const errors = (lines: ReturnType<typeof logbook>["lines"]) =>
  lines.flatMap(({ level, message }) => level === "Error" ? [message] : [])

describe("an inbox that has a bug", () => {
  it.scoped("has a request answered with an error that it could not pass on, and the log names the bug once", () => {
    const { layer, lines } = logbook()
    return Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive), plain)
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      two.faults.defects.add("send")
      for (const id of [1, 2]) {
        const exchange = yield* answered(two.of(client).post(greet(id)))
        assert.deepStrictEqual(exchange.json, { jsonrpc: "2.0", id, error: lost })
      }
      two.faults.defects.clear()
      assert.deepStrictEqual((yield* answered(two.of(client).post(greet(3)))).json.result, hello)
      assert.lengthOf(errors(lines), 1)
      assert.match(errors(lines)[0]!, /^The inbox of the nodes failed: Error: a bug of send/)
    }).pipe(Effect.provide(layer))
  })

  it.scoped("gets the answer of a request again that it could not pass back", () =>
    Effect.gen(function*() {
      const gate = yield* Effect.makeLatch()
      const { node } = yield* Cluster.make(serve(act(gate.await)), plain)
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      const exchange = two.of(client).post(call(1, "act"))
      for (let n = 0; n < 100; n++) yield* Effect.yieldNow()
      one.faults.defects.add("send")
      yield* gate.open
      for (let n = 0; n < 100; n++) yield* Effect.yieldNow()
      one.faults.defects.clear()
      assert.deepStrictEqual((yield* Cluster.later(answered(exchange))).json.result, { content: [] })
    }))

  it.scoped("that interrupts its reader has the node join the others again", () =>
    Effect.gen(function*() {
      const memory = yield* Inbox.memory()
      const stop = yield* Deferred.make<never>()
      const opened: Array<string> = []
      const inbox: Inbox.InboxService = {
        open: (node) => {
          opened.push(node)
          return Effect.map(memory.open(node), (own) => ({
            ...own,
            received: opened.length === 1 ? Stream.fromEffect(Deferred.await(stop)) : own.received
          }))
        }
      }
      const services = Layer.mergeAll(
        Layer.effect(SessionDirectory.SessionDirectory, SessionDirectory.memory()),
        Layer.succeed(Inbox.Inbox, inbox)
      )
      const context = yield* Layer.build(Layer.merge(serve(GreetLive), services))
      const http = yield* Effect.provide(makeClient({ drainTimeout: 0 }), context)
      yield* http.open()
      yield* Deferred.interrupt(stop)
      yield* Cluster.later(until(() => opened.length === 2))
      yield* http.open()
    }))
})

describe("a directory that has a bug", () => {
  it.scoped("does not keep a node from noticing that another one has ended", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(act(Effect.never)), plain)
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      const exchange = two.of(client).post(call(1, "act"))
      for (let n = 0; n < 100; n++) yield* Effect.yieldNow()
      two.faults.defects.add("isAlive")
      yield* Cluster.later(Effect.sleep("2 seconds"))
      two.faults.defects.clear()
      yield* one.stop
      assert.deepStrictEqual((yield* Cluster.later(answered(exchange))).json, { jsonrpc: "2.0", id: 1, error: lost })
    }))

  it.scoped("has a session served that was claimed, and not found for a while", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive), plain)
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      yield* one.stop
      two.faults.hidesClaims = true
      yield* two.faults.claiming.close
      const exchange = two.of(client).post(greet(1))
      for (let n = 0; n < 100; n++) yield* Effect.yieldNow()
      two.faults.defects.add("find")
      yield* two.faults.claiming.open
      assertRefused(yield* answered(exchange), 503, -32000, /try again/)
      two.faults.defects.clear()
      yield* Cluster.later(until(() => two.endpoint.sessions() === 1))
      assert.deepStrictEqual((yield* answered(two.of(client).post(greet(2)))).json.result, hello)
    }))

  it.scoped("has a message of HTTP+SSE refused when it cannot tell whether the node of the stream lives", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive), { legacy: { ssePath: "/sse" } })
      const [one, two] = [yield* node, yield* node]
      const accept = { host: "127.0.0.1:3000", accept: "text/event-stream" }
      const stream = one.http.send("GET", accept, "", "/sse")
      yield* until(() => stream.events.length === 1)
      two.faults.defects.add("isAlive")
      const exchange = two.http.send("POST", proper, greet(1), stream.events[0]!.data)
      assert.strictEqual((yield* answered(exchange)).status, 503)
    }))
})

describe("an event store that has a bug", () => {
  it.scoped("has it in the log when the events of a session cannot be forgotten whose facts a node cannot read", () => {
    const { layer, lines } = logbook()
    return Effect.gen(function*() {
      const { directory, events, node } = yield* Cluster.make(serve(GreetLive))
      Object.assign(events, { forget: () => Effect.die(new Error("a bug of forget")) })
      const one = yield* node
      const other = yield* directory.join("other")
      const id = "0".repeat(32)
      yield* other.create(id, {})
      yield* other.release(id, 1)
      const exchange = one.http.post(greet(1), { "mcp-session-id": id })
      assertRefused(yield* Cluster.later(answered(exchange)), 404, -32001, /^Session not found/)
      for (let n = 0; n < 100; n++) yield* Effect.yieldNow()
      assert.strictEqual(errors(lines)[1], "The event store failed")
      assert.include(Cause.pretty(lines[1]!.cause), "a bug of forget")
    }).pipe(Effect.provide(layer))
  })
})
