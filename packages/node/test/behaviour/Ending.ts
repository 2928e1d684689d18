/**
 * Behaviours: what belongs to one client, and what becomes of everything when one of the two ends.
 */
import { assert } from "@effect/vitest"
import { Cause, Effect, Exit, Option } from "effect"
import type { Behaviour } from "./Behaviour.js"
import { holding, key, text } from "./Behaviour.js"

/** With what it failed. */
const failure = <A, E>(exit: Exit.Exit<A, E>): E =>
  Option.getOrThrow(Cause.failureOption(Exit.isFailure(exit) ? exit.cause : Cause.empty))

export const behaviours: ReadonlyArray<Behaviour> = [
  {
    name: "keep for each client what is its own, from its handshake on",
    run: ({ served, visit }) =>
      Effect.gen(function*() {
        const one = yield* visit()
        const other = yield* visit()
        assert.deepStrictEqual((yield* one.callTool("count")).content, text(`${one.name}: 1`))
        assert.deepStrictEqual((yield* one.callTool("count")).content, text(`${one.name}: 2`))
        assert.deepStrictEqual((yield* other.callTool("count")).content, text(`${other.name}: 1`))
        yield* served.told.until(`${other.name} came`)
        assert.notInclude(served.told.lines(), `${one.name} went`)
      })
  },
  {
    name: "give up what was kept for a client when it has gone, and nothing of another's",
    run: ({ served, visit }) =>
      Effect.gen(function*() {
        const one = yield* visit()
        const other = yield* visit()
        yield* one.close
        yield* served.told.until(`${one.name} went`)
        assert.notInclude(served.told.lines(), `${other.name} went`)
        assert.deepStrictEqual((yield* other.callTool("count")).content, text(`${other.name}: 1`))
      })
  },
  {
    name: "stop the handlers of a client that closes in the middle of a call, before what was kept for it goes",
    run: ({ served, visit }) =>
      Effect.gen(function*() {
        const client = yield* visit()
        const name = key()
        const held = yield* holding(client, served, name)
        yield* client.close
        assert.strictEqual((failure(yield* Effect.exit(held.exit)) as { _tag: string })._tag, "ConnectionClosed")
        yield* served.told.until(`${client.name} went`)
        const lines = served.told.lines().filter((line) => line.includes(name) || line.includes(client.name))
        assert.deepStrictEqual(lines, [
          `${client.name} came`,
          `${name} began`,
          `${name} stopped`,
          `${client.name} went`
        ])
      })
  },
  {
    name: "fail everything that is asked of a client that was closed",
    run: ({ visit }) =>
      Effect.gen(function*() {
        const client = yield* visit()
        yield* client.close
        assert.strictEqual((yield* Effect.flip(client.ping()))._tag, "ConnectionClosed")
        yield* client.ended
      })
  },
  {
    name: "answer the calls of its clients, once, when the server closes, and stop their handlers",
    run: ({ alone, visit }) =>
      Effect.gen(function*() {
        const served = yield* alone
        const client = yield* visit({}, served)
        const name = key()
        const held = yield* holding(client, served, name)
        yield* served.close
        assert.deepInclude(failure(yield* Effect.exit(held.exit)) as object, { _tag: "PeerError", code: -32000 })
        yield* served.told.until(`${client.name} went`)
        assert.include(served.told.lines(), `${name} stopped`)
      })
  },
  {
    name: "end the client's conversation when the server closes",
    // Over Streamable HTTP there is none that could end: the server may be there again.
    over: ["memory", "direct", "stdio", "sse"],
    run: ({ alone, visit }) =>
      Effect.gen(function*() {
        const served = yield* alone
        const client = yield* visit({}, served)
        yield* served.close
        yield* Effect.exit(client.ended)
        assert.strictEqual((yield* Effect.flip(client.ping()))._tag, "ConnectionClosed")
      })
  },
  {
    name: "fail what is asked of a server that has closed",
    over: ["http"],
    run: ({ alone, visit }) =>
      Effect.gen(function*() {
        const served = yield* alone
        const client = yield* visit({}, served)
        yield* served.close
        assert.strictEqual((yield* Effect.flip(client.ping()))._tag, "TransportError")
      })
  }
]
