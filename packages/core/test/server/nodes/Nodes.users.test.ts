import { assert, describe, it } from "@effect/vitest"
import type { Refuses } from "@effect-mcp/core/Authenticator"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import * as RateLimit from "@effect-mcp/core/RateLimit"
import { Effect, TestClock } from "effect"
import { answered, assertRefused, call, proper } from "../http/TestExchange.js"
import { GreetLive, identified, Sender, serve, until } from "../Serving.js"
import * as Cluster from "./Cluster.js"
import { later } from "./Cluster.js"

const greet = (id: number) => call(id, "greet", { name: "you" })

const unknown = { "mcp-session-id": "0".repeat(32) }

type Found = Effect.Effect<string | undefined, Refuses>

/** Two nodes, whose commands at the directory and at the inboxes are noted, and a session and a conversation of ada's at the first. */
const guarded = (http: (request: Authenticator.HttpRequest) => Found) =>
  Effect.gen(function*() {
    const cluster = yield* Cluster.make(serve(GreetLive, identified(http)), { legacy: { ssePath: "/sse" } })
    const commands: Array<string> = []
    const noted = <A extends object>(service: A): A =>
      new Proxy(service, {
        get: (target, key, receiver) => {
          const member = Reflect.get(target, key, receiver) as unknown
          if (typeof member !== "function") return member
          return (...args: ReadonlyArray<unknown>) => {
            commands.push(key as string)
            return Reflect.apply(member, target, args) as unknown
          }
        }
      })
    const { directory, inbox } = cluster
    const { join } = directory
    const { open } = inbox
    Object.assign(directory, { join: (node: string) => Effect.map(join(node), noted) })
    Object.assign(inbox, { open: (node: string) => Effect.map(open(node), noted) })
    const [one, two] = [yield* cluster.node, yield* cluster.node]
    const client = yield* one.http.open(undefined, undefined, ada)
    const stream = one.http.send("GET", { host: "localhost", accept: "text/event-stream", ...ada }, "", "/sse")
    yield* until(() => stream.events.length === 1)
    const requests = (headers: Readonly<Record<string, string>>) => {
      const own = { ...client.session, ...headers }
      return [
        two.http.post(greet(1), own),
        two.http.get(own),
        two.http.get({ ...own, "last-event-id": "00_01_1" }),
        two.http.delete(own),
        two.http.send("POST", { ...proper, ...headers }, greet(2), stream.events[0]!.data)
      ]
    }
    commands.length = 0
    return { one, two, client, commands, requests }
  })

const ada = { authorization: "ada" }

const byHeader = ({ headers }: Authenticator.HttpRequest): Found =>
  headers.authorization === undefined
    ? Effect.fail(HttpRefusal.unauthorized("Bearer"))
    : Effect.succeed(headers.authorization)

describe("A node finds the user of a request", () => {
  it.scoped("before it looks the session up or reads the body: requests without a token cost the stores nothing", () =>
    Effect.gen(function*() {
      const { commands, requests } = yield* guarded(byHeader)
      for (let n = 0; n < 8; n++) {
        for (const exchange of requests({ authorization: undefined as never })) {
          assert.deepStrictEqual([(yield* answered(exchange)).status, exchange.read], [401, false])
        }
      }
      assert.deepStrictEqual(commands, [])
    }))

  it.scoped("before it looks the session up or reads the body, also when finding takes longer than it may", () =>
    Effect.gen(function*() {
      const { commands, requests } = yield* guarded(({ headers: { authorization } }) =>
        authorization === "slow" ? Effect.never : Effect.succeed(authorization)
      )
      const exchanges = requests({ authorization: "slow" })
      yield* TestClock.adjust("9 seconds")
      assert.isTrue(exchanges.every(({ read, status }) => status === undefined && !read))
      const [gone] = exchanges
      gone!.hangUp()
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(exchanges.map(({ read, status }) => [status, read]), [
        [undefined, false],
        ...Array.from({ length: 4 }, () => [503, false])
      ])
      assert.deepStrictEqual(commands, [])
    }))

  it.scoped("and passes nothing on to the session of another user, which looks like an unknown one", () =>
    Effect.gen(function*() {
      const { client, commands, one, two } = yield* guarded(byHeader)
      const bob = { authorization: "bob" }
      const requests = (session: Readonly<Record<string, string | undefined>>) => {
        const own = { ...session, ...bob } as never
        return [two.http.post(greet(1), own), two.http.get(own), two.http.delete(own)]
      }
      for (const state of ["served by the other node", "left by a node that has ended"]) {
        const answers = []
        for (const exchange of [...requests(client.session), ...requests(unknown)]) {
          assertRefused(yield* later(answered(exchange)), 404, -32001, /^Session not found/)
          answers.push([exchange.sent, exchange.text])
        }
        assert.deepStrictEqual(answers.slice(0, 3), answers.slice(3), state)
        assert.deepStrictEqual([...new Set(commands)], ["find"], state)
        yield* one.stop
      }
      assert.strictEqual((yield* later(answered(two.of(client).post(greet(2))))).status, 200)
    }))
})

describe("The node that serves a session", () => {
  it.scoped("finds the user of a request again that another node has passed on, and knows that", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const { requests } = yield* guarded((request) => {
        seen.push(request.isForwarded)
        return byHeader(request)
      })
      seen.length = 0
      const [exchange] = requests(ada)
      assert.strictEqual((yield* answered(exchange!)).status, 200)
      assert.deepStrictEqual(seen.slice(-1), [true])
      assert.deepStrictEqual(seen.filter((is) => is !== true), [false, false, false, false, false])
    }))

  it.scoped("trusts no other node: it refuses a request itself that the other one has accepted", () =>
    Effect.gen(function*() {
      const { client, two } = yield* guarded((request) =>
        request.isForwarded === true ? Effect.fail(HttpRefusal.unauthorized("Bearer")) : byHeader(request)
      )
      assert.strictEqual((yield* answered(two.of(client).post(greet(1)))).status, 401)
    }))

  it.scoped("ends a stream with its token that another node has passed on", () =>
    Effect.gen(function*() {
      const found = ({ headers }: Authenticator.HttpRequest): Found =>
        Effect.as(Authenticator.validFor("5 minutes"), headers.authorization)
      const { client, two } = yield* guarded(found)
      const stream = two.of(client).get()
      yield* later(until(() => stream.status === 200))
      yield* TestClock.adjust("295 seconds")
      assert.isFalse(stream.ended)
      yield* TestClock.adjust("10 seconds")
      assert.isTrue(stream.ended)
    }))

  it.scoped("does not count it a second time, where the authenticator has a limit of rates", () =>
    Effect.gen(function*() {
      const addresses = RateLimit.make("addresses", { burst: 3, every: "1 hour" })
      const authenticator = Authenticator.make(Sender, {
        id: (id) => id,
        http: ({ headers }) => Effect.as(addresses.take("all"), headers.authorization)
      })
      const { node } = yield* Cluster.make(serve(GreetLive, { authenticator }))
      const [one, two] = [yield* node, yield* node]
      // The handshake is two requests.
      const client = yield* one.http.open()
      for (const [at, status] of [[two, 200], [two, 200], [two, 200], [two, 429], [one, 200], [one, 429]] as const) {
        assert.strictEqual((yield* answered(at.of(client).post(greet(1)))).status, status)
      }
    }))
})
