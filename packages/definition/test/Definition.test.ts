import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { expectTypeOf } from "vitest"
import * as Definition from "../src/Definition.js"
import * as Tool from "../src/Tool.js"

const Add = Tool.make("add", { parameters: { a: Schema.Number } })
const Now = Tool.make("now", { success: Schema.Date })
const Rename = Tool.make("rename", { failure: Schema.String })

describe("Definition", () => {
  it("holds its tools by name, in the order in which they are promised", () => {
    const promised = Definition.make(Now, Add)
    assert.deepStrictEqual([...promised.tools.keys()], ["now", "add"])
    assert.strictEqual(promised.tools.get("add"), Add)
    assert.isTrue(Definition.isDefinition(promised))
    assert.isFalse(Definition.isDefinition({ tools: promised.tools }))
    assert.strictEqual(Definition.make().tools.size, 0)
  })

  it("knows each of its tools by type", () => {
    const promised = Definition.make(Now, Add)
    expectTypeOf<Definition.Definition.Tools<typeof promised>>().toEqualTypeOf<typeof Now | typeof Add>()
    assert.isTrue(promised.tools.has("now"))
  })

  it("refuses two tools of one name, and names it", () => {
    assert.throws(
      () => Definition.make(Add, Now, Tool.make("add", {})),
      `Definition: two tools are named "add"`
    )
  })

  it("merges promises, and refuses the same promise twice", () => {
    const merged = Definition.merge(Definition.make(Add), Definition.make(Now, Rename))
    assert.deepStrictEqual([...merged.tools.values()], [Add, Now, Rename])
    expectTypeOf<Definition.Definition.Tools<typeof merged>>().toEqualTypeOf<typeof Add | typeof Now | typeof Rename>()
    assert.throws(
      () => Definition.merge(Definition.make(Add), Definition.make(Now, Add)),
      `Definition: two tools are named "add"`
    )
    assert.strictEqual(Definition.merge().tools.size, 0)
  })
})
