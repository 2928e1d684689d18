import { assert, describe, it } from "@effect/vitest"
import * as HandlerName from "../../../src/server/runtime/HandlerName.js"

describe("HandlerName", () => {
  const requests: ReadonlyArray<
    readonly [subject: string, method: string, params: Parameters<typeof HandlerName.of>[0]["params"]]
  > = [
    [`tool "search"`, "tools/call", { name: "search" }],
    [`prompt "re\\nview"`, "prompts/get", { name: "re\nview" }],
    [`resource "file:///a"`, "resources/read", { uri: "file:///a" }],
    [`the completion of "lang" of prompt "review"`, "completion/complete", {
      ref: { type: "ref/prompt", name: "review" },
      argument: { name: "lang", value: "" }
    }],
    [`the completion of "id" of resource template "note:///{id}"`, "completion/complete", {
      ref: { type: "ref/resource", uri: "note:///{id}" },
      argument: { name: "id", value: "" }
    }],
    [`"tools/list"`, "tools/list", undefined],
    [`tool ""`, "tools/call", { name: { toString: 1 } }]
  ]
  for (const [subject, method, params] of requests) {
    it(`is ${subject} for ${method}`, () => {
      assert.strictEqual(HandlerName.of({ method, params }), subject)
    })
  }

  it("repeats a name, but no more of it than a person would read", () => {
    assert.strictEqual(HandlerName.quotable("tools/list"), "tools/list")
    assert.strictEqual(HandlerName.quotable("x".repeat(128)), "x".repeat(128))
    assert.strictEqual(HandlerName.quotable("x".repeat(129)), `${"x".repeat(128)}…`)
  })
})
