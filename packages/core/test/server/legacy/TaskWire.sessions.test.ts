import { assert, describe, it } from "@effect/vitest"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as Transport from "@effect-mcp/core/Transport"
import { Deferred, Effect } from "effect"
import { accept, legacy, onServer, question, reached, result, serving, start, until } from "../Tasking.js"

const text = (messages: ReadonlyArray<any>) => messages.at(-1).result?.content?.[0].text

describe("A question of a task of 2025-11-25", () => {
  it.effect("waits for a session that can answer it, and so does a session that cannot", () =>
    onServer(Effect.gen(function*() {
      const able = yield* legacy()
      const { taskId } = yield* start(able, "ask")
      yield* reached(able, taskId, "input_required")
      for (const declared of [{}, { elicitation: { url: {} } }, { sampling: {}, roots: {} }]) {
        const unable = yield* legacy(undefined, declared)
        const reading = yield* unable.request("tasks/result", { taskId })
        yield* unable.expectSilence
        assert.strictEqual((yield* result(unable, "tasks/get", { taskId })).status, "input_required")
        yield* unable.notify("notifications/cancelled", { requestId: reading })
      }
      const unable = yield* legacy(undefined, {})
      const waiting = yield* unable.request("tasks/result", { taskId })
      yield* unable.expectSilence
      const reading = yield* able.request("tasks/result", { taskId })
      yield* able.send({ jsonrpc: "2.0", id: (yield* question(able)).id, result: accept } as never)
      assert.strictEqual(text(yield* until(able, reading)), "yes")
      assert.strictEqual(text(yield* until(unable, waiting)), "yes")
    })))

  it.effect("goes to each session that reads the result; the first answer counts, and the others are cancelled", () =>
    onServer(Effect.gen(function*() {
      const one = yield* legacy()
      const two = yield* legacy()
      const { taskId } = yield* start(one, "ask")
      const first = yield* one.request("tasks/result", { taskId })
      const asked = yield* question(one)
      const second = yield* two.request("tasks/result", { taskId })
      const answered = yield* question(two)
      yield* two.send({ jsonrpc: "2.0", id: answered.id, result: accept } as never)
      assert.strictEqual(text(yield* until(two, second)), "yes")
      // The answer of the other comes too late.
      yield* one.send({ jsonrpc: "2.0", id: asked.id, result: { action: "decline" } } as never)
      const messages = yield* until(one, first)
      assert.strictEqual(text(messages), "yes")
      assert.deepInclude(messages.find(({ method }) => method === "notifications/cancelled").params, {
        requestId: asked.id
      })
    })))

  it.effect("is asked by the next session of the client when the one that was asked has gone", () =>
    onServer(Effect.gen(function*() {
      const before = yield* legacy()
      const { taskId } = yield* start(before, "ask")
      yield* before.request("tasks/result", { taskId })
      yield* question(before)
      yield* before.hangUp
      const after = yield* legacy()
      assert.strictEqual((yield* result(after, "tasks/get", { taskId })).status, "input_required")
      const reading = yield* after.request("tasks/result", { taskId })
      yield* after.send({ jsonrpc: "2.0", id: (yield* question(after)).id, result: accept } as never)
      assert.strictEqual(text(yield* until(after, reading)), "yes")
    })))
})

describe("The status of a task of 2025-11-25", () => {
  it.effect("does not delay a cancellation while the client reads slowly", () =>
    Effect.gen(function*() {
      const interrupted = yield* Deferred.make<void>()
      const asking = Effect.flatMap(ServerSession, ({ listRoots }) => listRoots)
      const tool = McpServer.tool(
        Tool.make("held", { task: "optional" }),
        () =>
          Effect.onInterrupt(Effect.zipRight(Effect.fork(asking), Effect.never), () =>
            Deferred.succeed(interrupted, undefined))
      )
      yield* onServer(
        Effect.gen(function*() {
          const { accept } = yield* Dispatcher
          const [mine, theirs] = yield* Transport.memory()
          const received: Array<any> = []
          const reads = yield* Deferred.make<void>()
          const got = yield* Deferred.make<void>()
          // Does not read the status until it is told to.
          const slow: Transport.Transport = {
            ...theirs,
            unsafeSend: (message) =>
              (message as any).method === undefined && theirs.unsafeSend(message),
            send: (message) =>
              (message as any).method === "notifications/tasks/status"
                ? Effect.zipRight(Deferred.await(reads), theirs.send(message))
                : theirs.send(message)
          }
          yield* Effect.forkScoped(accept(slow))
          yield* Effect.forkScoped(Transport.run(mine, (message) => {
            received.push(message)
            if (received.at(-1)?.params?.status === "cancelled") Deferred.unsafeDone(got, Effect.void)
          }))
          const answered = (id: number): Effect.Effect<any> =>
            Effect.flatMap(Effect.yieldNow(), () => {
              const found = received.find((message) => message.id === id)
              return found === undefined ? answered(id) : Effect.succeed(found.result)
            })
          yield* mine.send(Message.request(1, "initialize", {
            protocolVersion: "2025-11-25",
            capabilities: { roots: {} },
            clientInfo: { name: "slow", version: "0.0.0" }
          }))
          yield* answered(1)
          yield* mine.send(Message.notification("notifications/initialized"))
          yield* mine.send(Message.request(2, "tools/call", { name: "held", task: {} }))
          const { taskId } = (yield* answered(2)).task as JsonObject
          yield* Effect.iterate("working", {
            while: (status) => status === "working",
            body: () => {
              const id = received.length + 1000
              return Effect.zipRight(
                Effect.orDie(mine.send(Message.request(id, "tasks/get", { taskId }))),
                Effect.map(answered(id), ({ status }) => status as string)
              )
            }
          })
          yield* mine.send(Message.request(3, "tasks/cancel", { taskId }))
          assert.strictEqual((yield* answered(3)).status, "cancelled")
          yield* Deferred.await(interrupted)
          assert.isUndefined(received.find(({ method }) => method === "notifications/tasks/status"))
          yield* Deferred.succeed(reads, undefined)
          yield* Deferred.await(got)
        }),
        serving(undefined, {}, {}, tool as never)
      )
    }))
})
