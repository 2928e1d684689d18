import * as Capabilities from "@effect-mcp/protocol/Capabilities"
import { describe, expect, it } from "vitest"
import * as Projection from "../src/schema/Projection.js"
import * as SchemaCheck from "../src/schema/SchemaCheck.js"
import * as Canonical from "./Canonical.js"

const isClient = SchemaCheck.compile(Capabilities.ClientCapabilities)
const isServer = SchemaCheck.compile(Capabilities.ServerCapabilities)

const told = (version: "2024-11-05" | "2025-03-26" | "2025-06-18" | "2025-11-25" | "2026-07-28") => ({
  client: Projection.compile(Capabilities.ClientCapabilities, version)(Canonical.clientCapabilities),
  server: Projection.compile(Capabilities.ServerCapabilities, version)(Canonical.serverCapabilities)
})

describe("Capabilities", () => {
  it("are open: what is not known stays", () => {
    const open = {
      later: { a: 1 },
      sampling: { tools: {}, later: true },
      roots: {},
      extensions: { "com.example/x": {} }
    }
    expect(isClient(open)).toBe(true)
    expect(Projection.compile(Capabilities.ClientCapabilities, "2025-11-25")(open)).toBe(open)
  })

  it("are nothing at all, or wrong", () => {
    expect([isClient({}), isServer({})]).toEqual([true, true])
    for (const wrong of [null, [], { roots: true }, { roots: { listChanged: 1 } }, { sampling: null }]) {
      expect(isClient(wrong)).toBe(false)
    }
    for (const wrong of [{ logging: true }, { tools: [] }, { resources: { subscribe: "yes" } }]) {
      expect(isServer(wrong)).toBe(false)
    }
  })

  it("say to each revision what it knows", () => {
    expect(told("2024-11-05")).toEqual({
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
    expect(told("2025-03-26").server).toHaveProperty("completions")
    expect(told("2025-06-18").client).toMatchObject({ elicitation: {} })
    expect(told("2025-11-25").client).toBe(Canonical.clientCapabilities)
    expect(told("2026-07-28").client).toEqual({ ...Canonical.clientCapabilities, roots: {}, tasks: undefined })
    expect(told("2026-07-28").client).not.toHaveProperty("tasks")
    expect(told("2026-07-28").server).not.toHaveProperty("tasks")
  })

  it("do not promise forms to 2025-06-18 for a client that opens pages only", () => {
    const tell = Projection.compile(Capabilities.ClientCapabilities, "2025-06-18")
    expect(tell({ elicitation: { url: {} } })).toEqual({})
    expect(tell({ elicitation: { form: {}, url: {} } })).toEqual({ elicitation: {} })
    expect(tell({ elicitation: {} })).toEqual({ elicitation: {} })
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
