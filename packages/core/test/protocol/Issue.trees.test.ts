/** Issues that no schema makes, or not so large: they are put together here, as `effect/ParseResult` does. */
import * as Issue from "@effect-mcp/core/protocol/Issue"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"

describe("An issue that was put together", () => {
  /** A value that counts how often anything is looked up in it. */
  const watched = (value: object) => {
    const looks = { count: 0 }
    const traps = ["get", "has", "ownKeys", "getOwnPropertyDescriptor", "getPrototypeOf"] as const
    const handler = Object.fromEntries(traps.map((trap) => [trap, (...args: ReadonlyArray<any>) => {
      looks.count++
      return (Reflect[trap] as any)(...args)
    }]))
    return { looks, value: new Proxy(value, handler) }
  }
  const refusal = new ParseResult.Type(Schema.String.ast, 1)
  const all = (...issues: ReadonlyArray<ParseResult.ParseIssue>) => issues as unknown as ParseResult.Composite["issues"]

  it("stops after ten of 400,000 places", () => {
    const { looks, value } = watched(Array.from({ length: 400_000 }, () => refusal))
    const many = new ParseResult.Composite(Schema.Array(Schema.String).ast, [], value as never)
    expect(Issue.places(many).length).toBe(10)
    expect(looks.count).toBeLessThan(50)
  })

  it("stops among 400,000 members of a union, all but the last without a place", () => {
    const nothing = new ParseResult.Type(Schema.Undefined.ast, 1)
    const { looks, value } = watched([...Array.from({ length: 400_000 }, () => nothing), refusal])
    const union = new ParseResult.Composite(Schema.UndefinedOr(Schema.String).ast, 1, value as never)
    expect(Issue.sentence(union)).toBe("Expected undefined, actual 1")
    expect(looks.count).toBeLessThan(3000)
  })

  it("stops in an issue that is 100,000 levels deep", () => {
    let deep: ParseResult.ParseIssue = refusal
    for (let i = 0; i < 100_000; i++) deep = new ParseResult.Pointer("a", {}, deep)
    expect(Issue.places(deep)).toEqual([{ path: "", message: "does not conform" }])
    const { ast } = Schema.Struct({})
    for (let i = 0; i < 100_000; i++) deep = new ParseResult.Composite(ast, {}, all(deep))
    expect(Issue.sentence(deep)).toBe("does not conform")
  })

  it("may be about a value that must not be there", () => {
    expect(Issue.sentence(new ParseResult.Unexpected(1))).toBe("is unexpected")
    expect(Issue.sentence(new ParseResult.Forbidden(Schema.String.ast, 1))).toBe("is forbidden")
  })

  it("has a path that is cut after too many keys", () => {
    const path = Array.from({ length: 100_000 }, (_, i) => i) as [number, ...Array<number>]
    expect(Issue.places(new ParseResult.Pointer(path, {}, refusal))[0]!.path.length).toBe(201)
    expect(Issue.places(new ParseResult.Pointer(Symbol("s"), {}, refusal))[0]!.path).toBe("Symbol(s)")
  })
})
