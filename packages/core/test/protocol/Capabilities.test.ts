import * as Capabilities from "@effect-mcp/core/protocol/Capabilities"
import { describe, expect, it } from "vitest"
import * as Projection from "../../src/protocol/schema/Projection.js"
import * as SchemaCheck from "../../src/protocol/schema/SchemaCheck.js"
import * as Canonical from "./Canonical.js"

const isClient = SchemaCheck.compile(Capabilities.ClientCapabilities)
const isServer = SchemaCheck.compile(Capabilities.ServerCapabilities)

const narrowed = (version: "2024-11-05" | "2025-03-26" | "2025-06-18" | "2025-11-25" | "2026-07-28") => ({
  client: Projection.compile(Capabilities.ClientCapabilities, version)(Canonical.clientCapabilities),
  server: Projection.compile(Capabilities.ServerCapabilities, version)(Canonical.serverCapabilities)
})

describe("Capabilities", () => {
  it("keep unknown keys", () => {
    const open = {
      later: { a: 1 },
      sampling: { tools: {}, later: true },
      roots: {},
      extensions: { "com.example/x": {} }
    }
    expect(isClient(open)).toBe(true)
    expect(Projection.compile(Capabilities.ClientCapabilities, "2025-11-25")(open)).toBe(open)
  })

  it("may be empty, and are refused when wrong", () => {
    expect([isClient({}), isServer({})]).toEqual([true, true])
    for (const wrong of [null, [], { roots: true }, { roots: { listChanged: 1 } }, { sampling: null }]) {
      expect(isClient(wrong)).toBe(false)
    }
    for (const wrong of [{ logging: true }, { tools: [] }, { resources: { subscribe: "yes" } }]) {
      expect(isServer(wrong)).toBe(false)
    }
  })

  it("send each revision the capabilities that it knows", () => {
    expect(narrowed("2024-11-05")).toEqual({
      client: { experimental: { x: {} }, roots: { listChanged: true }, sampling: {}, extensions: expect.anything() },
      server: {
        experimental: { x: {} },
        logging: {},
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        tools: { listChanged: true },
        extensions: expect.anything()
      }
    })
    expect(narrowed("2025-03-26").server).toHaveProperty("completions")
    expect(narrowed("2025-06-18").client).toMatchObject({ elicitation: {} })
    expect(narrowed("2025-11-25").client).toBe(Canonical.clientCapabilities)
    expect(narrowed("2026-07-28").client).toEqual({ ...Canonical.clientCapabilities, roots: {}, tasks: undefined })
    expect(narrowed("2026-07-28").client).not.toHaveProperty("tasks")
    expect(narrowed("2026-07-28").server).not.toHaveProperty("tasks")
  })

  it("do not declare forms to 2025-06-18 for a client that only opens URLs", () => {
    const narrow = Projection.compile(Capabilities.ClientCapabilities, "2025-06-18")
    expect(narrow({ elicitation: { url: {} } })).toEqual({})
    expect(narrow({ elicitation: { form: {}, url: {} } })).toEqual({ elicitation: {} })
    expect(narrow({ elicitation: {} })).toEqual({ elicitation: {} })
  })

  it.each([
    [{ tools: {} }, "tools", true],
    [{ tools: {} }, "tools.listChanged", false],
    [{ tools: { listChanged: true } }, "tools.listChanged", true],
    [{ tools: { listChanged: false } }, "tools.listChanged", false],
    [{ resources: { subscribe: true } }, "resources.subscribe", true],
    [{}, "resources.subscribe", false],
    [{}, "toString", false],
    [{ tasks: { requests: { tools: { call: {} } } } }, "tasks.requests.tools.call", true],
    [{ elicitation: {} }, "elicitation.form", true],
    [{ elicitation: {} }, "elicitation.url", false],
    [{ elicitation: { url: {} } }, "elicitation.form", false],
    [{ elicitation: { url: {} } }, "elicitation.url", true],
    [{}, "elicitation.form", false]
  ])("%j declares %s: %s", (capabilities, path, declared) => {
    expect(Capabilities.declares(capabilities, path)).toBe(declared)
  })

  it.each([
    [{}, {}, undefined],
    [{}, { sampling: {} }, { sampling: {} }],
    [{ sampling: {} }, { sampling: { tools: {} } }, { sampling: { tools: {} } }],
    [{ sampling: { tools: {} } }, { sampling: { tools: {} } }, undefined],
    [{ elicitation: {} }, { elicitation: { form: {} } }, undefined],
    [{ elicitation: {} }, { elicitation: { form: {}, url: {} } }, { elicitation: { url: {} } }],
    [{ elicitation: { url: {} } }, { elicitation: { form: {} } }, { elicitation: { form: {} } }],
    [{ roots: {} }, { extensions: { "a.b/c": {} } }, { extensions: { "a.b/c": {} } }],
    [{}, JSON.parse("{\"__proto__\":{}}") as {}, JSON.parse("{\"__proto__\":{}}") as {}]
  ])("of a client that declares %j and needs %j is missing %j", (declared, required, missing) => {
    expect(Capabilities.missing(declared, required)).toEqual(missing)
  })
})

describe("An experimental capability", () => {
  const declared = { experimental: { "com.example/x": { a: 1, deep: { list: [1, 2] } }, "com.example/y": {} } }

  it.each([
    [{ "com.example/x": { deep: { list: [1, 2] }, a: 1 } }, true],
    [{ "com.example/y": {} }, true],
    [{ "com.example/x": {} }, false],
    [{ "com.example/x": { a: 2, deep: { list: [1, 2] } } }, false],
    [{ "com.example/x": { a: 1, deep: { list: [1] } } }, false],
    [{ "com.example/z": {} }, false],
    [{ toString: {} }, false]
  ])("%j is declared with the same settings only: %s", (experimental, holds) => {
    const missing = Capabilities.missing(declared, { experimental: experimental as never })
    expect(missing).toEqual(holds ? undefined : { experimental })
  })

  it("is missing beside others", () => {
    expect(Capabilities.missing({}, { sampling: {}, experimental: { a: {} } })).toEqual({
      sampling: {},
      experimental: { a: {} }
    })
  })
})
