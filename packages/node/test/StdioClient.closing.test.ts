import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import { Deferred, Effect, Exit, Fiber, Queue, Scope, Stream } from "effect"
import { randomUUID } from "node:crypto"
import { bundled, connect, node, talk, until } from "./Fixture.js"
import { pidsOf } from "./Processes.js"

const converse = (...args: Parameters<typeof connect>) => Effect.flatMap(connect(...args), talk)

/** Uses a server in a scope, and returns the processes that are left when the scope has closed. */
const leftOver = <A, E>(
  use: (mark: string) => Effect.Effect<A, E, Scope.Scope>
): Effect.Effect<ReadonlyArray<number>, E> =>
  Effect.suspend(() => {
    const mark = randomUUID()
    return Effect.map(Effect.scoped(use(mark)), () => pidsOf(mark))
  })

const receivedBy = (lines: ReadonlyArray<string>) =>
  lines.filter((line) => line.startsWith("received ")).map((line) => JSON.parse(line.slice("received ".length)).n)

const listening = () => {
  const lines: Array<string> = []
  return {
    lines,
    stderr: (line: string) =>
      Effect.sync(() => {
        lines.push(line)
      })
  }
}

const range = (count: number) => Array.from({ length: count }, (_, n) => n)

describe("Closing a StdioClient", () => {
  it.live("follows when a heartbeat finds that the server has stopped, and kills the server", () =>
    Effect.gen(function*() {
      const left = yield* leftOver((mark) =>
        Effect.gen(function*() {
          const program = yield* bundled("lifetimeServer.ts")
          const client = yield* Client.make(
            StdioClient.connector({
              command: node,
              args: [program, mark],
              stderr: "ignore",
              closeTimeouts: { grace: "50 millis", terminate: "50 millis" }
            }),
            { heartbeat: { interval: "1 second" }, versions: Version.legacy }
          )
          const calling = yield* Effect.fork(Effect.flip(client.callTool("wait")))
          yield* client.ping()
          process.kill(pidsOf(mark)[0]!, "SIGSTOP")
          assert.match((yield* Effect.flip(client.ended)).message, /The peer is gone/)
          assert.strictEqual((yield* Fiber.join(calling))._tag, "ConnectionClosed")
        })
      )
      assert.deepStrictEqual(left, [])
    }))

  it.live("does not signal a server that exits when its input ends", () =>
    Effect.gen(function*() {
      const left = yield* leftOver((mark) =>
        Effect.gen(function*() {
          const { conversation } = yield* converse("server.mjs", [mark])
          yield* conversation.request("echo")
          assert.strictEqual(pidsOf(mark).length, 1)
        })
      )
      assert.deepStrictEqual(left, [])
    }))

  it.live("reads the last lines of stderr that the server writes while it ends", () =>
    Effect.gen(function*() {
      const { lines, stderr } = listening()
      yield* Effect.scoped(connect("lastWords.mjs", [], { stderr }))
      assert.strictEqual(lines.at(-1), "the end")
    }))

  it.live("writes the messages that were sent just before", () =>
    Effect.gen(function*() {
      const { lines, stderr } = listening()
      yield* Effect.scoped(Effect.gen(function*() {
        const transport = yield* connect("server.mjs", [], { stderr })
        for (const n of range(500)) {
          transport.unsafeSend({ jsonrpc: "2.0", method: "notifications/received", params: { n } })
        }
      }))
      // Dropped lines are counted; no other line is missing.
      const lost = lines.map((line) => Number(/^\[(\d+) lines were lost\]$/.exec(line)?.[1] ?? 0))
      assert.strictEqual(receivedBy(lines).length + lost.reduce((sum, count) => sum + count, 0), 500)
      assert.strictEqual(receivedBy(lines)[0], 0)
    }))

  it.live("drains unread output, so that the server can exit by itself", () =>
    Effect.gen(function*() {
      const { lines, stderr } = listening()
      const left = yield* leftOver((mark) =>
        Effect.gen(function*() {
          const transport = yield* connect("server.mjs", [mark], { stderr })
          const flood = { jsonrpc: "2.0", id: 1, method: "flood", params: { count: 1000, size: 10_000 } } as const
          yield* transport.send(flood)
          yield* transport.send({ jsonrpc: "2.0", method: "notifications/received", params: { n: 1 } })
          yield* until(() => receivedBy(lines).length === 1)
        })
      )
      assert.deepStrictEqual(left, [])
    }))

  it.live("is not delayed by a write into a pipe that the server does not read", () =>
    Effect.gen(function*() {
      const left = yield* leftOver((mark) =>
        Effect.gen(function*() {
          const { conversation, received } = yield* converse("deaf.mjs", [mark], {
            closeTimeouts: { grace: "50 millis" }
          })
          yield* Queue.take(received)
          const text = "x".repeat(4 * 1024 * 1024)
          for (const _ of range(4)) {
            yield* Effect.fork(Effect.ignore(conversation.request("echo", { text })))
          }
          const blocked = yield* Effect.fork(conversation.notify("notifications/n", { text }))
          yield* Effect.sleep("10 millis")
          assert.isNull(blocked.unsafePoll())
        })
      )
      assert.deepStrictEqual(left, [])
    }))

  it.live("takes all steps when it is interrupted", () =>
    Effect.gen(function*() {
      const mark = randomUUID()
      const { lines, stderr } = listening()
      const fiber = yield* Effect.fork(Effect.scoped(Effect.gen(function*() {
        const { conversation } = yield* converse("server.mjs", [mark], { stderr })
        yield* conversation.notify("notifications/received", { n: 7 })
        yield* conversation.request("hang")
      })))
      yield* until(() => pidsOf(mark).length === 1)
      yield* until(() => receivedBy(lines).includes(7))
      // Twice: the second interruption must not shorten the closing.
      yield* Effect.fork(Fiber.interrupt(fiber))
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(pidsOf(mark), [])
    }))

  it.live("takes all steps when connecting is interrupted", () =>
    Effect.gen(function*() {
      const mark = randomUUID()
      for (const turns of range(20)) {
        const fiber = yield* Effect.fork(Effect.scoped(converse("server.mjs", [mark])))
        for (const _ of range(turns)) yield* Effect.yieldNow()
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(pidsOf(mark), [])
      }
    }))

  it.live("ends all processes that the server has started", () =>
    Effect.gen(function*() {
      const left = yield* leftOver((mark) =>
        Effect.gen(function*() {
          const { received } = yield* converse("tree.mjs", ["3", "exit", mark], {
            closeTimeouts: { grace: "100 millis", terminate: "100 millis" }
          })
          yield* Queue.take(received)
          assert.strictEqual(pidsOf(mark).length, 3)
        })
      )
      assert.deepStrictEqual(left, [])
    }))

  it.live("closes what was opened in an uninterruptible region", () =>
    Effect.gen(function*() {
      const left = yield* leftOver((mark) =>
        Effect.uninterruptible(Effect.gen(function*() {
          const { stderr } = listening()
          const { conversation } = yield* converse("server.mjs", [mark], { stderr })
          yield* conversation.request("echo")
        }))
      )
      assert.deepStrictEqual(left, [])
    }))

  it.live("ends `incoming` for its reader", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const transport = yield* Scope.extend(connect("deaf.mjs", [], { closeTimeouts: { grace: "50 millis" } }), scope)
      const ready = yield* Deferred.make<void>()
      const reading = yield* Effect.fork(
        Stream.runForEach(transport.incoming, () => Deferred.succeed(ready, undefined))
      )
      yield* Deferred.await(ready)
      yield* Scope.close(scope, Exit.void)
      yield* Fiber.join(reading)
      assert.isFalse(transport.unsafeSend({ jsonrpc: "2.0", method: "n" }))
      assert.strictEqual((yield* Effect.flip(transport.send({ jsonrpc: "2.0", method: "n" }))).reason, "Write")
    }))
})
