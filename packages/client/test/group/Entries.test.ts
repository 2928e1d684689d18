import { assert, describe, it } from "@effect/vitest"
import type * as Tools from "@effect-mcp/protocol/Tools"
import { Either } from "effect"
import * as Entries from "../../src/group/Entries.js"

const tool = (name: string): Tools.Tool => ({ name, inputSchema: { type: "object" } })
const offer = (tools: ReadonlyArray<string>, uris: ReadonlyArray<string> = []): Entries.Offer => ({
  tools: tools.map(tool),
  resources: uris.map((uri) => ({ name: "same", uri })),
  templates: [{ name: "t", uriTemplate: `${uris[0] ?? "t"}/{id}` }],
  prompts: tools.map((name) => ({ name }))
})
const of = (server: string, one: Entries.Offer, hook: Entries.NameHook = (name) => name) =>
  Entries.of(one, { name: server, info: { name: `${server}-info`, version: "1" } }, hook)
const names = (entries: Entries.Entries) => Entries.kinds.map((kind) => [...entries[kind].keys()])

describe("What a server brings into a group", () => {
  it("is known by its name, resources by their addresses", () => {
    const entries = of("one", offer(["a"], ["x:1", "x:2"]))
    assert.deepStrictEqual(names(entries), [["a"], ["x:1", "x:2"], ["x:1/{id}"], ["a"]])
    assert.deepStrictEqual(entries.tools.get("a"), { server: "one", value: tool("a") })
  })

  it("goes by the name that the group gives it, and keeps its own", () => {
    const entries = of("one", offer(["a"]), (name, { info, name: server }) => `${server}.${info.name}.${name}`)
    assert.deepStrictEqual([...entries.tools.keys(), ...entries.prompts.keys()], ["one.one-info.a", "one.one-info.a"])
    assert.strictEqual(entries.tools.get("one.one-info.a")!.value.name, "a")
  })

  it("is added whole, when no name is taken", () => {
    const both = Either.getOrThrow(Entries.merge(of("one", offer(["a"])), of("two", offer(["b"], ["y:1"]))))
    assert.deepStrictEqual(names(both), [["a", "b"], ["y:1"], ["t/{id}", "y:1/{id}"], ["a", "b"]])
  })

  for (
    const [kind, first, second, taken] of [
      ["tools", offer(["a", "b"]), offer(["b", "c", "a"]), ["b", "a"]],
      ["resources", offer([], ["x:1"]), offer([], ["x:1"]), ["x:1"]],
      ["templates", offer([]), offer([]), ["t/{id}"]],
      ["prompts", { ...offer(["a"]), tools: [], templates: [] }, offer(["a"]), ["a"]]
    ] as const
  ) {
    it(`is not added when a name is taken: ${kind}`, () => {
      assert.deepStrictEqual(
        Either.flip(Entries.merge(of("one", first), of("two", second))),
        Either.right({ kind, names: taken })
      )
    })
  }

  it("that is read anew leaves to others what they have", () => {
    const [entries, taken] = Entries.add(of("one", offer(["a"])), of("two", offer(["a", "b"], ["y:1"])))
    assert.strictEqual(entries.tools.get("a")!.server, "one")
    assert.strictEqual(entries.tools.get("b")!.server, "two")
    assert.deepStrictEqual(taken, [{ kind: "tools", names: ["a"] }, { kind: "prompts", names: ["a"] }])
  })

  it("goes with the server, and nothing else does", () => {
    const both = Either.getOrThrow(Entries.merge(of("one", offer(["a"])), of("two", offer(["b"], ["y:1"]))))
    assert.deepStrictEqual(Entries.without(both, "two"), of("one", offer(["a"])))
    assert.deepStrictEqual(names(Entries.without(Entries.without(both, "two"), "one")), names(Entries.empty))
  })
})
