import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as InProcess from "@effect-mcp/core/InProcess"
import { Effect } from "effect"
import { Server } from "../src/server.js"

const call = (city: string) =>
  Effect.scoped(
    Effect.flatMap(Client.make(InProcess.fromLayer(Server)), (client) => client.callTool("forecast", { city }))
  )

describe("The tool forecast", () => {
  it.effect("knows Oslo", () =>
    Effect.gen(function*() {
      const { structuredContent } = yield* call("Oslo")
      assert.deepStrictEqual(structuredContent, { celsius: -4 })
    }))

  it.effect("tells a model which cities it knows", () =>
    Effect.gen(function*() {
      const { content, isError } = yield* call("Atlantis")
      assert.isTrue(isError)
      assert.include(JSON.stringify(content), "There is no forecast for Atlantis")
    }))
})
