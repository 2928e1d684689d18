// The page says what the tables say; a page that lags behind them is found, and so is a name that no table has.
import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { flaws, marks, pageOf } from "./methods.mjs"

const method = (name, more) => ({ name, kind: "request", from: "client", capability: undefined, ...more })

const protocol = {
  tables: {
    legacy: [method("ping", { from: "both" }), method("x/find", { capability: "x" }), method("x/new", { late: true })],
    modern: [method("x/find", { capability: "x" }), method("x/told", { kind: "notification", from: "server" })]
  },
  questions: [method("x/ask", { capability: "y" })],
  revisions: [{ name: "1", era: "legacy" }, { name: "2", era: "legacy" }, { name: "3", era: "modern" }],
  isIn: ({ late }, revision) => !late || revision === "2",
  gate: ({ capability }, revision) => revision === "1" ? undefined : capability
}

const old = { since: "2", by: "a proposal", removedFrom: "9" }
protocol.tables.legacy[1].deprecated = old

const support = { server: { legacy: ["ping"], modern: [] }, client: { legacy: ["ping", "x/find"], modern: ["x/told"] } }

const section = (text, name) => text.split(/^## /m).find((one) => one.startsWith(`${name}\n`))

describe("the page of methods", () => {
  const text = pageOf(protocol, support)

  it("lists per revision every method and what is supported", () => {
    assert.match(section(text, "1"), /^2 methods, of the legacy era; the server has 1 of them, the client 2\.$/m)
    assert.match(section(text, "1"), /^\| `ping` \| request \| both \| {2}\| yes \| yes \|$/m)
    assert.match(section(text, "1"), /^\| `x\/find` \| request \| client \| {2}\| {2}\| yes \|$/m)
    assert.match(section(text, "2"), /^\| `x\/find`, deprecated \| request \| client \| `x` \| {2}\| yes \|$/m)
    assert.match(section(text, "2"), /^3 methods/m)
    assert.match(section(text, "3"), /^\| `x\/told` \| notification \| server \| {2}\| {2}\| yes \|$/m)
    assert.doesNotMatch(section(text, "3"), /ping/)
  })

  it("says which revision has which", () => {
    assert.match(text, /^\| `x\/new` \| {2}\| yes \| {2}\|$/m)
  })

  it("says what is deprecated, from the revision on that deprecates it", () => {
    assert.match(section(text, "1"), /^\| `x\/find` \|/m)
    assert.match(section(text, "2"), /^\| `x\/find`, deprecated \|/m)
    assert.match(section(text, "Deprecated"), /^\| `x\/find` \| 2 \| a proposal \| 9 \|$/m)
  })

  it("says what is asked", () => assert.match(text, /^\| `x\/ask` \| `y` \|$/m))

  it("is not made of names that no table has", () => {
    assert.deepEqual(flaws(protocol, support), [])
    assert.deepEqual(flaws(protocol, { server: { legacy: ["x/told"], modern: ["x/find"] } }), [
      "scripts/methods.json: server legacy: there is no method \"x/told\""
    ])
  })
})

describe("the marks of what is deprecated", () => {
  const module = (comment) => `${comment}\n  readonly find: () => void\n  readonly told: string\n`
  const mark = "  /**\n   * Finds.\n   *\n   * @deprecated since 2 (a proposal); without it from 9 on.\n   */"
  const found = (comment, name = "readonly find:") =>
    marks(protocol, () => module(comment), { "x/find": [["a.ts", name]] }, [])

  it("say since which revision, and by which proposal", () => {
    assert.deepEqual(found(mark), [])
    const flaw = "a.ts: readonly find: needs the mark of x/find: 2, a proposal"
    for (const wrong of ["", "  /** Finds. */", mark.replace("since 2", "since 3"), mark.replace("a proposal", "me")]) {
      assert.deepEqual(found(wrong), [flaw])
    }
  })

  it("belong to the declaration that follows", () => {
    assert.deepEqual(found(mark, "readonly told:"), ["a.ts: readonly told: needs the mark of x/find: 2, a proposal"])
    assert.deepEqual(found(mark, "readonly gone:"), ["a.ts: readonly gone: needs the mark of x/find: 2, a proposal"])
  })

  it("are wanted for every deprecated method and feature", () => {
    const features = [["a feature", "2", "#1"]]
    assert.deepEqual(marks(protocol, () => "", {}, features), [
      "scripts/methods.mjs: a declaration of x/find needs the mark of x/find: 2, a proposal",
      "scripts/methods.mjs: a declaration of a feature needs the mark of a feature: 2, #1"
    ])
  })
})
