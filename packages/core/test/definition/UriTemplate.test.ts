import * as UriTemplate from "@effect-mcp/core/UriTemplate"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as Option from "effect/Option"
import { describe, expect, it } from "vitest"

const seed = 6570

/** How many times as many templates `npm run test:long` takes. */
const times = process.env.EFFECT_MCP_TEST_LONG === undefined ? 1 : 5

const of = (template: string): UriTemplate.UriTemplate => Either.getOrThrow(UriTemplate.parse(template))

const valuesIn = (template: string, uri: string) => Option.getOrUndefined(UriTemplate.match(of(template), uri))

describe("UriTemplate.parse", () => {
  it("lists the variables in the order of the template", () => {
    expect(of("notes://{owner}/{+path}{?tags*,page}").variables).toEqual([
      { name: "owner", isList: false, isOptional: false },
      { name: "path", isList: false, isOptional: false },
      { name: "tags", isList: true, isOptional: true },
      { name: "page", isList: false, isOptional: true }
    ])
  })

  it.each([
    ["{", "without"],
    ["}", "without"],
    ["a{b}}", "without"],
    ["{{a}}", "is not a variable"],
    ["{}", "is not a variable"],
    ["{a b}", "is not a variable"],
    ["{!a}", "is not a variable"],
    ["{=a}", "is not a variable"],
    ["{|a}", "is not a variable"],
    ["{a,}", "is not a variable"],
    ["{a:0}", "is not a variable"],
    ["{a:12345}", "is not a variable"],
    ["{a:3*}", "is not a variable"],
    ["{a..b}", "is not a variable"],
    ["{%zz}", "is not a variable"],
    ["x".repeat(UriTemplate.limits.template + 1), "longer"],
    ["{a}/".repeat(UriTemplate.limits.variables + 1), "more than"]
  ])("refuses %j", (template, why) => {
    expect(Either.getOrThrow(Either.flip(UriTemplate.parse(template)))).toContain(why)
  })

  it.each([
    ["{a}{b}", "two variables"],
    ["{a}x{b}", "two variables"],
    ["{+a,b}", "two variables"],
    ["{+a}/{+b}", "two variables"],
    ["{+a}.{b}", "two variables"],
    ["{.a,b}", "two variables"],
    ["{a}/x/{a}", "twice"],
    ["{a:3}", "prefix modifier"],
    ["{+a*}", "values of a list"],
    ["{a,b*}", "values of a list"],
    ["x{?a}/{b}", "the query must be the last part"],
    ["x{?a}{&b}", "the query must be the last part"],
    ["{+a}{?b}", "query"],
    ["x?y=1{?a}", "query"]
  ])("%j can be expanded but not matched", (template, why) => {
    const ambiguous = of(template)
    expect(ambiguous.ambiguity).toContain(why)
    expect(UriTemplate.match(ambiguous, UriTemplate.expand(ambiguous, { a: "x", b: "y" }))).toEqual(Option.none())
  })
})

describe("UriTemplate.match", () => {
  it.each<[template: string, uri: string, values: object]>([
    ["notes://{id}", "notes://1", { id: "1" }],
    ["notes://{id}", "notes://", { id: "" }],
    ["notes://{id}", "notes://My%20File.txt", { id: "My File.txt" }],
    ["notes://{id}", "notes://a%252Fb", { id: "a%2Fb" }],
    ["notes://{id}", "notes://ada@example.com", { id: "ada@example.com" }],
    ["notes://{id}.md", "notes://a.md.md", { id: "a.md" }],
    ["{scheme}://x", "file://x", { scheme: "file" }],
    ["a/{x}/{y}/c", "a/1/2/c", { x: "1", y: "2" }],
    ["a/{x,y}", "a/1,2", { x: "1", y: "2" }],
    ["f:///{+path}/{name}.md", "f:///a/b.c/d.md", { path: "a/b.c", name: "d" }],
    ["f:///{+path}", "f:///a/b?c#d", { path: "a/b?c#d" }],
    ["f://{root}{/path*}", "f://r/a/b%2Fc", { root: "r", path: ["a", "b/c"] }],
    ["f://{root}{/path*}", "f://r", { root: "r", path: [] }],
    ["{+base}/{id}/x", "http://h/p/7/x", { base: "http://h/p", id: "7" }],
    ["l:{list*}", "l:a,b%2Cc", { list: ["a", "b,c"] }],
    ["m{;x,y}/z", "m;y=2;x=1/z", { x: "1", y: "2" }],
    ["m{;x,y}/z", "m/z", {}],
    ["m{;x}", "m;x", { x: "" }],
    ["p://x{?page,limit}", "p://x", {}],
    ["p://x{?page,limit}", "p://x?limit=1&page=2", { limit: "1", page: "2" }],
    ["p://x{?page,limit}", "p://x?utm=1&page=2", { page: "2" }],
    ["p://x{?q}", "p://x?q=a%3Db=c", { q: "a=b=c" }],
    ["p://x{?tags*}", "p://x?tags=a&tags=b", { tags: ["a", "b"] }],
    ["p://x?v=1{&q}", "p://x?v=1&q=2", { q: "2" }],
    ["p://x?v=1{&q}", "p://x?v=1", {}],
    ["x{#f}", "x#a/b", { f: "a/b" }],
    ["x{__proto__}", "xy", JSON.parse("{\"__proto__\":\"y\"}") as object]
  ])("%s finds the values in %s", (template, uri, values) => {
    expect(Object.entries(valuesIn(template, uri) ?? {}).sort()).toEqual(Object.entries(values).sort())
    expect(valuesIn(template, uri)).toBeDefined()
  })

  it.each([
    ["notes://{id}", "notes://a/b"],
    ["notes://{id}", "notes://a?b"],
    ["notes://{id}", "notes://a#b"],
    ["notes://{id}", "notes:/a"],
    ["notes://{id}", "other://a"],
    ["notes://{id}", "notes://%zz"],
    ["notes://{id}", "notes://%ff"],
    ["notes://{id}/x", "notes:///x/x"],
    ["a/{x}/b", "a/b"],
    ["ab{x}ba", "aba"],
    ["p://x{?q}", "p://x?q=1&q=2"],
    ["p://x{?q}", "p://x?q=1#f"],
    ["m{;x}", "mx"],
    ["f://r{/path*}", "f://rx"],
    ["x", "x/"],
    ["x", ""]
  ])("%s finds nothing in %s", (template, uri) => {
    expect(valuesIn(template, uri)).toBeUndefined()
  })

  it("does not match a URI that is longer than the limit", () => {
    expect(valuesIn("x{+a}", "x".repeat(UriTemplate.limits.uri))).toEqual({ a: "x".repeat(UriTemplate.limits.uri - 1) })
    expect(valuesIn("x{+a}", "x".repeat(UriTemplate.limits.uri + 1))).toBeUndefined()
  })

  it("matches the longest URI in linear time, whatever it repeats", () => {
    const templates = [
      "{a}",
      "{a,b,c}",
      "{+a}",
      "{a*}",
      "x{/a*}",
      "{a}{/b*}",
      "{;a}",
      "{;a*}/x",
      "{?a*}",
      "x?{&a*}",
      "{#a}",
      "{.a}",
      "{a}/{b}/{c}/{+d}/{e}/{f}",
      `${"{a}/".replace("a", "a0")}${Array.from({ length: 200 }, (_, i) => `{b${i}}/`).join("")}`
    ].map(of)
    const begin = process.cpuUsage()
    for (const unit of ["a,", "%2C", "/", "a", ",", ";", ";a=", "&a=", "?", "%", "=", "a/", "{/a*}"]) {
      const uri = unit.repeat(Math.floor(UriTemplate.limits.uri / unit.length))
      for (const template of templates) UriTemplate.match(template, uri)
    }
    expect(process.cpuUsage(begin).user).toBeLessThan(10_000_000)
  })
})

interface Example {
  readonly template: string
  readonly values: Readonly<Record<string, NonNullable<UriTemplate.Values[string]>>>
}

/** Templates of every operator and modifier, with values for their variables. */
const examples: FastCheck.Arbitrary<Example> = FastCheck.array(
  FastCheck.record({
    literal: FastCheck.constantFrom("", "/", "a", "-", "://", ".x", "/x/", "é", ":", "a/b", "(", "%20", "&k=v"),
    operator: FastCheck.constantFrom("", "", "", "+", "#", ".", "/", "/", ";", "?", "&"),
    modifiers: FastCheck.array(FastCheck.constantFrom("", "", "", "*", ":3"), { minLength: 1, maxLength: 3 }),
    texts: FastCheck.array(
      FastCheck.oneof(
        FastCheck.fullUnicodeString({ maxLength: 6 }),
        FastCheck.constantFrom("a/b", "a,b", "..", "%", "&=;")
      )
    )
  }),
  { maxLength: 4 }
).map((pieces) => {
  const values: Record<string, NonNullable<UriTemplate.Values[string]>> = {}
  const template = pieces.map(({ literal, modifiers, operator, texts }, i) => {
    const names = modifiers.map((modifier, j) => {
      const name = `v${i}_${j}`
      const reserved = operator === "+" || operator === "#"
      const usable = texts.filter((text) => !(reserved && /%[0-9A-Fa-f]{2}/.test(text)))
      const list = operator === "" ? usable.filter((text) => text !== "") : usable
      if (modifier !== "*") values[name] = usable[j] ?? ""
      // An empty list expands to nothing, as an undefined variable does.
      else if (list.length > 0 || !"?&;".includes(operator) || operator === "") values[name] = list
      return name + modifier
    })
    return `${literal}{${operator}${names.join(",")}}`
  }).join("")
  return { template, values }
})

describe(`a template and a URI (seed ${seed})`, () => {
  it("match what they expanded to", () => {
    let matched = 0
    FastCheck.assert(
      FastCheck.property(examples, ({ template, values }) => {
        const parsed = of(template)
        const uri = UriTemplate.expand(parsed, values)
        const again = Option.getOrUndefined(UriTemplate.match(parsed, uri))
        if (parsed.ambiguity === undefined) {
          matched++
          expect(again, `${template} ${uri}`).toEqual(values)
        } else {
          expect(again).toBeUndefined()
        }
      }),
      { seed, numRuns: times * 4000 }
    )
    expect(matched).toBeGreaterThan(times * 1000)
  })

  it("never throw, and match only with values that expand to a URI of the template", () => {
    FastCheck.assert(
      FastCheck.property(examples, FastCheck.fullUnicodeString({ maxLength: 20 }), ({ template }, noise) => {
        const parsed = of(template)
        for (const uri of [noise, template, template.replace(/[{}]/g, noise)]) {
          const values = Option.getOrUndefined(UriTemplate.match(parsed, uri))
          if (values === undefined) continue
          expect(UriTemplate.match(parsed, UriTemplate.expand(parsed, values))).toEqual(Option.some(values))
        }
      }),
      { seed, numRuns: times * 2000 }
    )
  })
})
