/**
 * Servers whose results deviate: contents, structured content, prompts, completions.
 */
import type { ServerRow } from "../Row.js"

const text = { type: "text", text: "a" }

const calls = (
  id: string,
  deviation: string,
  result: unknown,
  does: string,
  expected: ServerRow["expected"],
  more: Partial<ServerRow> = {}
): ServerRow => ({
  id,
  method: "tools/call",
  deviation,
  result,
  does,
  rule: "server/tools#tool-result",
  expected,
  ...more
})

const content = (blocks: ReadonlyArray<unknown>) => ({ content: blocks })
const mended = (value: unknown) => ({ value, reports: ["Mended"] })
const fails = (message: string) => ({ fails: { _tag: "TransportError", reason: "Decode", message } })

const blocks: ReadonlyArray<ServerRow> = ([
  ["unknown", "of an unknown type", { type: "video", data: "" }],
  ["no-type", "without a type", { text: "a" }],
  ["no-text", "of text without the text", { type: "text" }],
  ["text-number", "of text that is a number", { type: "text", text: 5 }],
  ["null", "that is `null`", null],
  ["string", "that is a text", "a"],
  ["image-no-type", "of an image without a media type", { type: "image", data: "aGk=" }],
  ["image-mime-snake", "of an image with `mime_type`", { type: "image", data: "aGk=", mime_type: "image/png" }],
  ["link-no-name", "of a link without a name", { type: "resource_link", uri: "a:b" }],
  ["resource-empty", "of a resource without text and bytes", { type: "resource", resource: { uri: "a:b" } }]
] as const).map(([id, what, block]) =>
  calls(
    `block-${id}`,
    `sends a block ${what}`,
    content([block, text]),
    "leaves the block out, and reports it",
    mended(content([text]))
  )
)

export const rows: ReadonlyArray<ServerRow> = [
  ...blocks,
  calls(
    "content-absent",
    "leaves out `content`",
    { structuredContent: { a: 1 } },
    "reads no content, and reports it",
    mended({ structuredContent: { a: 1 }, content: [] })
  ),
  calls(
    "content-null",
    "answers `content: null`",
    { content: null },
    "reads no content, and reports it",
    mended(content([]))
  ),
  calls(
    "content-text",
    "answers `content` as a text",
    { content: "a" },
    "the call fails: the content would be lost",
    fails("content")
  ),
  calls(
    "content-object",
    "answers one block in place of a list",
    { content: text },
    "the call fails: the content would be lost",
    fails("content")
  ),
  calls(
    "content-annotations",
    "annotates a block with a priority of 7",
    content([{ ...text, annotations: { priority: 7, audience: ["user"] } }]),
    "leaves the priority out, and reports it",
    mended(content([{ ...text, annotations: { audience: ["user"] } }]))
  ),
  calls(
    "content-annotations-text",
    "annotates a block with a text",
    content([{ ...text, annotations: "x" }]),
    "leaves the annotations out, and reports it",
    mended(content([text]))
  ),
  calls(
    "content-annotations-null",
    "annotates a block with `null`",
    content([{ ...text, annotations: null, _meta: null }]),
    "`null` counts as absent",
    { value: content([text]) }
  ),
  calls(
    "content-modern-block",
    "at 2024-11-05, sends audio, which is newer",
    content([{ type: "audio", data: "aGk=", mimeType: "audio/wav" }]),
    "accepts",
    { value: content([{ type: "audio", data: "aGk=", mimeType: "audio/wav" }]) },
    { version: "2024-11-05", revisions: "2024-11-05" }
  ),
  calls(
    "content-uri-empty",
    "links to an empty URI",
    content([{ type: "resource_link", uri: "", name: "x" }]),
    "accepts",
    { value: content([{ type: "resource_link", uri: "", name: "x" }]) }
  ),
  calls(
    "is-error-null",
    "answers `isError: null`",
    { content: [text], isError: null },
    "`null` counts as absent: the tool did not fail",
    { value: content([text]) }
  ),
  calls(
    "is-error-text",
    "answers `isError: \"true\"`",
    { content: [], isError: "true" },
    "the call fails: the member changes the meaning",
    fails("isError")
  ),
  calls(
    "structured-null",
    "answers `structuredContent: null`",
    { content: [], structuredContent: null },
    "keeps it: nothing is mended in structured content",
    { value: { content: [], structuredContent: null } }
  ),
  calls(
    "structured-null-inside",
    "writes `null` inside structured content",
    { content: [], structuredContent: { a: null } },
    "keeps it",
    { value: { content: [], structuredContent: { a: null } } }
  ),
  calls("structured-list", "answers a list as structured content", { content: [], structuredContent: [1] }, "accepts", {
    value: { content: [], structuredContent: [1] }
  }),
  calls("result-meta-null", "answers `_meta: null`", { content: [], _meta: null }, "`null` counts as absent", {
    value: content([])
  }),
  calls(
    "result-meta-text",
    "answers `_meta: \"x\"`",
    { content: [], _meta: "x" },
    "leaves it out, and reports it",
    mended(content([]))
  ),
  calls("result-meta-inside", "writes `null` inside `_meta`", { content: [], _meta: { a: null } }, "keeps it", {
    value: { content: [], _meta: { a: null } }
  }),
  calls("result-extra", "answers members that no revision has", { content: [], took: 5 }, "accepts", {
    value: { content: [], took: 5 }
  }),
  calls("result-empty", "answers `{}`", {}, "reads no content, and reports it", mended(content([]))),
  calls("result-list", "answers a list as the result", [text], "the call fails: a result is an object", {
    fails: { _tag: "TransportError", reason: "Decode" },
    reports: ["Malformed"]
  }),
  calls("result-text", "answers a text as the result", "done", "the call fails: a result is an object", {
    fails: { _tag: "TransportError", reason: "Decode" },
    reports: ["Malformed"]
  }),
  calls("result-null", "answers `result: null`", null, "the call fails: a result is an object", {
    fails: { _tag: "TransportError", reason: "Decode" },
    reports: ["Malformed"]
  }),
  ...([
    ["read-absent", "resources/read", "leaves out `contents`", {}, "contents: is missing"],
    ["read-no-uri", "resources/read", "sends contents without a URI", { contents: [{ text: "a" }] }, "contents.0"],
    [
      "read-empty-entry",
      "resources/read",
      "sends contents without text and bytes",
      { contents: [{ uri: "a:b" }] },
      "contents.0"
    ],
    ["get-absent", "prompts/get", "leaves out `messages`", {}, "messages: is missing"],
    ["get-role", "prompts/get", "sends a message of the role `system`", {
      messages: [{ role: "system", content: text }]
    }, "messages.0.role"],
    ["get-content-unknown", "prompts/get", "sends a message with content of an unknown type", {
      messages: [{ role: "user", content: { type: "video" } }]
    }, "messages.0.content"],
    ["get-content-list", "prompts/get", "sends a message with a list of content", {
      messages: [{ role: "user", content: [text] }]
    }, "messages.0.content"],
    ["get-content-text", "prompts/get", "sends a message with a text as content", {
      messages: [{ role: "user", content: "hi" }]
    }, "messages.0.content"],
    ["complete-absent", "completion/complete", "leaves out `completion`", {}, "completion: is missing"]
  ] as const).map(([id, method, deviation, result, place]) => ({
    id: `result-${id}`,
    method,
    deviation,
    result,
    does: "the call fails and names the place: nothing may be left out of these lists",
    expected: fails(place)
  })),
  ...([
    ["read-null", "resources/read", "answers `contents: null`, as Go writes an empty list", { contents: null }, {
      contents: []
    }],
    ["read-mime", "resources/read", "gives a media type that is a number", {
      contents: [{ uri: "a:b", text: "a", mimeType: 5 }]
    }, { contents: [{ uri: "a:b", text: "a" }] }],
    ["get-null", "prompts/get", "answers `messages: null`, as Go writes an empty list", { messages: null }, {
      messages: []
    }],
    ["get-description", "prompts/get", "describes a prompt with a number", { messages: [], description: 5 }, {
      messages: []
    }]
  ] as const).map(([id, method, deviation, result, value]) => ({
    id: `result-${id}`,
    method,
    deviation,
    result,
    does: "mends it, and reports it",
    expected: mended(value)
  })),
  {
    id: "result-complete-total",
    method: "completion/complete",
    deviation: "answers `total: \"many\"` and `hasMore: null`",
    result: { completion: { values: ["a"], total: "many", hasMore: null } },
    does: "leaves both out, and reports the first",
    expected: mended({ values: ["a"] })
  },
  {
    id: "result-complete-values",
    method: "completion/complete",
    deviation: "suggests a number",
    result: { completion: { values: ["a", 1] } },
    does: "leaves it out, and reports it",
    expected: mended({ values: ["a"] })
  },
  {
    id: "result-complete-null",
    method: "completion/complete",
    deviation: "answers `values: null`, as Go writes an empty list",
    result: { completion: { values: null } },
    does: "suggests nothing, and reports it",
    expected: mended({ values: [] })
  },
  {
    id: "result-complete-many",
    method: "completion/complete",
    deviation: "suggests more than 100 values",
    result: { completion: { values: Array.from({ length: 101 }, String) } },
    does: "accepts them all",
    rule: "server/utilities/completion",
    expected: { value: { values: Array.from({ length: 101 }, String) } }
  },
  ...["ping", "resources/subscribe", "logging/setLevel"].map((method): ServerRow => ({
    id: `result-more-${method}`,
    method,
    deviation: "answers members in place of an empty result",
    result: { ok: true },
    does: "accepts",
    expected: {}
  }))
]
