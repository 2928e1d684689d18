/**
 * Servers whose lists deviate: entries, hints and cursors.
 */
import type { ServerRow } from "../Row.js"

const tool = { name: "a", inputSchema: { type: "object" } }
const other = { name: "b", inputSchema: { type: "object" } }

const lists = (
  id: string,
  deviation: string,
  entry: unknown,
  does: string,
  read: unknown,
  more: Partial<ServerRow> & { readonly reports?: ReadonlyArray<string> } = {}
): ServerRow => {
  const { reports = ["Mended"], ...rest } = more
  return {
    id,
    method: "tools/list",
    deviation,
    result: { tools: [entry, other] },
    does,
    rule: "server/tools#data-types",
    expected: { value: { tools: read === undefined ? [other] : [read, other] }, reports },
    ...rest
  }
}

const dropped = "leaves the tool out, and reports it; the others stay"
const without = "leaves the member out, and reports it; the tool stays"
const silent = { reports: [] }

const tools: ReadonlyArray<ServerRow> = [
  lists("tool-null", "lists `null`", null, dropped, undefined),
  lists("tool-text", "lists the name of a tool only", "a", dropped, undefined),
  lists("tool-no-name", "lists a tool without a name", { inputSchema: { type: "object" } }, dropped, undefined),
  lists("tool-name-number", "lists a tool with a number as its name", { ...tool, name: 5 }, dropped, undefined),
  lists("tool-no-schema", "lists a tool without `inputSchema`", { name: "a" }, dropped, undefined),
  lists(
    "tool-schema-snake",
    "writes `input_schema`",
    { name: "a", input_schema: { type: "object" } },
    dropped,
    undefined
  ),
  lists(
    "tool-schema-null",
    "lists a tool with `inputSchema: null`",
    { name: "a", inputSchema: null },
    dropped,
    undefined
  ),
  lists(
    "tool-schema-true",
    "lists a tool with `inputSchema: true`",
    { name: "a", inputSchema: true },
    dropped,
    undefined
  ),
  lists(
    "tool-schema-no-type",
    "lists a tool whose schema has no `type`",
    { name: "a", inputSchema: { properties: {} } },
    "reads the type as `object`, and reports it",
    { name: "a", inputSchema: { type: "object", properties: {} } }
  ),
  lists(
    "tool-schema-empty",
    "lists a tool with the schema `{}`",
    { name: "a", inputSchema: {} },
    "reads the type as `object`, and reports it",
    tool
  ),
  lists(
    "tool-schema-type",
    "lists a tool whose schema has the type `array`",
    { name: "a", inputSchema: { type: "array" } },
    dropped,
    undefined
  ),
  lists(
    "tool-schema-dialect",
    "names the dialect of a schema by a number",
    { name: "a", inputSchema: { type: "object", $schema: 7 } },
    dropped,
    undefined
  ),
  lists(
    "tool-schema-null-inside",
    "writes `null` inside a schema",
    { name: "a", inputSchema: { type: "object", default: null } },
    "keeps it: nothing is mended in a schema",
    { name: "a", inputSchema: { type: "object", default: null } },
    silent
  ),
  lists("tool-output-text", "gives a text as `outputSchema`", { ...tool, outputSchema: "none" }, without, tool),
  lists(
    "tool-output-null",
    "gives `outputSchema: null`",
    { ...tool, outputSchema: null },
    "`null` counts as absent",
    tool,
    silent
  ),
  lists(
    "tool-title-null",
    "gives `title`, `description` and `annotations` as `null`",
    { ...tool, title: null, description: null, annotations: null, icons: null, _meta: null },
    "`null` counts as absent",
    tool,
    silent
  ),
  lists("tool-title", "gives a title that is a number", { ...tool, title: 5 }, without, tool),
  lists("tool-description", "gives a description that is a list", { ...tool, description: ["a"] }, without, tool),
  lists("tool-annotations-text", "gives `annotations` as a text", { ...tool, annotations: "read-only" }, without, tool),
  lists(
    "tool-hint-text",
    "gives the hint `readOnlyHint: \"true\"`",
    { ...tool, annotations: { title: "A", readOnlyHint: "true" } },
    "leaves the hint out, and reports it: the default is the careful one",
    { ...tool, annotations: { title: "A" } }
  ),
  lists(
    "tool-hint-null",
    "gives the hint `destructiveHint: null`",
    { ...tool, annotations: { destructiveHint: null } },
    "`null` counts as absent",
    { ...tool, annotations: {} },
    silent
  ),
  lists("tool-hint-unknown", "gives a hint that does not exist", { ...tool, annotations: { funHint: 1 } }, "accepts", {
    ...tool,
    annotations: { funHint: 1 }
  }, silent),
  lists(
    "tool-icon",
    "gives an icon without a source",
    { ...tool, icons: [{ sizes: ["1x1"] }, { src: "https://s/i.png" }] },
    "leaves the icon out, and reports it",
    { ...tool, icons: [{ src: "https://s/i.png" }] }
  ),
  lists(
    "tool-icon-sizes",
    "gives the sizes of an icon as a text, as drafts did",
    { ...tool, icons: [{ src: "https://s/i.png", sizes: "48x48" }] },
    without,
    { ...tool, icons: [{ src: "https://s/i.png" }] }
  ),
  lists(
    "tool-icon-theme",
    "gives an icon a theme that does not exist",
    { ...tool, icons: [{ src: "https://s/i.png", theme: "blue" }] },
    without,
    { ...tool, icons: [{ src: "https://s/i.png" }] }
  ),
  lists(
    "tool-execution",
    "gives `taskSupport` a value that does not exist",
    { ...tool, execution: { taskSupport: "maybe" } },
    without,
    { ...tool, execution: {} }
  ),
  lists("tool-meta", "gives `_meta: []`", { ...tool, _meta: [] }, without, tool),
  lists("tool-extra", "gives members that no revision has", { ...tool, version: "1", deprecated: true }, "accepts", {
    ...tool,
    version: "1",
    deprecated: true
  }, silent),
  lists(
    "tool-name-spaces",
    "lists a tool whose name has spaces",
    { ...tool, name: "a b" },
    "accepts; only a server warns of names",
    { ...tool, name: "a b" },
    { ...silent, rule: "server/tools#tool-names" }
  )
]

const empty: ReadonlyArray<ServerRow> = ([
  ["tools/list", "tools"],
  ["resources/list", "resources"],
  ["resources/templates/list", "resourceTemplates"],
  ["prompts/list", "prompts"]
] as const).flatMap(([method, name]): ReadonlyArray<ServerRow> => [
  {
    id: `${name}-null`,
    method,
    deviation: `answers \`${name}: null\`, as Go writes an empty list`,
    result: { [name]: null },
    does: "reads an empty list, and reports it",
    expected: { value: { [name]: [] }, reports: ["Mended"] }
  },
  {
    id: `${name}-absent`,
    method,
    deviation: `leaves out \`${name}\``,
    result: {},
    does: "the call fails and names the place",
    expected: { fails: { _tag: "TransportError", reason: "Decode", message: `${name}: is missing` } }
  },
  {
    id: `${name}-object`,
    method,
    deviation: `answers \`${name}\` as an object by name`,
    result: { [name]: { a: {} } },
    does: "the call fails and names the place",
    expected: { fails: { _tag: "TransportError", reason: "Decode", message: name } }
  },
  {
    id: `${name}-cursor-empty`,
    method,
    deviation: "ends with `nextCursor: \"\"`",
    result: { [name]: [], nextCursor: "" },
    does: "the list ends: an empty cursor is none",
    revisions: "all up to 2025-11-25; from 2026-07-28 on it is a cursor",
    rule: "server/utilities/pagination",
    expected: { value: { [name]: [] } }
  },
  {
    id: `${name}-cursor-null`,
    method,
    deviation: "ends with `nextCursor: null`",
    result: { [name]: [], nextCursor: null },
    does: "`null` counts as absent: the list ends",
    rule: "server/utilities/pagination",
    expected: { value: { [name]: [] } }
  },
  {
    id: `${name}-cursor-number`,
    method,
    deviation: "gives a cursor that is a number",
    result: { [name]: [], nextCursor: 2 },
    does: "the call fails: without the cursor, entries would be lost",
    rule: "server/utilities/pagination",
    expected: { fails: { _tag: "TransportError", reason: "Decode", message: "nextCursor" } }
  }
])

const resource = { name: "r", uri: "memo://r" }

const entries: ReadonlyArray<ServerRow> = [
  ["resource-no-uri", "resources/list", "lists a resource without a URI", { resources: [{ name: "x" }, resource] }, {
    resources: [resource]
  }],
  ["resource-no-name", "resources/list", "lists a resource without a name", {
    resources: [{ uri: "memo://x" }, resource]
  }, { resources: [resource] }],
  ["resource-size", "resources/list", "gives the size of a resource as a text", {
    resources: [{ ...resource, size: "12" }]
  }, { resources: [resource] }],
  ["resource-mime", "resources/list", "gives the media type of a resource as a list", {
    resources: [{ ...resource, mimeType: ["a/b"] }]
  }, { resources: [resource] }],
  ["resource-priority", "resources/list", "gives a priority of 5", {
    resources: [{ ...resource, annotations: { priority: 5 } }]
  }, { resources: [{ ...resource, annotations: {} }] }],
  ["resource-audience", "resources/list", "gives an audience that does not exist", {
    resources: [{ ...resource, annotations: { audience: ["robot"] } }]
  }, { resources: [{ ...resource, annotations: {} }] }],
  ["template-no-uri", "resources/templates/list", "lists a template without its text", {
    resourceTemplates: [{ name: "t" }]
  }, { resourceTemplates: [] }],
  ["prompt-no-name", "prompts/list", "lists a prompt without a name", { prompts: [{}, { name: "p" }] }, {
    prompts: [{ name: "p" }]
  }],
  ["prompt-argument-no-name", "prompts/list", "lists a prompt with an argument without a name", {
    prompts: [{ name: "x", arguments: [{}] }, { name: "p" }]
  }, { prompts: [{ name: "p" }] }],
  ["prompt-argument-required", "prompts/list", "writes `required: \"yes\"` for an argument", {
    prompts: [{ name: "x", arguments: [{ name: "a", required: "yes" }] }, { name: "p" }]
  }, { prompts: [{ name: "p" }] }],
  ["prompt-argument-description", "prompts/list", "gives the description of an argument as a number", {
    prompts: [{ name: "x", arguments: [{ name: "a", description: 1 }] }]
  }, { prompts: [{ name: "x", arguments: [{ name: "a" }] }] }]
].map(([id, method, deviation, result, value]) => ({
  id: id as string,
  method: method as string,
  deviation: deviation as string,
  result,
  does: "leaves out what it cannot read, and reports it; the rest stays",
  expected: { value, reports: ["Mended"] }
}))

export const rows: ReadonlyArray<ServerRow> = [
  ...tools,
  ...empty,
  ...entries,
  {
    id: "prompt-arguments-null",
    method: "prompts/list",
    deviation: "lists a prompt with `arguments: null`",
    result: { prompts: [{ name: "p", arguments: null }] },
    does: "`null` counts as absent",
    expected: { value: { prompts: [{ name: "p" }] } }
  },
  {
    id: "cursor-repeats",
    method: "tools/list, all pages",
    deviation: "gives the same cursor again and again",
    result: { tools: [tool], nextCursor: "same" },
    does: "the list ends there, with a report",
    rule: "server/utilities/pagination",
    expected: { value: [tool, tool], reports: ["Mended"] }
  },
  {
    id: "tool-duplicates",
    method: "tools/list",
    deviation: "lists a name twice",
    result: { tools: [tool, tool] },
    does: "accepts both",
    expected: { value: { tools: [tool, tool] } }
  }
]
