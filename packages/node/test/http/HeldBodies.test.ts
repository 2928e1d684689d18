/**
 * Clients that send half a body and then nothing, over real sockets, in all shells: what the endpoint holds of their bodies does not
 * grow with their number, and ends.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { HttpOptions } from "@effect-mcp/core/WebHandler"
import { Context, Effect, type Scope, TestClock } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { act, ask, dial, info, initialize, request, until } from "../HttpFixture.js"
import { shellsAndMounts } from "../Shells.js"

const HALF = 300_000

const collect = (() => {
  setFlagsFromString("--expose-gc")
  return runInNewContext("gc") as () => void
})()

const arrays = () => {
  collect()
  return process.memoryUsage().arrayBuffers
}

class Sender extends Context.Tag("test/HeldBodies/Sender")<Sender, string | undefined>() {}

/** The users are what the header `Authorization` says; a client without the header is let in, too. */
const authenticator = Authenticator.make(Sender, {
  id: (id: string | undefined) => id,
  http: ({ headers }) => Effect.succeed(headers.authorization)
})

/** A client that sends half a body, in the given form, and then nothing. */
const half = (form: "chunked" | "of a declared length") => (port: number) =>
  Effect.tap(dial(port), ({ socket }) =>
    Effect.async<void>((resume) => {
      socket.write(
        request("", form === "chunked" ? { "transfer-encoding": "chunked" } : { "content-length": `${2 * HALF}` })
      )
      if (form === "chunked") socket.write(`${(2 * HALF).toString(16)}\r\n`)
      socket.write("x".repeat(HALF), () => resume(Effect.void))
    }))

/** The time that the server needs to read what was sent. */
const settled = Effect.suspend(() => {
  let turns = 0
  return until(() => ++turns === 300)
})

for (const [shell, start] of Object.entries(shellsAndMounts)) {
  describe(`bodies that are sent in part, on ${shell}`, () => {
    const run = <A, E>(limits: HttpOptions["limits"], test: (port: number) => Effect.Effect<A, E, Scope.Scope>) =>
      Effect.flatMap(start({ limits }), test).pipe(
        Effect.provide(McpServer.layer(info, act(Effect.void), { authenticator })),
        Effect.scoped
      )

    for (const form of ["chunked", "of a declared length"] as const) {
      it.scoped(`take no more memory when there are four times as many of them, ${form}`, () =>
        run({ maxIncompleteBytes: 4_000_000 }, (port) =>
          Effect.gen(function*() {
            const before = arrays()
            const few = yield* Effect.replicateEffect(half(form)(port), 20)
            yield* settled
            const heldByFew = arrays() - before
            const more = yield* Effect.replicateEffect(half(form)(port), 60)
            // The oldest are refused, and the newest are not.
            yield* until(() => few.every(({ closed }) => closed()))
            yield* settled
            yield* until(() => arrays() - before <= heldByFew + 2_000_000)
            assert.match(few[0]!.text(), /^HTTP\/1\.1 503 .*try again/s)
            assert.isFalse(more.at(-1)!.closed())
            assert.strictEqual((yield* ask(`http://127.0.0.1:${port}/mcp`, initialize())).status, 200)
          })))
    }

    it.scoped("take no space from the uploads of users, nor from requests in a session, however many there are", () =>
      run({ maxIncompleteBytes: 2_000_000 }, (port) =>
        Effect.gen(function*() {
          const url = `http://127.0.0.1:${port}/mcp`
          const { headers } = yield* ask(url, initialize())
          const upload = (more: Record<string, string>) =>
            Effect.map(dial(port), (client) => {
              const body = " ".repeat(HALF) + JSON.stringify(initialize())
              const text = request(body, more)
              client.socket.write(text.slice(0, -10))
              return { ...client, rest: text.slice(-10) }
            })
          const session = `${headers["mcp-session-id"]}`
          const uploads = [yield* upload({ authorization: "ada" }), yield* upload({ "mcp-session-id": session })]
          yield* settled
          yield* Effect.replicateEffect(half("chunked")(port), 30)
          yield* settled
          for (const { rest, socket, text } of uploads) {
            assert.strictEqual(text(), "")
            socket.write(rest)
            // The body is read: it is an `initialize` that names a session, or a new one.
            yield* until(() => text() !== "")
            assert.notMatch(text(), /^HTTP\/1\.1 503/)
          }
        })))

    it.scoped("are given up after `bodyTimeout`, at the latest after twice that time", () =>
      run({ bodyTimeout: "10 seconds" }, (port) =>
        Effect.gen(function*() {
          const late = [yield* half("chunked")(port), yield* half("of a declared length")(port)]
          const silent = yield* dial(port)
          silent.socket.write(request("", { "content-length": "10" }))
          yield* settled
          yield* TestClock.adjust("15 seconds")
          const inTime = yield* dial(port)
          const body = JSON.stringify(initialize())
          inTime.socket.write(request(body).slice(0, -5))
          yield* settled
          yield* TestClock.adjust("6 seconds")
          for (const { closed, text } of [...late, silent]) {
            yield* until(closed)
            assert.match(text(), /^HTTP\/1\.1 408 /)
          }
          inTime.socket.write(body.slice(-5))
          yield* until(() => inTime.text().startsWith("HTTP/1.1 200"))
        })))

    it.scoped("cost nothing once their clients have disconnected", () =>
      run({ maxIncompleteBytes: 1_500_000 }, (port) =>
        Effect.gen(function*() {
          const kept = yield* half("chunked")(port)
          for (let round = 0; round < 5; round++) {
            const { socket } = yield* half("chunked")(port)
            yield* settled
            socket.resetAndDestroy()
            yield* settled
          }
          assert.strictEqual(kept.text(), "")
        })))
  })
}
