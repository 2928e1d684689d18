import { assert, describe, it } from "@effect/vitest"
import * as Feature from "@effect-mcp/core/Feature"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Tool from "@effect-mcp/core/Tool"
import { Effect, Layer } from "effect"
import * as Modern from "./modern/Modern.js"
import { error, legacy, modern, onServer, serving } from "./Tasking.js"

describe("A tool that a request does not see, on a server with tasks", () => {
  let ran = 0
  const tool = (name: string, task?: "optional" | "required") =>
    McpServer.tool(Tool.make(name, { task }), () =>
      Effect.sync(() => {
        ran++
      }))
  const tools = Layer.mergeAll(tool("plain"), tool("may", "optional"), tool("must", "required"))
  const hidden = serving(undefined, {}, {}, tools.pipe(Feature.visible(Effect.succeed(false))))
  const calls = ["plain", "may", "must"].flatMap((name) => [{ name }, { name, task: {} }] as ReadonlyArray<JsonObject>)
  const unknown = (name: unknown) => ({ code: -32602, message: `Unknown tool: ${name}` })

  it.effect("fails as an unknown tool for clients of 2025-11-25, with and without a task", () =>
    onServer(
      Effect.gen(function*() {
        const peer = yield* legacy()
        for (const call of calls) assert.deepStrictEqual(yield* error(peer, "tools/call", call), unknown(call.name))
        assert.strictEqual(ran, 0)
      }),
      hidden
    ))

  it.effect("fails as an unknown tool for clients of 2026-07-28, with and without the extension", () =>
    onServer(
      Effect.gen(function*() {
        const declaring = yield* modern()
        const plain = yield* Modern.connect
        for (const call of calls) {
          assert.deepStrictEqual(yield* error(declaring, "tools/call", call), unknown(call.name))
          assert.deepStrictEqual(yield* Modern.error(plain, "tools/call", call), unknown(call.name))
        }
        assert.strictEqual(ran, 0)
      }),
      hidden
    ))

  it.effect("is called as its definition says by who sees it", () =>
    onServer(
      Effect.gen(function*() {
        const peer = yield* legacy()
        assert.strictEqual((yield* error(peer, "tools/call", { name: "must" })).code, -32601)
        assert.strictEqual((yield* error(peer, "tools/call", { name: "plain", task: {} })).code, -32601)
        const plain = yield* Modern.connect
        assert.strictEqual((yield* Modern.error(plain, "tools/call", { name: "must" })).code, -32021)
        assert.strictEqual(ran, 0)
      }),
      serving(undefined, {}, {}, tools.pipe(Feature.visible(Effect.succeed(true))))
    ))
})
