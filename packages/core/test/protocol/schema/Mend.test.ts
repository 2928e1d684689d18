import { ServerCapabilities } from "@effect-mcp/core/protocol/Capabilities"
import { ContentBlock } from "@effect-mcp/core/protocol/Content"
import * as Methods from "@effect-mcp/core/protocol/legacy/Methods"
import type * as Method from "@effect-mcp/core/protocol/Method"
import { ListToolsResult } from "@effect-mcp/core/protocol/Tools"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import * as Mend from "../../../src/protocol/schema/Mend.js"
import * as SchemaCheck from "../../../src/protocol/schema/SchemaCheck.js"
import * as Canonical from "../Canonical.js"
import * as MessageParts from "../MessageParts.js"
import * as Mutants from "../Mutants.js"

const mended = (decode: Method.Decode<any>, value: unknown) => {
  let losses: Method.Losses | undefined
  const decoded = decode(value, (found) => {
    losses = found
  })
  return {
    value: Either.getOrUndefined(decoded) as unknown,
    error: Either.isLeft(decoded) ? decoded.left.message : undefined,
    losses: losses?.places.map(({ message, path }) => `${path}: ${message}`) ?? []
  }
}

const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: "object" }, ...more })

const reader = (part: MessageParts.MessagePart): Mend.Reader =>
  (part.part === "params" ? part.method.from === "server" : part.method.from === "client") ? "client" : "server"

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value)

const wide = (count: number): object => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 0]))

const withoutNulls = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(withoutNulls)
    : typeof value === "object" && value !== null
    ? Object.fromEntries(
      Object.entries(value).filter(([, inner]) => inner !== null).map(([key, inner]) => [key, withoutNulls(inner)])
    )
    : value

describe(`mending (seed ${MessageParts.seed})`, () => {
  let kept = 0
  let repaired = 0
  for (const part of MessageParts.legacy) {
    it(`of ${part.title} gives what its check accepts, and leaves a valid value alone`, () => {
      const conforms = SchemaCheck.compile(part.schema)
      const side = reader(part)
      const decode = Mend.decoder(part.schema, side)
      for (const value of MessageParts.samples(part.schema, 40).slice(-1)) {
        for (const mutant of Mutants.all(value).filter(({ kind }) => kind !== "deep" && kind !== "oversize")) {
          const result = decode(mutant.value)
          if (conforms(mutant.value)) {
            kept++
            expect(Either.getOrThrow(result)).toBe(mutant.value)
          } else if (Either.isRight(result)) {
            repaired++
            expect(conforms(result.right)).toBe(true)
            // A server reads `null` as absence, and mends nothing else.
            if (side === "server") expect(withoutNulls(mutant.value)).toEqual(withoutNulls(result.right))
          }
        }
      }
    })
  }
  it("happened", () => {
    console.log(`mending: ${kept} values unchanged, ${repaired} mended`)
    expect(kept).toBeGreaterThan(2000)
    expect(repaired).toBeGreaterThan(500)
  })
})

describe("null", () => {
  it("in an optional member is its absence, for both sides and at every depth", () => {
    const request = (method: Method.Method, params: unknown) => mended(method.decodeParams, params)
    expect(request(Methods.listTools, { cursor: null, _meta: null }).value).toEqual({})
    expect(request(Methods.listTools, { _meta: { progressToken: null, "a/b": null } }).value)
      .toEqual({ _meta: { "a/b": null } })
    expect(request(Methods.callTool, { name: "t", arguments: null, task: { ttl: null } }).value)
      .toEqual({ name: "t", task: {} })
    expect(
      request(Methods.complete, {
        ref: { type: "ref/prompt", name: "p", title: null },
        argument: { name: "a", value: "" },
        context: { arguments: null }
      }).value
    ).toEqual({ ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: "" }, context: {} })
    expect(
      request(Methods.initialize, {
        protocolVersion: "2025-11-25",
        capabilities: { roots: { listChanged: null }, sampling: null, experimental: null },
        clientInfo: { name: "c", version: "1", title: null, icons: null, websiteUrl: null }
      }).value
    ).toEqual({
      protocolVersion: "2025-11-25",
      capabilities: { roots: {} },
      clientInfo: { name: "c", version: "1" }
    })
    expect(request(Methods.elicit, { mode: null, message: "m", requestedSchema: { type: "object", properties: {} } }))
      .toMatchObject({ value: { message: "m" }, losses: [] })
    expect(mended(Methods.elicit.decodeResult, { action: "decline", content: null }))
      .toEqual({ value: { action: "decline" }, error: undefined, losses: [] })
    expect(
      mended(Methods.createMessage.decodeResult, {
        role: "assistant",
        content: { type: "text", text: "x", annotations: { audience: null } },
        model: "m",
        stopReason: null
      }).value
    ).toEqual({ role: "assistant", content: { type: "text", text: "x", annotations: {} }, model: "m" })
  })

  it("stays in arguments, in structured content, in _meta and in schemas", () => {
    const call = { name: "t", arguments: { a: null, b: [null] }, _meta: { x: null } }
    expect(mended(Methods.callTool.decodeParams, call).value).toBe(call)
    const result = { content: [], structuredContent: { a: null }, _meta: { x: null } }
    expect(mended(Methods.callTool.decodeResult, result).value).toBe(result)
    const list = { tools: [tool("t", { title: null, inputSchema: { type: "object", default: null } })] }
    expect(mended(Methods.listTools.decodeResult, list).value)
      .toEqual({ tools: [tool("t", { inputSchema: { type: "object", default: null } })] })
    const form = { type: "object", properties: { a: { type: "string", title: null } } }
    expect(mended(Methods.elicit.decodeParams, { message: "m", requestedSchema: form }).error).toContain("properties.a")
    expect(mended(Methods.getPrompt.decodeParams, { name: "p", arguments: { a: null } }).error)
      .toBe("arguments.a: Expected string, actual null")
  })

  it("in a required member is refused", () => {
    expect(mended(Methods.callTool.decodeParams, { name: null }).error).toBe("name: Expected string, actual null")
    expect(
      mended(Methods.initialize.decodeParams, {
        protocolVersion: "2025-11-25",
        capabilities: null,
        clientInfo: { name: "c", version: null }
      }).error
    ).toContain("capabilities")
  })
})

describe("a server", () => {
  it("mends nothing but null", () => {
    const facts = (clientInfo: object, capabilities: object = {}) =>
      mended(Methods.initialize.decodeParams, { protocolVersion: "2025-11-25", capabilities, clientInfo }).error
    expect(facts({ name: "c" })).toBe("clientInfo.version: is missing")
    expect(facts({ name: "c", version: "1", title: 1 })).toContain("clientInfo.title")
    expect(facts({ name: "c", version: "1", icons: [{}] })).toContain("clientInfo.icons.0.src")
    expect(facts({ name: "c", version: "1" }, { sampling: true })).toContain("capabilities.sampling")
    expect(mended(Methods.listRoots.decodeResult, { roots: [{ uri: "file:///a" }, { uri: 1 }] }).error)
      .toContain("roots.1.uri")
  })
})

describe("a client", () => {
  it("leaves out an element that it cannot read, and the others stay", () => {
    expect(
      mended(Methods.listTools.decodeResult, { tools: [tool("a"), { name: 5 }, null, tool("b")], nextCursor: "n" })
    ).toEqual({
      value: { tools: [tool("a"), tool("b")], nextCursor: "n" },
      error: undefined,
      losses: [
        "tools.1: was left out: name: Expected string, actual a number",
        expect.stringMatching(/^tools\.2: was left out: Expected .*, actual null$/)
      ]
    })
    const named = (entry: object) => ({ name: "n", ...entry })
    const lists = [
      [Methods.listResources, "resources", named({ uri: "a:b" })],
      [Methods.listResourceTemplates, "resourceTemplates", named({ uriTemplate: "a:{b}" })],
      [Methods.listPrompts, "prompts", named({})]
    ] as const
    for (const [method, name, good] of lists) {
      const { losses, value } = mended(method.decodeResult, { [name]: [{}, good, { name: {} }] })
      expect(value).toEqual({ [name]: [good] })
      expect(losses).toHaveLength(2)
    }
    const content = [{ type: "video", data: "x" }, { type: "text", text: "a" }, { type: "text" }, { text: "b" }]
    const { losses, value } = mended(Methods.callTool.decodeResult, { content })
    expect(value).toEqual({ content: [{ type: "text", text: "a" }] })
    expect(losses).toHaveLength(3)
  })

  it("leaves out a hint that it cannot read, and the entry stays", () => {
    const one = {
      ...tool("a"),
      title: 5,
      description: {},
      icons: [{ src: "https://x/y", theme: "blue", sizes: "48x48" }, { src: 1 }, "icon"],
      annotations: { title: "t", readOnlyHint: "yes", destructiveHint: false },
      outputSchema: "none",
      execution: { taskSupport: "maybe" },
      _meta: []
    }
    const { losses, value } = mended(Methods.listTools.decodeResult, { tools: [one] })
    expect(value).toEqual({
      tools: [{
        ...tool("a"),
        icons: [{ src: "https://x/y" }],
        annotations: { title: "t", destructiveHint: false },
        execution: {}
      }]
    })
    expect(losses).toHaveLength(10)
    expect(losses.join("\n")).not.toContain("yes")
    const block = { type: "text", text: "a", annotations: { priority: 7, audience: ["robot"] } }
    expect(mended(Methods.callTool.decodeResult, { content: [block] }).value)
      .toEqual({ content: [{ type: "text", text: "a", annotations: {} }] })
  })

  it("gives a missing member the one value that it can have", () => {
    expect(mended(Methods.callTool.decodeResult, { structuredContent: { a: 1 } })).toEqual({
      value: { structuredContent: { a: 1 }, content: [] },
      error: undefined,
      losses: ["content: is missing; the client reads it as []"]
    })
    expect(mended(Methods.listTools.decodeResult, { tools: [{ name: "a", inputSchema: { properties: {} } }] }).value)
      .toEqual({ tools: [{ name: "a", inputSchema: { type: "object", properties: {} } }] })
    expect(mended(Methods.listResources.decodeResult, { resources: null }).value).toEqual({ resources: [] })
    expect(mended(Methods.readResource.decodeResult, { contents: null }).value).toEqual({ contents: [] })
    const facts = (more: object) =>
      mended(Methods.initialize.decodeResult, { protocolVersion: "2025-11-25", capabilities: {}, ...more }).value
    const answer = (serverInfo: object) => ({ protocolVersion: "2025-11-25", capabilities: {}, serverInfo })
    expect(facts({ serverInfo: { name: "s" } })).toEqual(answer({ name: "s", version: "" }))
    expect(facts({ serverInfo: { name: "s", version: 2 } })).toEqual(answer({ name: "s", version: "" }))
    expect(facts({})).toEqual(answer({ name: "", version: "" }))
  })

  it("ignores a capability of a shape that it does not know", () => {
    const decode = Mend.decoder(ServerCapabilities, "client")
    expect(
      mended(decode, {
        tools: true,
        logging: [],
        prompts: false,
        resources: { subscribe: "yes", listChanged: true },
        completions: 1,
        experimental: { a: true, b: {} }
      })
    ).toMatchObject({
      value: { tools: {}, logging: {}, resources: { listChanged: true }, experimental: { b: {} } },
      losses: [
        "resources.subscribe: was left out: Expected boolean, actual a string of 3 characters",
        expect.stringContaining("experimental.a"),
        expect.stringContaining("completions")
      ].sort()
    })
  })

  it("mends an object of 10,000 members, and leaves out a larger one", () => {
    const facts = (count: number) => ({
      protocolVersion: "2025-11-25",
      capabilities: { tools: { ...wide(count - 1), listChanged: 7 } },
      serverInfo: { name: "s", version: "1" }
    })
    const kept = mended(Methods.initialize.decodeResult, facts(10_000))
    expect(kept.value).toMatchObject({ capabilities: { tools: { k0: 0, k9998: 0 } } })
    expect(kept.losses).toEqual(["capabilities.tools.listChanged: was left out: Expected boolean, actual a number"])
    expect(mended(Methods.initialize.decodeResult, facts(10_001))).toEqual({
      value: { ...facts(0), capabilities: {} },
      error: undefined,
      losses: ["capabilities.tools: was left out: listChanged: Expected boolean, actual a number"]
    })
  })

  it("mends nothing that changes the meaning", () => {
    const refused: ReadonlyArray<readonly [Method.Request, unknown]> = [
      [Methods.callTool, { content: "text" }],
      [Methods.callTool, { content: [], isError: "no" }],
      [Methods.listTools, { tools: {} }],
      [Methods.listTools, {}],
      [Methods.initialize, {
        protocolVersion: "2025-11-25",
        capabilities: null,
        serverInfo: { name: "s", version: "1" }
      }],
      [Methods.listTools, { tools: [], nextCursor: 5 }],
      [Methods.readResource, { contents: [{ uri: "a:b" }] }],
      [Methods.readResource, {}],
      [Methods.getPrompt, { messages: [{ role: "robot", content: { type: "text", text: "" } }] }],
      [Methods.getPrompt, { messages: [{ role: "user", content: { type: "video" } }] }],
      [Methods.getPrompt, {}],
      [Methods.initialize, { capabilities: {}, serverInfo: { name: "s", version: "1" } }]
    ]
    for (const [method, result] of refused) {
      expect(mended(method.decodeResult, result).error, JSON.stringify(result)).toBeDefined()
    }
    const messages = [{ role: "user", content: { type: "text", text: "a" } }, { role: "user", content: { type: "x" } }]
    expect(mended(Methods.createMessage.decodeParams, { messages, maxTokens: 1 }).error).toContain("messages.1.content")
    expect(mended(Methods.createMessage.decodeParams, { messages: [], maxTokens: 1, tools: [{}] }).error)
      .toContain("tools.0")
  })

  it("reports the first ten losses and how many there were, without the peer's values", () => {
    let losses: Method.Losses | undefined
    const decoded = Methods.listTools.decodeResult(
      { tools: Array.from({ length: 500 }, () => ({ name: ["secret"] })) },
      (found) => {
        losses = found
      }
    )
    expect(Either.getOrThrow(decoded)).toEqual({ tools: [] })
    expect(losses?.count).toBe(500)
    expect(losses?.places).toHaveLength(10)
    expect(JSON.stringify(losses?.places)).not.toContain("secret")
  })

  it("reports nothing about a message that it refuses, or that is valid", () => {
    expect(mended(Methods.listTools.decodeResult, { tools: [{ name: 1 }], nextCursor: 1 }).losses).toEqual([])
    expect(mended(Methods.listTools.decodeResult, { tools: [tool("a")] }).losses).toEqual([])
  })
})

describe("the types of a union", () => {
  it("are mended by the member that the value names", () => {
    const decode = Mend.decoder(ContentBlock, "client")
    expect(mended(decode, { ...Canonical.link, size: "big", mimeType: null }).value).toEqual(
      Object.fromEntries(Object.entries(Canonical.link).filter(([key]) => key !== "size" && key !== "mimeType"))
    )
    expect(mended(decode, "text").error).toBeDefined()
  })

  it("that recurse are supported", () => {
    interface Tree {
      readonly name?: string | undefined
      readonly inner: ReadonlyArray<Tree>
    }
    const Tree: Schema.Schema<Tree> = Schema.Struct({
      name: Schema.optional(Schema.String),
      inner: Schema.Array(Schema.suspend(() => Tree))
    })
    expect(mended(Mend.decoder(Tree, "server"), { inner: [{ name: null, inner: [] }] }).value)
      .toEqual({ inner: [{ inner: [] }] })
  })
})

describe("the cost", () => {
  it("of a list with one bad tool in ten is a few milliseconds", () => {
    const tools = Array.from({ length: 1000 }, (_, i) => i % 10 === 3 ? { name: i } : tool(`t${i}`))
    const decode = Mend.decoder(ListToolsResult, "client")
    const took = () => {
      const start = process.cpuUsage()
      expect(Either.getOrThrow(decode({ tools })).tools).toHaveLength(900)
      return process.cpuUsage(start).user / 1000
    }
    expect(Math.min(took(), took(), took(), took(), took())).toBeLessThan(10)
  })

  it("of an object with very many members is a few walks over them, whatever else is wrong, at every depth", () => {
    let walks = 0
    const many = wide(10_001)
    const widened = (value: object): object =>
      new Proxy({ ...many, ...value }, {
        ownKeys: (target) => {
          walks++
          return Reflect.ownKeys(target)
        }
      })
    const withWide = (value: unknown, [key, ...rest]: Mutants.Path): unknown =>
      key === undefined
        ? widened(value as object)
        : Object.assign(Array.isArray(value) ? [...value as Array<unknown>] : { ...value as object }, {
          [key]: withWide((value as Record<string | number, unknown>)[key], rest)
        })
    const [, facts] = Canonical.legacy.initialize!
    const [question] = Canonical.legacy["sampling/createMessage"]!
    for (
      const [value, decode] of [
        [facts, Methods.initialize.decodeResult],
        [question, Methods.createMessage.decodeParams]
      ] as const
    ) {
      const objects = Mutants.paths(value).filter((path) => isObject(path.reduce<any>((at, key) => at[key], value)))
      for (const path of objects) {
        walks = 0
        decode({ ...withWide(value, path) as object, _meta: null })
        expect(walks, path.join(".")).toBeLessThanOrEqual(4)
      }
    }
  })
})
