/**
 * Behaviours of the resources of one client, and of closing either side.
 */
import { assert } from "@effect/vitest"
import { Cause, Effect, Exit, Option } from "effect"
import { until } from "../Fixture.js"
import { type Behaviour, hold, isModern, key, text } from "./Behaviour.js"

/** The error of a failure. */
const failure = <A, E>(exit: Exit.Exit<A, E>): E =>
  Option.getOrThrow(Cause.failureOption(Exit.isFailure(exit) ? exit.cause : Cause.empty))

export const behaviours: ReadonlyArray<Behaviour> = [
  {
    name: "each client has a session layer of its own, from its handshake on",
    until: "2025-11-25",
    sessions: true,
    run: ({ connect, served }) =>
      Effect.gen(function*() {
        const one = yield* connect()
        const other = yield* connect()
        assert.deepStrictEqual((yield* one.callTool("count")).content, text(`${one.name}: 1`))
        assert.deepStrictEqual((yield* one.callTool("count")).content, text(`${one.name}: 2`))
        assert.deepStrictEqual((yield* other.callTool("count")).content, text(`${other.name}: 1`))
        yield* served.reports.until(`${other.name} opened`)
        assert.notInclude(served.reports.lines(), `${one.name} closed`)
      })
  },
  {
    name: "a client that closes releases its session layer, and no other",
    until: "2025-11-25",
    sessions: true,
    run: ({ connect, served }) =>
      Effect.gen(function*() {
        const one = yield* connect()
        const other = yield* connect()
        yield* one.close
        yield* served.reports.until(`${one.name} closed`)
        assert.notInclude(served.reports.lines(), `${other.name} closed`)
        assert.deepStrictEqual((yield* other.callTool("count")).content, text(`${other.name}: 1`))
      })
  },
  {
    name: "a client that closes during a call interrupts the handler, and then releases its session layer",
    until: "2025-11-25",
    sessions: true,
    run: ({ connect, served }) =>
      Effect.gen(function*() {
        const client = yield* connect()
        const name = key()
        const held = yield* hold(client, served, name)
        yield* client.close
        assert.strictEqual((failure(yield* Effect.exit(held.exit)) as { _tag: string })._tag, "ConnectionClosed")
        yield* served.reports.until(`${client.name} closed`)
        const lines = served.reports.lines().filter((line) => line.includes(name) || line.includes(client.name))
        assert.deepStrictEqual(lines, [
          `${client.name} opened`,
          `${name} began`,
          `${name} stopped`,
          `${client.name} closed`
        ])
      })
  },
  {
    name:
      "each client has a session layer of its own, from its first request on, which is released when the client closes",
    since: "2026-07-28",
    over: ["memory", "direct", "stdio"],
    run: ({ connect, served }) =>
      Effect.gen(function*() {
        const one = yield* connect()
        const other = yield* connect()
        assert.deepStrictEqual((yield* one.callTool("count")).content, text(`${one.name}: 1`))
        assert.deepStrictEqual((yield* one.callTool("count")).content, text(`${one.name}: 2`))
        assert.deepStrictEqual((yield* other.callTool("count")).content, text(`${other.name}: 1`))
        yield* one.close
        yield* served.reports.until(`${one.name} closed`)
        assert.notInclude(served.reports.lines(), `${other.name} closed`)
      })
  },
  {
    name: "each request has a session layer of its own, which is released before the next request of the client",
    since: "2026-07-28",
    over: ["http"],
    run: ({ connect, served }) =>
      Effect.gen(function*() {
        const client = yield* connect()
        for (let i = 0; i < 2; i++) {
          assert.deepStrictEqual((yield* client.callTool("count")).content, text(`${client.name}: 1`))
        }
        const lines = served.reports.lines().filter((line) => line.startsWith(client.name))
        assert.deepStrictEqual(
          lines.slice(-4),
          ["opened", "closed", "opened", "closed"].map((what) => `${client.name} ${what}`)
        )
      })
  },
  {
    name: "a client that closes during a call interrupts the handler",
    since: "2026-07-28",
    run: ({ connect, served }) =>
      Effect.gen(function*() {
        const client = yield* connect()
        const name = key()
        const held = yield* hold(client, served, name)
        yield* client.close
        assert.strictEqual((failure(yield* Effect.exit(held.exit)) as { _tag: string })._tag, "ConnectionClosed")
        yield* served.reports.until(`${name} stopped`)
      })
  },
  {
    name: "a heartbeat of the client keeps the session with a server that answers",
    rule: "2025-11-25 basic/utilities/ping#implementation-considerations",
    until: "2025-11-25",
    run: ({ connect }) =>
      Effect.gen(function*() {
        const client = yield* connect({ heartbeat: { interval: "500 millis" } })
        const { entries } = client.transcript
        const isPing = ({ message }: (typeof entries)[number]) => "method" in message && message.method === "ping"
        yield* until(() => entries.filter(isPing).length >= 2)
        yield* client.ping()
      })
  },
  {
    name: "requests of a closed client fail",
    run: ({ connect }) =>
      Effect.gen(function*() {
        const client = yield* connect()
        yield* client.close
        assert.strictEqual((yield* Effect.flip(client.ping()))._tag, "ConnectionClosed")
        yield* client.ended
      })
  },
  {
    name: "a server that closes interrupts the handlers, and answers each open call once",
    run: ({ connect, ownServer, transport }) =>
      Effect.gen(function*() {
        const served = yield* ownServer
        const client = yield* connect({}, served)
        const name = key()
        const held = yield* hold(client, served, name)
        yield* served.close
        assert.deepInclude(
          failure(yield* Effect.exit(held.exit)) as object,
          isModern(transport) ? { _tag: "InternalError" } : { _tag: "PeerError", code: -32000 }
        )
        yield* served.reports.until(`${transport.sessions ? client.name : "?"} closed`)
        assert.include(served.reports.lines(), `${name} stopped`)
      })
  },
  {
    name: "a server that closes ends the client's conversation",
    // Over Streamable HTTP no connection ends: the server may come back.
    over: ["memory", "direct", "stdio", "sse"],
    run: ({ connect, ownServer }) =>
      Effect.gen(function*() {
        const served = yield* ownServer
        const client = yield* connect({}, served)
        yield* served.close
        yield* Effect.exit(client.ended)
        assert.strictEqual((yield* Effect.flip(client.ping()))._tag, "ConnectionClosed")
      })
  },
  {
    name: "requests to a closed server fail",
    over: ["http"],
    run: ({ connect, ownServer }) =>
      Effect.gen(function*() {
        const served = yield* ownServer
        const client = yield* connect({}, served)
        yield* served.close
        assert.strictEqual((yield* Effect.flip(client.ping()))._tag, "TransportError")
      })
  }
]
