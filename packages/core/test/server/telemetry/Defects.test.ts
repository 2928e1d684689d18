import { assert, describe, it } from "@effect/vitest"
import type { Defect } from "@effect-mcp/core/Dispatcher"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import * as Prompt from "@effect-mcp/core/Prompt"
import { Effect, Layer } from "effect"
import { act, connect, logbook, result, serve, until } from "../Serving.js"

describe("The option `onDefect`", () => {
  it.effect("gets every handler that died, with its cause, after the log", () => {
    const { layer, lines } = logbook()
    const seen: Array<Defect> = []
    const onDefect = (defect: Defect) =>
      Effect.sync(() => {
        assert.lengthOf(lines, seen.length + 1)
        seen.push(defect)
      })
    const features = Layer.mergeAll(
      act(Effect.dieMessage("one")),
      McpServer.prompt(Prompt.make("p"), () => Effect.dieMessage("two")),
      MethodHandler.rootsListChanged(Effect.dieMessage("three"))
    )
    return Effect.gen(function*() {
      const peer = yield* connect(undefined, { roots: { listChanged: true } })
      yield* result(peer, "act")
      yield* peer.expectError(yield* peer.request("prompts/get", { name: "p" }))
      yield* peer.notify("notifications/roots/list_changed")
      yield* until(() => seen.length === 3)
      assert.deepStrictEqual(seen.map(({ method, subject }) => [method, subject]), [
        ["tools/call", `tool "act"`],
        ["prompts/get", `prompt "p"`],
        ["notifications/roots/list_changed", undefined]
      ])
      assert.deepStrictEqual(seen.map(({ cause }) => /one|two|three/.exec(String(cause))?.[0]), ["one", "two", "three"])
    }).pipe(Effect.scoped, Effect.provide(Layer.provide(serve(features, { onDefect }), layer)))
  })
})
