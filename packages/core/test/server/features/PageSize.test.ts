import { assert, describe, it } from "@effect/vitest"
import * as LineFraming from "@effect-mcp/core/LineFraming"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Prompt from "@effect-mcp/core/Prompt"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import * as Tool from "@effect-mcp/core/Tool"
import { Effect, Layer, Logger } from "effect"
import { connect, serve } from "../Serving.js"

/** A character of three bytes, half a million times. */
const long = "語".repeat(500_000)

const COUNT = 25

const numbers = Array.from({ length: COUNT }, (_, i) => String(i).padStart(2, "0"))

const merged = <A>(layers: ReadonlyArray<Layer.Layer<never, never, A>>) =>
  layers.reduce((all, one) => Layer.merge(all, one))

const lists = {
  tools: merged(numbers.map((n) => McpServer.tool(Tool.make(`t${n}`, { description: long }), () => Effect.void))),
  prompts: merged(
    numbers.map((n) => McpServer.prompt(Prompt.make(`p${n}`, { description: long }), () => Effect.succeed("a")))
  ),
  resources: merged(
    numbers.map((n) =>
      McpServer.resource(Resource.make(`r${n}`, { uri: `notes://r/${n}`, description: long }), Effect.succeed("a"))
    )
  ),
  resourceTemplates: merged(numbers.map((n) =>
    McpServer.resourceTemplate(
      ResourceTemplate.make(`x${n}`, { description: long })`notes://x/${ResourceTemplate.param(`id${n}`)}`,
      () => Effect.succeed("a")
    )
  ))
}

const methods = {
  tools: "tools/list",
  prompts: "prompts/list",
  resources: "resources/list",
  resourceTemplates: "resources/templates/list"
}

describe("A list with long entries", () => {
  for (const [member, features] of Object.entries(lists)) {
    const method = methods[member as keyof typeof methods]
    it.scoped(`has pages of ${method} that each client can read, and all entries once`, () =>
      Effect.gen(function*() {
        const peer = yield* connect()
        let found: ReadonlyArray<string> = []
        let cursor: string | undefined
        do {
          const result = yield* Effect.flatMap(
            peer.request(method, cursor === undefined ? undefined : { cursor }),
            peer.expectResult
          )
          assert.isBelow(new TextEncoder().encode(JSON.stringify(result)).length, LineFraming.MAX_LINE_BYTES)
          found = [
            ...found,
            ...(result[member] as ReadonlyArray<{ readonly name: string }>).map(({ name }) => name.slice(1))
          ]
          cursor = result.nextCursor as string | undefined
        } while (cursor !== undefined)
        assert.deepStrictEqual(found, numbers)
      }).pipe(Effect.provide(serve(features))))
  }

  it.scoped("leaves out and logs once an entry that no page has room for, which clients can still call", () => {
    const lines: Array<string> = []
    const logger = Logger.make(({ message }) => void lines.push(String(message)))
    const tools = Layer.merge(
      McpServer.tool(Tool.make("huge", { description: long.repeat(5) }), () => Effect.succeed("called")),
      McpServer.tool(Tool.make("small"), () => Effect.void)
    )
    return Effect.gen(function*() {
      const peer = yield* connect()
      for (let i = 0; i < 2; i++) {
        const { tools } = yield* Effect.flatMap(peer.request("tools/list"), peer.expectResult)
        assert.deepStrictEqual((tools as ReadonlyArray<{ readonly name: string }>).map(({ name }) => name), ["small"])
      }
      const { content } = yield* Effect.flatMap(peer.request("tools/call", { name: "huge" }), peer.expectResult)
      assert.deepStrictEqual(content, [{ type: "text", text: "called" }])
      assert.deepStrictEqual(lines.filter((line) => line.includes("leaves out")), [
        `The list of tools leaves out "huge": a page has at most 2097152 characters. Shorten the description or the schema`
      ])
    }).pipe(Effect.provide(serve(tools)), Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
  })
})
