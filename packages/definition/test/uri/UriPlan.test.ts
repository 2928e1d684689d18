import * as Either from "effect/Either"
import { describe, expect, it } from "vitest"
import * as UriExpression from "../../src/uri/UriExpression.js"
import * as UriPlan from "../../src/uri/UriPlan.js"

const expression = (text: string): UriExpression.Expression => Either.getOrThrow(UriExpression.parse(text))

describe("UriPlan", () => {
  it("has one open place at most", () => {
    expect(UriPlan.make(["a/", expression("x"), "/b/", expression("+y"), "/", expression("z")]).ambiguity)
      .toBeUndefined()
    expect(UriPlan.make([expression("+x"), "/", expression("+y")]).ambiguity).toBe("two variables cannot be told apart")
  })

  it("finds from both ends what cannot be found from one", () => {
    const plan = UriPlan.make([expression("x"), "/", expression("+y"), "/", expression("z")])
    expect(UriPlan.follow(plan, "1/2/3/4/5")).toEqual([["x", "1"], ["z", "5"], ["y", "2/3/4"]])
    expect(UriPlan.follow(plan, "1/2")).toBeUndefined()
  })

  it("follows no plan that there is none of", () => {
    expect(UriPlan.follow(UriPlan.make([expression("x"), expression("y")]), "12")).toBeUndefined()
  })
})
