/**
 * Servers whose answer to `initialize` deviates.
 */
import type { ServerRow } from "../Row.js"

const facts = {
  version: "2025-11-25",
  serverInfo: { name: "deviating", version: "1" },
  serverCapabilities: { tools: {} },
  instructions: undefined
}

const begins = (
  id: string,
  deviation: string,
  initialize: Readonly<Record<string, unknown>>,
  does: string,
  expected: ServerRow["expected"],
  more: Partial<ServerRow> = {}
): ServerRow => ({
  id,
  method: "initialize",
  deviation,
  initialize: { capabilities: { tools: {} }, ...initialize },
  does,
  expected,
  rule: "basic/lifecycle#initialization",
  ...more
})

const reads = (
  id: string,
  deviation: string,
  initialize: Readonly<Record<string, unknown>>,
  does: string,
  value: object,
  reports: ReadonlyArray<string> = ["Mended"]
): ServerRow => begins(id, deviation, initialize, does, { value: { ...facts, ...value }, reports })

const fails = (
  id: string,
  deviation: string,
  initialize: Readonly<Record<string, unknown>>,
  place: string
): ServerRow =>
  begins(id, deviation, initialize, "connecting fails and names the place", {
    fails: { _tag: "TransportError", reason: "Decode", message: place }
  })

const info = (serverInfo: unknown) => ({ serverInfo })
const named = { name: "s", version: "1" }
const can = (capabilities: unknown) => ({ capabilities })
const left = "leaves it out, and reports it"

const versions: ReadonlyArray<ServerRow> = ["2099-01-01", "1999-01-01", "latest", "", "2025-11-25 "].map((version) =>
  begins(
    `server-version-${JSON.stringify(version)}`,
    `answers a revision that the client does not know: \`${JSON.stringify(version)}\``,
    { protocolVersion: version },
    "connecting fails with `NoCommonVersion`",
    {
      fails: { _tag: "NoCommonVersion" }
    },
    { rule: "basic/lifecycle#version-negotiation" }
  )
)

export const rows: ReadonlyArray<ServerRow> = [
  ...versions,
  begins(
    "server-version-2024-10-07",
    "answers 2024-10-07",
    { protocolVersion: "2024-10-07" },
    "counts it as 2024-11-05",
    {
      value: { ...facts, version: "2024-11-05" }
    },
    { rule: "basic/lifecycle#version-negotiation" }
  ),
  fails("server-version-absent", "names no revision", { protocolVersion: undefined }, "protocolVersion"),
  fails("server-version-null", "answers `protocolVersion: null`", { protocolVersion: null }, "protocolVersion"),
  fails("server-version-number", "names the revision as a number", { protocolVersion: 20251125 }, "protocolVersion"),
  reads(
    "server-info-absent",
    "does not introduce itself",
    info(undefined),
    "reads the name and the version as empty, and reports it",
    info({ name: "", version: "" })
  ),
  reads(
    "server-info-null",
    "answers `serverInfo: null`",
    info(null),
    "reads the name and the version as empty, and reports it",
    info({ name: "", version: "" })
  ),
  reads(
    "server-info-no-version",
    "gives no version of itself",
    info({ name: "s" }),
    "reads it as empty, and reports it",
    info({ name: "s", version: "" })
  ),
  reads(
    "server-info-version-null",
    "answers `version: null`",
    info({ name: "s", version: null }),
    "reads it as empty, and reports it",
    info({ name: "s", version: "" })
  ),
  reads(
    "server-info-version-number",
    "gives its version as a number",
    info({ name: "s", version: 2 }),
    "reads it as empty, and reports it",
    info({ name: "s", version: "" })
  ),
  reads(
    "server-info-no-name",
    "gives no name",
    info({ version: "1" }),
    "reads it as empty, and reports it",
    info({ name: "", version: "1" })
  ),
  reads(
    "server-info-title-null",
    "answers `title: null` and `icons: null`",
    info({ ...named, title: null, icons: null, description: null }),
    "`null` counts as absent",
    info(named),
    []
  ),
  reads("server-info-title", "gives a title that is not a text", info({ ...named, title: 5 }), left, info(named)),
  reads(
    "server-info-icon",
    "gives an icon without a source",
    info({ ...named, icons: [{}, { src: "https://s/i.png" }] }),
    "leaves the icon out, and reports it",
    info({ ...named, icons: [{ src: "https://s/i.png" }] })
  ),
  reads(
    "server-info-icons",
    "gives one icon in place of a list",
    info({ ...named, icons: { src: "https://s/i.png" } }),
    left,
    info(named)
  ),
  reads(
    "server-info-website",
    "gives a website that is not a text",
    info({ ...named, websiteUrl: {} }),
    left,
    info(named)
  ),
  reads(
    "server-info-extra",
    "introduces itself with more than the specification has",
    info({ ...named, vendor: "v" }),
    "accepts",
    info({ ...named, vendor: "v" }),
    []
  ),
  fails("server-info-text", "introduces itself with a text", info("s 1.0"), "serverInfo"),
  reads(
    "server-instructions-null",
    "answers `instructions: null`",
    { instructions: null },
    "`null` counts as absent",
    {},
    []
  ),
  reads("server-instructions-list", "gives instructions as a list", { instructions: ["a", "b"] }, left, {}),
  fails("server-capabilities-absent", "sends no capabilities", can(undefined), "capabilities"),
  fails("server-capabilities-null", "answers `capabilities: null`", can(null), "capabilities"),
  fails("server-capabilities-list", "answers `capabilities: []`", can([]), "capabilities"),
  reads("server-capability-true", "declares `tools: true`", can({ tools: true }), "reads it as declared", {
    serverCapabilities: { tools: {} }
  }, []),
  reads(
    "server-capability-false",
    "declares `logging: false`",
    can({ tools: {}, logging: false }),
    "reads it as not declared",
    {},
    []
  ),
  reads(
    "server-capability-list",
    "declares `logging: []`, as PHP writes an empty object",
    can({ tools: [], logging: [] }),
    "reads it as declared",
    { serverCapabilities: { tools: {}, logging: {} } },
    []
  ),
  reads(
    "server-capability-null",
    "declares `prompts: null`",
    can({ tools: {}, prompts: null, experimental: null }),
    "`null` counts as absent: not declared",
    {},
    []
  ),
  reads(
    "server-capability-text",
    "declares `prompts: \"yes\"`",
    can({ tools: {}, prompts: "yes" }),
    "reads it as not declared, and reports it",
    {}
  ),
  reads(
    "server-capability-number",
    "declares `completions: 1`",
    can({ tools: {}, completions: 1 }),
    "reads it as not declared, and reports it",
    {}
  ),
  reads(
    "server-capability-flag",
    "declares `listChanged: \"true\"`",
    can({ tools: { listChanged: "true" } }),
    "reads it as not declared, and reports it",
    {}
  ),
  reads(
    "server-capability-flag-null",
    "declares `listChanged: null`",
    can({ tools: { listChanged: null } }),
    "`null` counts as absent",
    {},
    []
  ),
  reads(
    "server-experimental",
    "declares `experimental: { a: true, b: {} }`",
    can({ tools: {}, experimental: { a: true, b: {} } }),
    "leaves out what has another shape, and reports it",
    { serverCapabilities: { tools: {}, experimental: { b: {} } } }
  ),
  reads(
    "server-capability-unknown",
    "declares a capability that no revision has",
    can({ tools: {}, telepathy: true }),
    "accepts; it means nothing",
    { serverCapabilities: { tools: {}, telepathy: true } },
    []
  ),
  begins(
    "server-initialize-error",
    "refuses `initialize` with an error of another shape",
    {},
    "connecting fails with the error",
    { fails: { _tag: "InternalError", message: "no" } },
    {
      sends: [{ jsonrpc: "2.0", id: "$id", error: "no" }]
    }
  ),
  begins("server-initialize-empty", "answers `{}`", {}, "connecting fails and names the place", {
    fails: { _tag: "TransportError", reason: "Decode", message: "protocolVersion" }
  }, {
    sends: [{ jsonrpc: "2.0", id: "$id", result: {} }]
  }),
  begins("server-initialize-null", "answers `result: null`", {}, "connecting fails", {
    fails: { _tag: "TransportError", reason: "Decode" }
  }, {
    sends: [{ jsonrpc: "2.0", id: "$id", result: null }]
  }),
  {
    id: "server-modern-members",
    method: "initialize",
    deviation: "at 2024-11-05, answers with members that are newer",
    version: "2024-11-05",
    revisions: "2024-11-05",
    initialize: {
      capabilities: { tools: {} },
      serverInfo: { ...named, title: "S", icons: [{ src: "https://s/i.png" }] }
    },
    does: "accepts",
    expected: {
      value: {
        ...facts,
        version: "2024-11-05",
        serverInfo: { ...named, title: "S", icons: [{ src: "https://s/i.png" }] }
      }
    }
  }
]
