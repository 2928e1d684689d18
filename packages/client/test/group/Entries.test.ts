import { assert, describe, it } from "@effect/vitest"
import type * as GroupEntries from "@effect-mcp/client/GroupEntries"
import type * as Tools from "@effect-mcp/protocol/Tools"
import { Either } from "effect"
import * as Entries from "../../src/group/Entries.js"

const tool = (name: string): Tools.Tool => ({ name, inputSchema: { type: "object" } })
const lists = (tools: ReadonlyArray<string>, uris: ReadonlyArray<string> = []): Entries.ServerLists => ({
  tools: tools.map(tool),
  resources: uris.map((uri) => ({ name: "same", uri })),
  templates: [{ name: "t", uriTemplate: `${uris[0] ?? "t"}/{id}` }],
  prompts: tools.map((name) => ({ name }))
})
const of = (server: string, one: Entries.ServerLists, hook: GroupEntries.NameHook = (name) => name) =>
  Entries.of(one, { name: server, info: { name: `${server}-info`, version: "1" } }, hook)
const names = (entries: GroupEntries.Entries) => Entries.kinds.map((kind) => [...entries[kind].keys()])

describe("The entries of a server in a group", () => {
  it("have the names that the server uses, resources their URIs", () => {
    const entries = of("one", lists(["a"], ["x:1", "x:2"]))
    assert.deepStrictEqual(names(entries), [["a"], ["x:1", "x:2"], ["x:1/{id}"], ["a"]])
    assert.deepStrictEqual(entries.tools.get("a"), { server: "one", value: tool("a") })
  })

  it("have the names that the hook gives them, and keep their own", () => {
    const entries = of("one", lists(["a"]), (name, { info, name: server }) => `${server}.${info.name}.${name}`)
    assert.deepStrictEqual([...entries.tools.keys(), ...entries.prompts.keys()], ["one.one-info.a", "one.one-info.a"])
    assert.strictEqual(entries.tools.get("one.one-info.a")!.value.name, "a")
  })

  it("are all added when no other server has a name of theirs", () => {
    const both = Either.getOrThrow(Entries.merge(of("one", lists(["a"])), of("two", lists(["b"], ["y:1"]))))
    assert.deepStrictEqual(names(both), [["a", "b"], ["y:1"], ["t/{id}", "y:1/{id}"], ["a", "b"]])
  })

  for (
    const [kind, first, second, names] of [
      ["tools", lists(["a", "b"]), lists(["b", "c", "a"]), ["b", "a"]],
      ["resources", lists([], ["x:1"]), lists([], ["x:1"]), ["x:1"]],
      ["templates", lists([]), lists([]), ["t/{id}"]],
      ["prompts", { ...lists(["a"]), tools: [], templates: [] }, lists(["a"]), ["a"]]
    ] as const
  ) {
    it(`are not added when another server has a name of theirs: ${kind}`, () => {
      assert.deepStrictEqual(
        Either.flip(Entries.merge(of("one", first), of("two", second))),
        Either.right({ kind, names })
      )
    })
  }

  it("that are read again leave names to the servers that have them", () => {
    const [entries, collisions] = Entries.add(of("one", lists(["a"])), of("two", lists(["a", "b"], ["y:1"])))
    assert.strictEqual(entries.tools.get("a")!.server, "one")
    assert.strictEqual(entries.tools.get("b")!.server, "two")
    assert.deepStrictEqual(collisions, [{ kind: "tools", names: ["a"] }, { kind: "prompts", names: ["a"] }])
  })

  it("are removed without those of other servers", () => {
    const both = Either.getOrThrow(Entries.merge(of("one", lists(["a"])), of("two", lists(["b"], ["y:1"]))))
    assert.deepStrictEqual(Entries.without(both, "two"), of("one", lists(["a"])))
    assert.deepStrictEqual(names(Entries.without(Entries.without(both, "two"), "one")), names(Entries.empty))
  })
})
