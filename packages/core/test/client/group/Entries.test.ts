import { assert, describe, it } from "@effect/vitest"
import type * as GroupEntries from "@effect-mcp/core/GroupEntries"
import type * as Tools from "@effect-mcp/core/protocol/Tools"
import { Effect, Fiber } from "effect"
import * as Entries from "../../../src/client/group/Entries.js"
import type * as Names from "../../../src/client/group/Names.js"

const tool = (name: string): Tools.Tool => ({ name, inputSchema: { type: "object" } })
const lists = (tools: ReadonlyArray<string>, uris: ReadonlyArray<string> = []): Entries.ServerLists => ({
  tools: tools.map(tool),
  resources: uris.map((uri) => ({ name: "same", uri })),
  templates: [{ name: "t", uriTemplate: `${uris[0] ?? "t"}/{id}` }],
  prompts: tools.map((name) => ({ name }))
})
const naming = {
  nameHook: (name: string) => name,
  uriHook: (name: string) => name,
  maxNameLength: 64,
  isPrefixed: false
}
const server = (name: string, one: Entries.ServerLists, isAway = false): Entries.Server => ({
  name,
  info: { name: `${name}-info`, version: "1" },
  lists: one,
  isAway
})
const of = (servers: ReadonlyArray<Entries.Server>, more: Partial<Names.Naming> = {}) =>
  Entries.of(servers, { ...naming, ...more }, () => undefined)
const names = (entries: GroupEntries.Entries) => Entries.kinds.map((kind) => [...entries[kind].keys()])

describe("The entries of a server in a group", () => {
  it("have the names that the server uses, resources their URIs", () => {
    const entries = of([server("one", lists(["a"], ["x:1", "x:2"]))])
    assert.deepStrictEqual(names(entries), [["a"], ["x:1", "x:2"], ["x:1/{id}"], ["a"]])
    assert.deepStrictEqual(entries.tools.get("a"), {
      server: "one",
      value: tool("a"),
      listed: tool("a"),
      collision: undefined,
      refusal: undefined
    })
  })

  it("have the names that the hooks give them, and keep their own", () => {
    const hook: GroupEntries.NameHook = (name, { info, name: server }, kind) => `${server}.${info.name}.${kind}.${name}`
    const entries = of([server("one", lists(["a"], ["x:1"]))], { nameHook: hook, uriHook: hook })
    assert.deepStrictEqual(names(entries), [
      ["one.one-info.tools.a"],
      ["one.one-info.resources.x:1"],
      ["one.one-info.templates.x:1/{id}"],
      ["one.one-info.prompts.a"]
    ])
    assert.strictEqual([...entries.tools.values()][0]!.value.name, "a")
  })

  it("are left out where a hook gives no name", () => {
    const entries = of([server("one", lists(["a", "b"], ["x:1", "x:2"]))], {
      nameHook: (name, _, kind) => kind === "tools" && name === "a" ? undefined : name,
      uriHook: (uri) => uri.startsWith("x:1") ? undefined : uri
    })
    assert.deepStrictEqual(names(entries), [["b"], ["x:2"], [], ["a", "b"]])
  })
})

describe("A name that two servers of a group have", () => {
  const [one, two] = [server("one", lists(["a", "b"], ["x:1"])), server("two", lists(["b", "c", "a"], ["x:1", "y:2"]))]

  it("stays with the earlier server; every entry of the later one is there, with the server's name before its own", () => {
    const entries = of([one, two])
    assert.deepStrictEqual(names(entries), [
      ["a", "b", "two_b", "c", "two_a"],
      ["x:1", "two:x:1", "y:2"],
      ["x:1/{id}", "two:x:1/{id}"],
      ["a", "b", "two_b", "c", "two_a"]
    ])
    for (const [kind, name] of [["tools", "two_a"], ["prompts", "two_a"]] as const) {
      const { collision, server, value } = entries[kind].get(name)!
      assert.deepStrictEqual([collision, server, value.name], [{ name: "a", server: "one" }, "two", "a"])
    }
    assert.strictEqual(entries.resources.get("two:x:1")!.value.uri, "x:1")
    assert.isUndefined(entries.tools.get("c")!.collision)
  })

  it("is free again when the earlier server leaves, but not while it is away", () => {
    assert.deepStrictEqual([...of([two]).tools.keys()], ["b", "c", "a"])
    assert.deepStrictEqual([...of([{ ...one, isAway: true }, two]).tools.keys()], ["two_b", "c", "two_a"])
  })

  it("is reported once, with the name that the entry has instead", () => {
    const [before, now] = [of([one]), of([one, two])]
    assert.deepStrictEqual(Entries.renamed(before, now)[0], {
      server: "two",
      kind: "tools",
      names: new Map([["two_b", "b"], ["two_a", "a"]])
    })
    assert.deepStrictEqual(Entries.renamed(before, now).map(({ kind }) => kind), [...Entries.kinds])
    assert.deepStrictEqual(Entries.renamed(now, of([one, two])), [])
    assert.deepStrictEqual(Entries.collisions(now, "two"), { kind: "tools", names: ["b", "a"] })
    assert.deepStrictEqual(Entries.collisions(now, "one"), { kind: "tools", names: ["b", "a"] })
    assert.isUndefined(Entries.collisions(before, "one"))
  })

  it("gives names that no other entry has", () => {
    const servers = [
      server("one", lists(["a", "two_a"])),
      server("two", lists(["a"])),
      server("my server!", lists(["a"])),
      server("my-server?", lists(["a"])),
      server("my_server_", lists(["a"]))
    ]
    assert.deepStrictEqual([...of(servers).tools.keys()], [
      "a",
      "two_a",
      "two_a_2",
      "my_server__a",
      "my-server__a",
      "my_server__a_2"
    ])
  })

  it("gives names of the limit's length at most, which stay different and the same each time", () => {
    const long = ["x", "y"].map((end) => `${"n".repeat(63)}${end}`)
    const servers = ["one", "s".repeat(100), "s".repeat(101)].map((name) => server(name, lists(["a", ...long])))
    const given = [...of(servers).tools.keys()]
    assert.strictEqual(new Set(given).size, 9)
    assert.isTrue(given.every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name)), given.join("\n"))
    assert.deepStrictEqual([...of(servers).tools.keys()], given)
    assert.isTrue([...of(servers, { maxNameLength: 128 }).tools.keys()].includes(`${"s".repeat(100)}_a`))
  })

  it("keeps a name that is too long when another one with the same beginning comes or goes", () => {
    const [x, y] = ["x", "y"].map((end) => `${"n".repeat(63)}${end}`)
    const renamed = (names: ReadonlyArray<string>) => {
      const { tools } = of([server("one", lists([x!, y!])), server("two", lists(names))])
      return [...tools].find(([, { server, value }]) => server === "two" && value.name === y)?.[0]
    }
    assert.strictEqual(renamed([x!, y!]), renamed([y!]))
  })

  it("costs little when a server repeats thousands of long names", () => {
    const many = lists(Array.from({ length: 5000 }, (_, i) => `${"n".repeat(80)}${i}`))
    const given = of([server("one", many), server("two", many)], { maxNameLength: 12 })
    assert.strictEqual(given.tools.size, 10_000)
  })

  it("may come from one server, when a hook gives it to two entries", () => {
    const entries = of([server("one", lists(["a", "b"]))], { nameHook: () => "same" })
    assert.deepStrictEqual([...entries.tools].map(([name, { value }]) => [name, value.name]), [
      ["same", "a"],
      ["one_same", "b"]
    ])
    assert.isUndefined(Entries.collisions(entries, "one"))
  })
})

describe("A URI in a group", () => {
  const read = (entries: GroupEntries.Entries, uri: string) =>
    Effect.map(Entries.readable(entries, uri), (found) => found && [found.server, found.uri])
  const two = [server("one", lists([], ["x:1"])), server("two", lists([], ["x:1"]))]

  it.effect("leads to the server, and to the URI that this server knows", () =>
    Effect.gen(function*() {
      const entries = of(two)
      assert.deepStrictEqual(yield* read(entries, "x:1"), ["one", "x:1"])
      assert.deepStrictEqual(yield* read(entries, "two:x:1"), ["two", "x:1"])
      assert.deepStrictEqual(yield* read(entries, "x:1/7"), ["one", "x:1/7"])
      assert.deepStrictEqual(yield* read(entries, "two:x:1/%37"), ["two", "x:1/%37"])
      assert.isUndefined(yield* read(entries, "y:1"))
    }))

  it.effect("leads to the original one where a hook has changed it", () =>
    Effect.gen(function*() {
      const entries = of(two, { uriHook: (uri, { name }) => uri.replace("x:1", `${name}:all`) })
      assert.deepStrictEqual(yield* read(entries, "two:all"), ["two", "x:1"])
      assert.deepStrictEqual(yield* read(entries, "two:all/7"), ["two", "x:1/7"])
      assert.isUndefined(yield* read(entries, "x:1"))
    }))

  it.effect("leads nowhere through a template that is not valid", () =>
    Effect.gen(function*() {
      const broken = { ...lists([]), templates: [{ name: "t", uriTemplate: "x:{" }] }
      assert.isUndefined(yield* read(of([server("one", broken)]), "x:{"))
    }))

  it.live("is looked for while others run, however many templates a server has", () =>
    Effect.gen(function*() {
      const templates = Array.from({ length: 20_000 }, (_, i) => ({ name: "t", uriTemplate: `x:{id}/${i}` }))
      const entries = of([server("one", { ...lists([]), templates })])
      let turns = 0
      const turn = Effect.async<void>((resume) => {
        setImmediate(() => resume(Effect.sync(() => turns++)))
      })
      const others = yield* Effect.fork(Effect.forever(turn))
      assert.isUndefined(yield* read(entries, "y:1"))
      assert.isAbove(turns, 10)
      yield* Fiber.interrupt(others)
    }))
})
