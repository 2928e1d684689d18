import { assert, describe, it } from "@effect/vitest"
import * as Feature from "@effect-mcp/core/Feature"
import * as FeatureMiddleware from "@effect-mcp/core/FeatureMiddleware"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import * as Registry from "@effect-mcp/core/Registry"
import * as SkillsServer from "@effect-mcp/extensions/SkillsServer"
import { Context, Effect, Exit, Layer, Ref, Stream } from "effect"
import { clientOf, hex, markdown, versions, withSkills } from "./Skilled.js"

const Refunds = SkillsServer.make("acme/billing/refunds", {
  description: "Refunds an order: \"as agreed\"",
  instructions: "Look at [the form](forms/large.md).\n",
  frontmatter: { license: "Apache-2.0", metadata: { version: "2.1.0", tags: ["a", 1, null, true] } },
  files: { "forms/large.md": "# A form", "logo.png": Uint8Array.of(0x89, 0x50, 0xff), "forms/eu/vat.md": "VAT" }
})

const text = "---\n\"name\": \"refunds\"\n\"description\": \"Refunds an order: \\\"as agreed\\\"\"\n" +
  "\"license\": \"Apache-2.0\"\n\"metadata\": {\"version\":\"2.1.0\",\"tags\":[\"a\",1,null,true]}\n---\n\n" +
  "Look at [the form](forms/large.md).\n"

const root = "skill://acme/billing/refunds"

const entry = Effect.promise(async () => ({
  uri: `${root}/SKILL.md`,
  frontmatter: {
    name: "refunds",
    description: "Refunds an order: \"as agreed\"",
    license: "Apache-2.0",
    metadata: { version: "2.1.0", tags: ["a", 1, null, true] }
  },
  resources: [
    { uri: `${root}/SKILL.md`, digest: await hex(text), size: text.length },
    { uri: `${root}/forms/eu/vat.md`, digest: await hex("VAT"), size: 3 },
    { uri: `${root}/forms/large.md`, digest: await hex("# A form"), size: 8 },
    { uri: `${root}/logo.png`, digest: `sha256:${"0".repeat(64)}`, size: 3 }
  ]
}))

/** The digest of the picture is not compared. */
const plain = (skill: any) => ({
  ...skill,
  resources: skill.resources.map((one: any) =>
    one.uri.endsWith(".png") ? { ...one, digest: `sha256:${"0".repeat(64)}` } : one
  )
})

const served = withSkills(SkillsServer.layer(Refunds))

for (const version of versions) {
  const hints = version === "2026-07-28" ? { ttlMs: 1000, cacheScope: "public" } : {}

  describe(`The skills of a server, to a client of ${version},`, () => {
    it.effect("MUST be listed with their front matter and with all files, their digests and their sizes", () =>
      Effect.gen(function*() {
        const { result } = yield* clientOf(version)
        const { skills, ...rest } = yield* result("skills/list")
        assert.deepStrictEqual(skills.map(plain), [yield* entry])
        assert.deepStrictEqual(rest, hints)
      }).pipe(Effect.scoped, Effect.provide(served)))

    it.effect("MUST be answered by the URI of their SKILL.md, with the same entry and no cursor", () =>
      Effect.gen(function*() {
        const { result } = yield* clientOf(version)
        const { skill, ...rest } = yield* result("skills/get", { uri: `${root}/SKILL.md` })
        assert.deepStrictEqual(plain(skill), yield* entry)
        assert.deepStrictEqual(rest, hints)
      }).pipe(Effect.scoped, Effect.provide(served)))

    it.effect("MUST refuse other URIs as invalid parameters, with a message that helps", () =>
      Effect.gen(function*() {
        const { error } = yield* clientOf(version)
        for (
          const uri of [root, `${root}/`, `${root}/forms/large.md`, "skill://unknown/SKILL.md", "", "x".repeat(999)]
        ) {
          const { code, message } = yield* error("skills/get", { uri })
          assert.strictEqual(code, -32602)
          assert.include(message, "No skill is served at")
          assert.isBelow(message.length, 220)
        }
        assert.strictEqual((yield* error("skills/get", {})).code, -32602)
      }).pipe(Effect.scoped, Effect.provide(served)))

    it.effect("are read as resources, byte by byte, and only their SKILL.md is listed among the resources", () =>
      Effect.gen(function*() {
        const { error, result } = yield* clientOf(version)
        assert.deepStrictEqual((yield* result("resources/list")).resources, [{
          uri: `${root}/SKILL.md`,
          name: "refunds",
          description: "Refunds an order: \"as agreed\"",
          mimeType: "text/markdown",
          size: text.length
        }])
        const read = (path: string) =>
          Effect.map(result("resources/read", { uri: `${root}/${path}` }), (all) => all.contents)
        assert.deepStrictEqual(yield* read("SKILL.md"), [{ uri: `${root}/SKILL.md`, mimeType: "text/markdown", text }])
        assert.deepStrictEqual(yield* read("logo.png"), [{
          uri: `${root}/logo.png`,
          mimeType: "image/png",
          blob: "iVD/"
        }])
        const missing = yield* error("resources/read", { uri: `${root}/forms/../SKILL.md` })
        assert.strictEqual(missing.code, version === "2026-07-28" ? -32602 : -32002)
      }).pipe(Effect.scoped, Effect.provide(served)))

    it.effect("MUST list the direct children of every directory, and refuse what is none", () =>
      Effect.gen(function*() {
        const { error, result } = yield* clientOf(version)
        const children = (uri: string) =>
          Effect.map(
            result("resources/directory/read", { uri }),
            ({ resources }) => resources.map(({ mimeType, name, uri }: any) => [uri, name, mimeType])
          )
        assert.deepStrictEqual(yield* children("skill://acme"), [[
          "skill://acme/billing",
          "billing",
          "inode/directory"
        ]])
        assert.deepStrictEqual(yield* children(root), [
          [`${root}/SKILL.md`, "refunds", "text/markdown"],
          [`${root}/forms`, "forms", "inode/directory"],
          [`${root}/logo.png`, "logo.png", "image/png"]
        ])
        assert.deepStrictEqual(yield* children(`${root}/forms/eu`), [
          [`${root}/forms/eu/vat.md`, "vat.md", "text/markdown"]
        ])
        for (
          const uri of [`${root}/SKILL.md`, `${root}/`, "skill://", "skill://other", "file:///", `${root}/forms/..`]
        ) {
          const { code, message } = yield* error("resources/directory/read", { uri })
          assert.deepStrictEqual([code, message.includes("is not a directory of a skill")], [-32602, true])
        }
      }).pipe(Effect.scoped, Effect.provide(served)))

    it.effect("come in pages that end, an entry never split, and their directories too", () =>
      Effect.gen(function*() {
        const { error, result } = yield* clientOf(version)
        const pages = (method: string, params: object, key: string) =>
          Stream.runCollect(Stream.paginateEffect(undefined as string | undefined, (cursor) =>
            Effect.map(result(method, { ...params, ...(cursor === undefined ? undefined : { cursor }) }), (page) => [
              page[key].map((one: any) =>
                one.uri
              ),
              page.nextCursor === undefined
                ? { _tag: "None" } as any
                : { _tag: "Some", value: page.nextCursor } as any
            ])))
        const listed = [...yield* pages("skills/list", {}, "skills")]
        assert.deepStrictEqual(listed, [
          ["skill://a/SKILL.md", "skill://b/SKILL.md"],
          ["skill://c/SKILL.md", "skill://d/SKILL.md"],
          ["skill://e/SKILL.md"]
        ])
        assert.strictEqual((yield* error("skills/list", { cursor: "bm90aGluZw" })).code, -32602)
        assert.strictEqual((yield* error("skills/list", { cursor: 7 as never })).code, -32602)
        const children = [...yield* pages("resources/directory/read", { uri: "skill://a" }, "resources")].flat()
        assert.lengthOf(children, 4)
      }).pipe(
        Effect.scoped,
        Effect.provide(withSkills(SkillsServer.layer(
          SkillsServer.fromFiles({
            ...Object.fromEntries(["d", "b", "c", "a", "e"].map((name) => [`${name}/SKILL.md`, markdown(name)])),
            "a/1": "",
            "a/2": "",
            "a/3/4": "",
            "loose.txt": "not served"
          }),
          { pageSize: 2 }
        )))
      ))

    it.effect("are declared as an extension, with their directories, and with resources", () =>
      Effect.gen(function*() {
        const capabilities = version === "2026-07-28"
          ? (yield* (yield* clientOf(version)).result("server/discover")).capabilities
          : undefined
        if (capabilities === undefined) return
        assert.deepStrictEqual(capabilities.extensions, { "io.modelcontextprotocol/skills": { directoryRead: true } })
        assert.isDefined(capabilities.resources)
      }).pipe(Effect.scoped, Effect.provide(served)))

    it.effect("are not found where the server was not given the extension", () =>
      Effect.gen(function*() {
        const { error } = yield* clientOf(version)
        assert.strictEqual((yield* error("skills/list")).code, -32601)
      }).pipe(
        Effect.scoped,
        Effect.provide(McpServer.layer({ name: "test", version: "0.0.0" }, SkillsServer.layer(Refunds)))
      ))
  })
}

const young = clientOf("2026-07-28")

const uris = (skills: ReadonlyArray<{ readonly uri: string }>) => skills.map(({ uri }) => uri)

describe("A skill inside of another one", () => {
  const features = SkillsServer.layer(SkillsServer.fromFiles({
    "outer/SKILL.md": markdown("outer"),
    "outer/x.md": "x",
    "outer/inner/SKILL.md": markdown("inner"),
    "outer/inner/y.md": "y"
  }))

  it.effect("MUST be listed by itself, and its files MUST be among those of the outer skill", () =>
    Effect.gen(function*() {
      const { skills } = yield* (yield* young).result("skills/list")
      assert.deepStrictEqual(
        skills.map((skill: any) => [skill.uri, uris(skill.resources)]),
        [
          ["skill://outer/SKILL.md", [
            "skill://outer/SKILL.md",
            "skill://outer/inner/SKILL.md",
            "skill://outer/inner/y.md",
            "skill://outer/x.md"
          ]],
          ["skill://outer/inner/SKILL.md", ["skill://outer/inner/SKILL.md", "skill://outer/inner/y.md"]]
        ].sort(([a], [b]) => a! < b! ? -1 : 1)
      )
    }).pipe(Effect.scoped, Effect.provide(withSkills(features))))

  it.effect("counts for the limits of the outer one", () =>
    Effect.gen(function*() {
      const skills = yield* SkillsServer.fromFiles({
        "outer/SKILL.md": markdown("outer"),
        "outer/inner/SKILL.md": markdown("inner"),
        "outer/inner/y.md": "y"
      }, { maxFiles: 2 })
      assert.deepStrictEqual(uris(skills), ["skill://outer/inner/SKILL.md"])
    }))
})

class Now extends Context.Tag("test/Now")<Now, Effect.Effect<string>>() {}

describe("A skill whose content is generated", () => {
  const Daily = SkillsServer.make("reports/daily", {
    description: "The report of the day",
    instructions: Effect.flatMap(Now, (now) => Effect.map(now, (now) => `Today is ${now}.`)),
    files: { "static.txt": "static", "none.txt": Effect.fail(new McpError.InvalidParams({ message: "not today" })) }
  })
  const features = Layer.provide(SkillsServer.layer(Daily), Layer.succeed(Now, Effect.succeed("Monday")))

  it.effect("MUST be listed as dynamic, and its files are made for each reader", () =>
    Effect.gen(function*() {
      const { error, result } = yield* young
      const { skills: [skill] } = yield* result("skills/list")
      assert.strictEqual(skill.resources, "dynamic")
      const { contents: [main] } = yield* result("resources/read", { uri: skill.uri })
      assert.strictEqual(
        main.text,
        `---\n"name": "daily"\n"description": "The report of the day"\n---\n\nToday is Monday.`
      )
      const refused = yield* error("resources/read", { uri: "skill://reports/daily/none.txt" })
      assert.deepStrictEqual([refused.code, refused.message], [-32602, "not today"])
      const { resources } = yield* result("resources/directory/read", { uri: "skill://reports/daily" })
      assert.lengthOf(resources, 3)
    }).pipe(Effect.scoped, Effect.provide(withSkills(features))))
})

describe("Several features with skills", () => {
  const one = (name: string) => SkillsServer.layer(SkillsServer.make(name, { description: name, instructions: name }))

  it.effect("serve one list together, and go on when one of them is removed", () =>
    Effect.gen(function*() {
      const { result } = yield* young
      const listed = Effect.map(result("skills/list"), ({ skills }) => uris(skills))
      yield* Effect.scoped(Effect.gen(function*() {
        yield* Registry.add(one("c"))
        assert.deepStrictEqual(yield* listed, ["skill://a/SKILL.md", "skill://b/SKILL.md", "skill://c/SKILL.md"])
      }))
      assert.deepStrictEqual(yield* listed, ["skill://a/SKILL.md", "skill://b/SKILL.md"])
    }).pipe(Effect.scoped, Effect.provide(withSkills(Layer.merge(one("a"), one("b"))))))

  it.effect("are a mistake when they have a skill of the same URI", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(Effect.scoped(Layer.build(withSkills(Layer.merge(one("a"), one("a"))))))
      assert.include(Exit.isFailure(exit) ? String(exit.cause) : "", "resources at \"skill://a/SKILL.md\"")
    }))

  it.effect("show a request the skills that it sees, privately, in lists, entries and directories", () =>
    Effect.gen(function*() {
      const isAdmin = yield* Ref.make(true)
      const hidden = Feature.visible(Ref.get(isAdmin))(SkillsServer.layer(
        SkillsServer.fromFiles({ "b/SKILL.md": markdown("b"), "a/c/SKILL.md": markdown("c") })
      ))
      yield* Effect.gen(function*() {
        const { error, result } = yield* young
        const { skills, ...hints } = yield* result("skills/list")
        assert.deepStrictEqual(uris(skills), ["skill://a/SKILL.md", "skill://a/c/SKILL.md", "skill://b/SKILL.md"])
        assert.deepStrictEqual(uris(skills[0].resources), ["skill://a/SKILL.md"])
        assert.deepStrictEqual(hints, { ttlMs: 1000, cacheScope: "private" })
        const children = Effect.map(
          result("resources/directory/read", { uri: "skill://a" }),
          ({ resources }) => uris(resources)
        )
        assert.deepStrictEqual(yield* children, ["skill://a/SKILL.md", "skill://a/c"])
        assert.strictEqual((yield* result("skills/get", { uri: "skill://b/SKILL.md" })).cacheScope, "private")
        yield* Ref.set(isAdmin, false)
        assert.deepStrictEqual(uris((yield* result("skills/list")).skills), ["skill://a/SKILL.md"])
        assert.deepStrictEqual(yield* children, ["skill://a/SKILL.md"])
        assert.strictEqual((yield* error("skills/get", { uri: "skill://b/SKILL.md" })).code, -32602)
        assert.strictEqual((yield* error("resources/directory/read", { uri: "skill://b" })).code, -32602)
        assert.strictEqual((yield* error("resources/read", { uri: "skill://b/SKILL.md" })).code, -32602)
      }).pipe(Effect.scoped, Effect.provide(withSkills(Layer.merge(hidden, one("a")))))
    }))
})

describe("FeatureMiddleware around skills", () => {
  it.effect("runs for each file that is read, and not for the list, the entries and the directories", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const around = FeatureMiddleware.around(FeatureMiddleware.make((use) =>
        Effect.suspend(() => {
          seen.push(use.kind === "resource" ? use.uri : use.kind)
          return use.next
        })
      ))
      yield* Effect.gen(function*() {
        const { result } = yield* young
        yield* result("skills/list")
        yield* result("skills/get", { uri: `${root}/SKILL.md` })
        yield* result("resources/directory/read", { uri: root })
        assert.deepStrictEqual(seen, [])
        yield* result("resources/read", { uri: `${root}/forms/large.md` })
        assert.deepStrictEqual(seen, [`${root}/forms/large.md`])
      }).pipe(Effect.scoped, Effect.provide(withSkills(around(SkillsServer.layer(Refunds)))))
    }))
})

describe("The hints of skills", () => {
  it.effect("are those of the feature where it has some, also for the files", () =>
    Effect.gen(function*() {
      const { result } = yield* young
      const { cacheScope, ttlMs } = yield* result("skills/list")
      assert.deepStrictEqual([cacheScope, ttlMs], ["private", 5000])
      const read = yield* result("resources/read", { uri: `${root}/logo.png` })
      assert.deepStrictEqual([read.cacheScope, read.ttlMs], ["private", 5000])
    }).pipe(
      Effect.scoped,
      Effect.provide(withSkills(SkillsServer.layer(Refunds, { cache: { ttl: "5 seconds", scope: "private" } })))
    ))
})

it("leaves the services of its files in the requirements of the layer", () => {
  const skill = SkillsServer.make("a", { description: "x", instructions: Effect.flatMap(Now, (now) => now) })
  const feature: Layer.Layer<never, unknown, Registry.Registry | Now> = SkillsServer.layer(skill)
  // @ts-expect-error: the layer requires `Now`
  const wrong: Layer.Layer<never, unknown, Registry.Registry> = SkillsServer.layer(skill)
  assert.isDefined([feature, wrong])
})
