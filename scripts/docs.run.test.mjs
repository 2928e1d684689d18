// Which code of the documents is loaded, and why the rest is not.
import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { reason } from "./docs.run.mjs"

describe("code in documents", () => {
  it("is loaded when it is a module that defines something", () => {
    assert.equal(
      reason("import { Tool } from \"@effect-mcp/definition\"\nexport const Echo = Tool.make(\"echo\")"),
      undefined
    )
  })

  for (
    const [kind, code] of [
      ["mistake", "// @ts-expect-error\nTool.make(1)"],
      ["test", "import { it } from \"@effect/vitest\""],
      ["test", "import { it } from \"node:test\""],
      ["part", "declare const Server: Layer.Layer<Dispatcher>"],
      ["part", "const { McpServer } = require(\"@effect-mcp/server\")"],
      ["program", "Server.pipe(Layer.launch, NodeRuntime.runMain)"],
      ["program", "await Effect.runPromise(program)"],
      ["program", "app.listen(3000)"]
    ]
  ) it(`is not loaded when it is a ${kind}: ${code.split("\n")[0]}`, () => assert.equal(reason(code), kind))
})
