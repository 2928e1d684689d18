import * as LanguageModel from "@effect/ai/LanguageModel"
import { assert, describe, it } from "@effect/vitest"
import * as ClientToolkit from "@effect-mcp/ai/ClientToolkit"
import * as ToolList from "@effect-mcp/ai/ToolList"
import * as ClientSessionGroup from "@effect-mcp/core/ClientSessionGroup"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import { Effect } from "effect"
import { createRequire } from "node:module"
import * as ScriptedModel from "../ScriptedModel.js"

const require = createRequire(import.meta.url)

const server = (name: string, ...args: ReadonlyArray<string>) =>
  StdioClient.connector({
    command: process.execPath,
    args: [require.resolve(`@modelcontextprotocol/server-${name}/dist/index.js`), ...args],
    stderr: "ignore",
    closeTimeouts: { grace: "100 millis" }
  })

/** A group of three reference servers; the second of the file servers has the names of the first. */
const group = Effect.gen(function*() {
  const group = yield* ClientSessionGroup.make()
  yield* group.connect("everything", server("everything", "stdio"))
  yield* group.connect("memory", server("memory"))
  yield* group.connect("files", server("filesystem", "."))
  yield* group.connect("more", server("filesystem", "."))
  return group
})

describe("The tools of the reference servers", () => {
  it.scopedLive("are a tool list in every dialect, none skipped", () =>
    Effect.gen(function*() {
      const servers = yield* group
      for (const dialect of ["json-schema", "openai", "openai-strict", "anthropic", "gemini"] as const) {
        const list = yield* ToolList.make(servers, { dialect })
        assert.isAbove(list.tools.length, 40)
        assert.deepStrictEqual(list.skipped, [])
        assert.strictEqual(new Set(list.tools.map(({ name }) => name)).size, list.tools.length)
        for (const { inputSchema, name } of list.tools) {
          assert.match(name, /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/)
          assert.strictEqual(inputSchema.type, "object")
        }
        const forbidden = { gemini: /"(\$ref|\$schema|additionalProperties|oneOf|const)":/, openai: /"\$ref":/ }
        if (dialect === "gemini" || dialect === "openai") {
          assert.notMatch(JSON.stringify(list.tools.map(({ inputSchema }) => inputSchema)), forbidden[dialect])
        }
      }
    }), 60_000)

  it.scopedLive("answer a language model, each by its own server", () =>
    Effect.gen(function*() {
      const list = yield* ToolList.make(yield* group, { dialect: "openai-strict" })
      const image = yield* list.call("get-tiny-image", {})
      assert.include(image.parts.map(({ type }) => type), "image")
      const model = ScriptedModel.make([
        ScriptedModel.call("1", "get-sum", { a: 2, b: 3 }),
        ScriptedModel.call("2", "more_read_text_file", { path: "package.json", head: 1, tail: null }),
        ScriptedModel.call("3", "more_read_text_file", { path: "/etc/passwd", head: null, tail: null }),
        ScriptedModel.call("4", "get-sum", { a: "two" })
      ])
      const toolkit = yield* ClientToolkit.fromList(list)
      const { toolResults } = yield* Effect.provide(
        LanguageModel.generateText({ prompt: "Add two and three", toolkit }),
        model.layer
      )
      assert.deepStrictEqual(toolResults.map(({ isFailure }) => isFailure), [false, false, true, true])
      assert.include(JSON.stringify(toolResults[0]?.encodedResult), "5")
      assert.include(JSON.stringify(toolResults[1]?.encodedResult), "{")
      assert.include(JSON.stringify(toolResults[2]?.encodedResult), "denied")
    }), 60_000)
})
