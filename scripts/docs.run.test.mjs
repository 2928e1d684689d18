// Which code of the documents is loaded, and why the rest is not.
import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { isAsPromised, promised, reason } from "./docs.run.mjs"

describe("code in documents", () => {
  it("is loaded when it is a module that defines something", () => {
    assert.equal(
      reason("import { Tool } from \"@effect-mcp/core\"\nexport const Echo = Tool.make(\"echo\")"),
      undefined
    )
  })

  for (
    const [kind, code] of [
      ["mistake", "// @ts-expect-error\nTool.make(1)"],
      ["test", "import { it } from \"@effect/vitest\""],
      ["test", "import { it } from \"node:test\""],
      ["part", "declare const Server: Layer.Layer<Dispatcher>"],
      ["part", "const { McpServer } = require(\"@effect-mcp/core\")"],
      ["program", "Server.pipe(Layer.launch, NodeRuntime.runMain)"],
      ["program", "await Effect.runPromise(program)"],
      ["program", "app.listen(3000)"]
    ]
  ) it(`is not loaded when it is a ${kind}: ${code.split("\n")[0]}`, () => assert.equal(reason(code), kind))
})

describe("the output that a document promises", () => {
  it("stands after the sentence that names the program", () => {
    const text = [
      "`npx tsc && node client.js` prints,",
      "after a second:",
      "",
      "```text",
      "one",
      "two",
      "```",
      "",
      "`npx tsc && node server.js` prints nothing.",
      ""
    ].join("\n")
    assert.deepEqual(promised(text), [{ name: "client.js", prints: "one\ntwo" }])
  })

  it("is compared as it is, but for what stands for any text", () => {
    assert.ok(isAsPromised("[ 1.5 ]\nat …: done", "[ 1.5 ]\nat 12:00: done\n"))
    assert.ok(!isAsPromised("[ 1.5 ]", "[ 135 ]"))
    assert.ok(!isAsPromised("one …", "one\ntwo"))
  })
})
