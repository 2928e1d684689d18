import { assert, describe, it } from "@effect/vitest"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import * as Message from "@effect-mcp/core/Message"
import { Effect, Layer, TestClock } from "effect"
import {
  answered,
  assertRefused,
  call,
  type EndpointClient,
  initialize,
  proper,
  TestExchange
} from "../http/TestExchange.js"
import { log } from "../legacy/Resuming.js"
import { act, GreetLive, identified, serve, until } from "../Serving.js"
import * as Cluster from "./Cluster.js"
import { later } from "./Cluster.js"

const greet = (id: number) => call(id, "greet", { name: "you" })
const hello = { content: [{ type: "text", text: "Hello, you!" }] }
const resultOf = (exchange: TestExchange) => (exchange.isStream ? exchange.messages.at(-1) : exchange.json).result

/** Its client is authenticated when the gate opens, at the node where it arrives or at the node that it is passed on to. */
const slow = { authorization: "slow" }
const slowThere = { authorization: "slow there" }

/** Nodes at which the clients of some requests wait to be authenticated, and a proof is for one request, and a tool that logs when the gate opens. */
const serving = (options?: Parameters<typeof Cluster.make>[1]) =>
  Effect.gen(function*() {
    const [authentication, gate] = [yield* Effect.makeLatch(), yield* Effect.makeLatch()]
    const used = new Set<string>()
    let authenticating = 0
    const waits = Effect.zipRight(Effect.sync(() => authenticating++), authentication.await)
    const { node } = yield* Cluster.make(
      serve(
        Layer.merge(GreetLive, act(Effect.zipRight(gate.await, log("late")))),
        identified(({ headers, isForwarded }) => {
          const isSlow = headers.authorization === (isForwarded === true ? "slow there" : "slow")
          const isNew = headers.dpop === undefined || isForwarded === true || !used.has(headers.dpop)
          if (headers.dpop !== undefined) used.add(headers.dpop)
          return Effect.zipRight(
            isSlow ? waits : Effect.void,
            isNew ? Effect.succeed("ada") : Effect.fail(HttpRefusal.unauthorized("DPoP"))
          )
        })
      ),
      options
    )
    const awaiting = (count: number) => until(() => authenticating === count)
    return { node, authentication, awaiting, gate }
  })

/** A session that one node has, and a way to let the next node take it over, which the first then notices. */
const moving = Effect.gen(function*() {
  const parts = yield* serving()
  const [one, two, three] = [yield* parts.node, yield* parts.node, yield* parts.node]
  const client = yield* one.http.open()
  one.of(client).post(call(1, "act"))
  const move = Effect.gen(function*() {
    yield* one.expire
    yield* later(answered(two.of(client).post(greet(2), { accept: "text/event-stream" })))
    yield* parts.gate.open
    yield* until(() => one.endpoint.sessions() === 0)
  })
  return { ...parts, one, two, three, client, move }
})

let proofs = 0

const requests = {
  "POST with a request": (client, headers) => client.post(greet(3), headers),
  "POST with a notification": (client, headers) =>
    client.post(Message.notification("notifications/roots/list_changed"), headers),
  "POST with a proof of DPoP": (client, headers) => client.post(greet(3), { ...headers, dpop: `proof ${++proofs}` }),
  GET: (client, headers) => client.get(headers),
  DELETE: (client, headers) => client.delete(headers)
} satisfies Record<string, (client: EndpointClient, headers: Readonly<Record<string, string>>) => TestExchange>

/** A request whose body arrives when the gate opens. */
class SlowBody extends TestExchange {
  private arrive: (() => void) | undefined

  override body(...args: Parameters<TestExchange["body"]>): void {
    this.arrive = () => super.body(...args)
  }

  readonly arrives = Effect.zipRight(until(() => this.arrive !== undefined), Effect.sync(() => this.arrive!()))
}

describe("a request whose session has moved to another node", () => {
  for (const [name, send] of Object.entries(requests)) {
    for (const where of ["this node", "a third node", "a third node, while this node authenticated the client, too"]) {
      it.scoped(`while its client was authenticated goes on at that node: ${name} that arrived at ${where}`, () =>
        Effect.gen(function*() {
          const { authentication, awaiting, client, move, one, three, two } = yield* moving
          const at = where === "this node" ? one : three
          const exchange = send(at.of(client), where.includes("too") ? slowThere : slow)
          yield* awaiting(1)
          yield* move
          yield* authentication.open
          yield* later(until(() => exchange.status !== undefined))
          assert.strictEqual(exchange.status, name === "POST with a notification" ? 202 : 200, exchange.text)
          if (/request|proof/.test(name)) assert.deepStrictEqual(resultOf(exchange), hello)
          assert.strictEqual(two.endpoint.sessions(), name === "DELETE" ? 0 : 1)
        }))
    }
  }

  it.scoped("while its body was read goes on at that node, which gets the body", () =>
    Effect.gen(function*() {
      const { client, move, one } = yield* moving
      const exchange = new SlowBody("POST", "/mcp", { ...proper, ...client.session }, JSON.stringify(greet(3)))
      one.endpoint.handle(exchange)
      yield* move
      yield* exchange.arrives
      yield* later(answered(exchange))
      assert.deepStrictEqual(resultOf(exchange), hello)
    }))

  it.scoped("gets 404 when its client has ended the session meanwhile", () =>
    Effect.gen(function*() {
      const { authentication, awaiting, node } = yield* serving()
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      const exchanges = [one.of(client).post(greet(1), slow), two.of(client).post(greet(1), slowThere)]
      yield* awaiting(2)
      yield* answered(one.of(client).delete())
      yield* authentication.open
      for (const exchange of exchanges) assertRefused(yield* later(answered(exchange)), 404, -32001, /not found/i)
    }))
})

describe("a session that a node has no place for", () => {
  it.scoped("is not unknown while the node gives it back", () =>
    Effect.gen(function*() {
      const cluster = yield* Cluster.make(serve(GreetLive), { limits: { maxSessions: 1 } })
      const releasing = yield* Effect.makeLatch()
      const { join } = cluster.directory
      Object.assign(cluster.directory, {
        join: (node: string) =>
          Effect.map(join(node), (membership) => ({
            ...membership,
            release: (id: string, epoch: number) => Effect.zipRight(releasing.await, membership.release(id, epoch))
          }))
      })
      const [one, two] = [yield* cluster.node, yield* cluster.node]
      const client = yield* one.http.open()
      const reader = (yield* two.http.open()).get()
      yield* one.stop
      assert.strictEqual((yield* later(answered(two.of(client).post(greet(1))))).status, 503)
      reader.hangUp()
      yield* TestClock.adjust("2 seconds")
      const waiting = two.of(client).post(greet(2))
      for (let n = 0; n < 100; n++) yield* Effect.yieldNow()
      assert.isUndefined(waiting.status)
      yield* releasing.open
      yield* later(answered(waiting))
      assert.deepStrictEqual(resultOf(waiting), hello)
    }))
})

describe("a node that loses its place while a client is authenticated", () => {
  for (const [name, send] of Object.entries(requests)) {
    it.scoped(`refuses the request with 503, and leaves what another node has passed on to the others: ${name}`, () =>
      Effect.gen(function*() {
        const { authentication, awaiting, node } = yield* serving()
        const [one, two] = [yield* node, yield* node]
        const client = yield* one.http.open()
        const [here, there] = [send(one.of(client), slow), send(two.of(client), slowThere)]
        yield* awaiting(2)
        yield* one.expire
        yield* one.closeInbox
        yield* until(() => one.endpoint.sessions() === 0)
        yield* authentication.open
        assertRefused(yield* answered(here), 503, -32000, /try again/)
        yield* later(until(() => there.status !== undefined))
        assert.strictEqual(there.status, name === "POST with a notification" ? 202 : 200, there.text)
      }))
  }
})

describe("a message of HTTP+SSE", () => {
  it.scoped("gets 404 when its conversation has ended while its client was authenticated", () =>
    Effect.gen(function*() {
      const { authentication, awaiting, node } = yield* serving({ legacy: { ssePath: "/sse" } })
      const [one, two] = [yield* node, yield* node]
      const stream = one.http.send("GET", { host: "127.0.0.1:3000", accept: "text/event-stream" }, "", "/sse")
      yield* until(() => stream.events.length === 1)
      const exchanges = ([[one, slow], [two, slowThere]] as const).map(([{ http }, headers]) =>
        http.send("POST", { ...proper, ...headers }, initialize("2024-11-05"), stream.events[0]!.data)
      )
      yield* awaiting(2)
      stream.hangUp()
      yield* authentication.open
      for (const exchange of exchanges) assertRefused(yield* later(answered(exchange)), 404, -32001, /not found/i)
    }))
})
