/**
 * The client that the official conformance suite runs: `node client.js <url>`. The environment variable
 * `MCP_CONFORMANCE_SCENARIO` names the scenario, and `MCP_CONFORMANCE_PROTOCOL_VERSION` the revision. A suite that names no revision
 * gets the client as it is, which finds the revision out.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Authorization from "@effect-mcp/auth/Authorization"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as Remote from "@effect-mcp/core/Remote"
import type { SkillRefused } from "@effect-mcp/extensions/SkillRefused"
import * as SkillsClient from "@effect-mcp/extensions/SkillsClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as authorization from "./authorization.js"

type Scenario = (client: ClientSessionService) => Effect.Effect<unknown, unknown>

const tools = (client: ClientSessionService) => Stream.runCollect(client.tools)

const scenarios: Readonly<Record<string, Scenario>> = {
  // The server of this scenario declares no tools, so the client does not list them.
  initialize: (client) => client.serverCapabilities.tools === undefined ? Effect.void : tools(client),
  tools_call: (client) => Effect.zipRight(tools(client), client.callTool("add_numbers", { a: 5, b: 3 })),
  "elicitation-sep1034-client-defaults": (client) =>
    Effect.zipRight(tools(client), client.callTool("test_client_elicitation_defaults", {})),
  // The stream ends without a response; the transport reconnects for it.
  "sse-retry": (client) => Effect.zipRight(tools(client), client.callTool("test_reconnection", {})),
  "json-schema-2020-12-preservation": (client) =>
    Effect.flatMap(tools(client), (listed) => {
      const tool = Array.from(listed).find(({ name }) => name === "json_schema_2020_12_tool")
      return tool === undefined
        ? Effect.fail(new Error("The server does not list json_schema_2020_12_tool"))
        : client.callTool("json_schema_echo", { schema: tool.inputSchema })
    }),
  // The server of this scenario declares nothing: a ping is one more request.
  "request-metadata": (client) => client.ping(),
  "sep-2322-client-request-state": (client) =>
    Effect.forEach(
      ["test_mrtr_echo_state", "test_mrtr_no_state", "test_mrtr_unrelated", "test_mrtr_no_result_type"],
      (name) => call(client, name),
      { discard: true }
    ),
  "http-standard-headers": (client) =>
    Effect.gen(function*() {
      for (const { name } of yield* tools(client)) yield* call(client, name)
      for (const { uri } of yield* Stream.runCollect(client.resources)) yield* client.readResource(uri)
      for (const { name } of yield* Stream.runCollect(client.prompts)) yield* client.getPrompt(name)
    }),
  "http-custom-headers": (client) =>
    Effect.gen(function*() {
      yield* tools(client)
      const { toolCalls } = context as unknown as { readonly toolCalls: ReadonlyArray<ToolCall> }
      for (const { arguments: args, name } of toolCalls) yield* call(client, name, args)
    }),
  "http-invalid-tool-headers": (client) =>
    Effect.flatMap(tools(client), Effect.forEach(({ name }) => call(client, name, { region: "us-west1" }))),
  "json-schema-ref-no-deref": tools,
  "sep-2640-client-no-prefetch": (client) => Stream.runDrain(SkillsClient.make(client).list),
  "sep-2640-client-verify-digest": (client) => loadSkill(client, "Digest"),
  // The server sends more bytes than the entry says.
  "sep-2640-client-verify-size": (client) => loadSkill(client, "Size"),
  "sep-2640-client-verify-frontmatter": (client) => loadSkill(client, "FrontMatter")
}

/** Loads a skill whose `SKILL.md` differs from its entry, and would read its other files next. */
const loadSkill = (client: ClientSessionService, expected: SkillRefused["reason"]) => {
  const skills = SkillsClient.make(client)
  return Stream.runForEach(
    skills.list,
    (entry) => Effect.flatMap(skills.load(entry), ({ files, read }) => Effect.forEach(files, ({ path }) => read(path)))
  ).pipe(
    Effect.flip,
    Effect.filterOrFail((error) => error._tag === "SkillRefused" && error.reason === expected, (error) => error)
  )
}

interface ToolCall {
  readonly name: string
  readonly arguments: JsonObject
}

/** What the suite gives a scenario. */
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}") as Readonly<Record<string, string>>

/** Of every scenario of authorization. */
const authorized: Scenario = (client) => Effect.zipRight(tools(client), client.callTool("test-tool", {}))

/** The scenarios look at what the client sends; not every tool of theirs gives a valid result. */
const call = (client: ClientSessionService, name: string, args: JsonObject = {}) =>
  Effect.ignore(client.callTool(name, args, { checkOutput: false }))

// A user who accepts every form without a value, so that the fields get their defaults, and confirms what is asked.
const accepting = Layer.mergeAll(
  ClientFeatures.elicitation(({ requestedSchema: { properties } }) =>
    Effect.succeed({ action: "accept", content: "confirmed" in properties ? { confirmed: true } : {} })
  ),
  ClientFeatures.sampling(() =>
    Effect.succeed({ role: "assistant", content: { type: "text", text: "This is a test response" }, model: "test" })
  ),
  ClientFeatures.roots(Effect.succeed([]))
)

const program = Effect.gen(function*() {
  const url = process.argv.at(-1) ?? ""
  const name = process.env.MCP_CONFORMANCE_SCENARIO ?? "initialize"
  const version = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION
  const scenario = name.startsWith("auth/") ? authorized : scenarios[name]
  if (scenario === undefined) return yield* Effect.fail(new Error(`There is no scenario "${name}"`))
  if (version !== undefined && !Version.isLegacy(version) && !Version.isModern(version)) {
    return yield* Effect.fail(new Error(`Revision ${version} is not supported`))
  }
  const options = {
    ...(version === undefined ? undefined : { versions: [version] as const }),
    features: accepting,
    extensions: [SkillsClient.extension]
  } as const
  yield* Effect.scoped(
    name.startsWith("auth/")
      ? Client.make(Remote.connector(url, { authorize: Authorization.authorize }), options).pipe(
        Effect.flatMap(scenario),
        Effect.provide(authorization.layer(url, name, context))
      )
      : Effect.flatMap(Client.make(Remote.connector(url), options), scenario)
  )
})

program.pipe(
  Effect.provide(NodeHttpClient.layerUndici),
  NodeRuntime.runMain
)
