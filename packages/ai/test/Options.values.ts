/**
 * A value for every public option of this package, as its docs describe it, without a cast. The compiler checks that it is
 * accepted, and what a layer then requires; nothing runs.
 */
import type { LanguageModel } from "@effect/ai"
import * as ClientToolkit from "@effect-mcp/ai/ClientToolkit"
import * as ModelSampling from "@effect-mcp/ai/ModelSampling"
import * as ToolList from "@effect-mcp/ai/ToolList"
import * as ToolOutput from "@effect-mcp/ai/ToolOutput"
import type * as ToolSearch from "@effect-mcp/ai/ToolSearch"
import * as Client from "@effect-mcp/core/Client"
import type { ClientFeatures } from "@effect-mcp/core/ClientFeatures"
import * as Definition from "@effect-mcp/core/Definition"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import * as Tool from "@effect-mcp/core/Tool"
import type * as ToolFingerprints from "@effect-mcp/core/ToolFingerprints"
import { Context, Effect, Layer } from "effect"
import { expectTypeOf } from "vitest"

/** A new option is missing here until it has a value. */
type Every<O> = { readonly [K in keyof O]-?: Exclude<O[K], undefined> }

class Vault extends Context.Tag("test/Vault")<Vault, { readonly token: Effect.Effect<string, Error> }>() {}

const Notes = Definition.make(Tool.make("search"))

const output = { maxText: 1000, maxData: 100_000, mediaTypes: ["image/png"] } satisfies Every<ToolOutput.Options>

declare const fingerprints: ToolFingerprints.ToolFingerprints

const list = {
  ...output,
  fingerprints,
  server: "notes",
  dialect: "openai",
  name: (name, server, { title }) => `${server}_${title ?? name}`,
  definition: Notes,
  onlyStrict: true,
  mendArguments: false,
  unknownArguments: "refuse",
  maxDescription: 1000,
  maxTools: 20
} satisfies Every<ToolList.Options>

export const search = {
  name: "find_tool",
  description: "Finds tools.",
  limit: 3,
  maxFound: 50,
  dialect: "gemini"
} satisfies Every<ToolSearch.Options>

const toolkit = { call: (name) => ({ timeout: name === "report" ? "1 hour" : "1 minute" }) } satisfies Every<
  ClientToolkit.Options
>

const typed = { ...toolkit, dialect: "anthropic" } satisfies Every<ClientToolkit.DefinitionOptions>

const sampling = {
  approve: (params) => Effect.as(Vault, { ...params, maxTokens: 10 }),
  review: (result) => Effect.map(Vault, () => result.model !== "secret"),
  tools: true,
  context: (from) =>
    Effect.flatMap(
      Vault,
      ({ token }) => Effect.mapError(token, () => new McpError.InternalError({ message: `Nothing of ${from}` }))
    ),
  maxTokens: 1000,
  concurrency: 2,
  dialect: "gemini"
} satisfies Every<ModelSampling.Options<Vault>>

const Sampling = ModelSampling.layer({ ...sampling, name: "model" })
expectTypeOf(Sampling).toEqualTypeOf<Layer.Layer<never, never, LanguageModel.LanguageModel | Vault | ClientFeatures>>()

export const choosing = ModelSampling.choosing(
  [{
    name: "model",
    model: Layer.die("no model"),
    configure: () => (generation) => generation,
    cost: 1,
    speed: 1,
    intelligence: 1
  }],
  sampling
)

export const used = [
  Effect.flatMap(
    Client.Client,
    (client) => Effect.flatMap(ToolList.make(client, list), (list) => ClientToolkit.fromList(list, toolkit))
  ),
  ClientToolkit.of(Notes, { ...typed, ...output })
]

export const outputs = [ClientToolkit.layer(Notes, { ...toolkit, ...output }), ToolOutput.make({ content: [] }, output)]
