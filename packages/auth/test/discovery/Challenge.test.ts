import { assert, describe, it } from "@effect/vitest"
import * as Challenge from "../../src/discovery/Challenge.js"

const plain = (header: string) =>
  Challenge.parse(header).map(({ parameters, scheme }) => [scheme, Object.fromEntries(parameters)])

describe("WWW-Authenticate", () => {
  const cases: ReadonlyArray<readonly [header: string, challenges: ReadonlyArray<readonly [string, object]>]> = [
    ["", []],
    ["Bearer", [["bearer", {}]]],
    ["bearer error=\"invalid_token\"", [["bearer", { error: "invalid_token" }]]],
    ["Bearer realm=\"a, b\", scope=\"x y\"", [["bearer", { realm: "a, b", scope: "x y" }]]],
    ["Bearer realm=\"say \\\"hi\\\" \\\\\"", [["bearer", { realm: "say \"hi\" \\" }]]],
    ["Bearer scope=a , error=b", [["bearer", { scope: "a", error: "b" }]]],
    ["Bearer SCOPE=\"a\", scope=\"b\"", [["bearer", { scope: "a" }]]],
    ["Basic realm=\"x\", Bearer scope=\"a\"", [["basic", { realm: "x" }], ["bearer", { scope: "a" }]]],
    ["Negotiate YWJj==, Bearer scope=\"a\"", [["negotiate", {}], ["bearer", { scope: "a" }]]],
    ["Negotiate, DPoP algs=\"ES256\", Bearer", [["negotiate", {}], ["dpop", { algs: "ES256" }], ["bearer", {}]]],
    [", ,Bearer  scope = \"a\",,error=\"b\" ,", [["bearer", { scope: "a", error: "b" }]]],
    ["Basic realm=\"Bearer scope=\\\"evil\\\"\"", [["basic", { realm: "Bearer scope=\"evil\"" }]]],
    ["Bearer resource_metadata=https://a.test/x", [["bearer", { resource_metadata: "https://a.test/x" }]]],
    ["Bearer scope=\"unterminated", [["bearer", {}]]],
    ["scope=\"a\", Bearer", []],
    ["Bearer __proto__=\"a\"", [["bearer", JSON.parse("{\"__proto__\":\"a\"}") as object]]]
  ]
  for (const [header, challenges] of cases) {
    it(`is read: ${header}`, () => {
      assert.deepStrictEqual<unknown>(plain(header), challenges)
    })
  }

  it("MUST be read for the metadata, the scopes and the error that the server names", () => {
    const header =
      "Basic realm=\"x\", Bearer error=\"insufficient_scope\", error_description=\"More\", scope=\"a b a\", " +
      "resource_metadata=\"https://a.test/prm\""
    assert.deepStrictEqual(Challenge.wanted(header), {
      resourceMetadata: "https://a.test/prm",
      scopes: ["a", "b"],
      error: "insufficient_scope",
      description: "More"
    })
    const nothing = { resourceMetadata: undefined, scopes: undefined, error: undefined, description: undefined }
    assert.deepStrictEqual(Challenge.wanted(undefined), nothing)
    assert.deepStrictEqual(Challenge.wanted("Basic scope=\"a\""), nothing)
  })

  it("is read in little time, whatever a server writes there", () => {
    for (const part of ["a", "a=", "\"", "\\", ", ", "a=\"", "Bearer ", "=", "a ", "Bearer a=b,"]) {
      Challenge.parse(part.repeat(100_000))
      Challenge.parse(`Bearer ${part.repeat(100_000)}`)
    }
  })

  it("gives scopes that can be sent back, each of them once", () => {
    assert.deepStrictEqual(Challenge.scopesOf("a  b\" c\\ d\u0001 é  a"), ["a"])
    assert.lengthOf(Challenge.scopesOf(Array.from({ length: 1000 }, (_, n) => `s${n % 500}`).join(" ")), 500)
  })
})
