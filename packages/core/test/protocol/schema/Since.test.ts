import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { assert, describe, expect, it } from "vitest"
import * as IssueText from "../../../src/protocol/schema/IssueText.js"
import * as SchemaTree from "../../../src/protocol/schema/SchemaTree.js"
import * as Since from "../../../src/protocol/schema/Since.js"

const field = (property: Schema.PropertySignature.All): SchemaTree.PropertySignature => {
  const tree = SchemaTree.of(Schema.Struct({ a: property }))
  assert(SchemaTree.isTypeLiteral(tree))
  return tree.propertySignatures[0]!
}

const text = Schema.optional(Schema.String)

describe("Since", () => {
  it.each([
    [Since.since("2025-06-18", text), [false, false, true, true, true]],
    [Since.until("2025-06-18", text), [true, true, true, false, false]],
    [Since.until("2025-11-25", Since.since("2025-03-26", text)), [false, true, true, true, false]],
    [text, [true, true, true, true, true]]
  ])("a field exists in the revisions of its annotations (%#)", (property, known) => {
    const versions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
    expect(versions.map((version) => Since.isKnown(field(property), version))).toEqual(known)
  })

  it("an annotation keeps the field's type", () => {
    const property = field(Since.since("2025-06-18", text))
    expect(property.isOptional).toBe(true)
    expect(IssueText.expected(property.type, 100)).toBe("string | undefined")
  })

  it("knows the values that a revision allows", () => {
    const property = field(Since.limitedUntil("2025-06-18", (value) => value === "x", text))
    expect(Since.knownValuesFor(property, "2025-06-18")?.("x")).toBe(true)
    expect(Since.knownValuesFor(property, "2025-06-18")?.("y")).toBe(false)
    expect(Since.knownValuesFor(property, "2025-11-25")).toBeUndefined()
  })

  it.each(
    [
      [{}, [true, true, true]],
      [{ until: "2025-06-18" }, [true, true, false]],
      [{ since: "2025-06-18" }, [false, true, true]],
      [{ since: "2025-06-18", until: "2025-06-18" }, [false, true, false]]
    ] as const
  )("knows in which revisions a value is rewritten: %j", (revisions, narrowed) => {
    const property = field(Since.rewritten(revisions, (value) => `${value}!`, text))
    expect(
      ["2024-11-05", "2025-06-18", "2026-07-28"].map((version) => Since.rewriteFor(property, version) !== undefined)
    ).toEqual(narrowed)
  })

  it("knows the replacement of a union member", () => {
    const member = Since.replacedBefore("2025-03-26", Schema.Struct({ a: Schema.String }), ({ a }) => a)
    expect(Option.map(Since.replacement(SchemaTree.of(member)), (otherwise) => otherwise({ a: "x" }))).toEqual(
      Option.some("x")
    )
    expect(Since.replacement(SchemaTree.of(Schema.String))).toEqual(Option.none())
  })
})
