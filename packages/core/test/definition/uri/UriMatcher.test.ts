import * as UriTemplate from "@effect-mcp/core/UriTemplate"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { describe, expect, it } from "vitest"

const parse = (template: string): UriTemplate.UriTemplate => Either.getOrThrow(UriTemplate.parse(template))

describe("UriMatcher", () => {
  it("reads at most one variable that no character delimits", () => {
    expect(parse("a/{x}/b/{+y}/{z}").ambiguity).toBeUndefined()
    expect(parse("{+x}/{+y}").ambiguity).toBe("two variables cannot be distinguished")
  })

  it("reads from both ends a URI that it cannot read from one", () => {
    const template = parse("{x}/{+y}/{z}")
    expect(UriTemplate.match(template, "1/2/3/4/5")).toEqual(Option.some({ x: "1", z: "5", y: "2/3/4" }))
    expect(UriTemplate.match(template, "1/2")).toEqual(Option.none())
  })

  it("matches nothing with an ambiguous template", () => {
    expect(UriTemplate.match(parse("{x}{y}"), "12")).toEqual(Option.none())
  })
})
