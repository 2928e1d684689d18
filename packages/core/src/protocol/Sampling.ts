/**
 * The types of sampling. A server asks the client to generate a message with the client's model. The server may give tools to the model if
 * the client has declared the capability `sampling.tools`. `rules/ToolUseRules` says which messages may follow each other. With a revision
 * before 2025-11-25, a message has only one block of content. For a peer of these revisions, a message with several blocks becomes several
 * messages. A result with several blocks becomes a result with one text block.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Role } from "./Content.js"
import { Integer, JsonObject } from "./Json.js"
import * as Meta from "./Meta.js"
import { asOneBlock, SamplingBlock, SamplingBlocks, type SamplingContent } from "./SamplingContent.js"
import { rewritten, since, until } from "./schema/Since.js"
import * as Tasks from "./Tasks.js"
import { Tool } from "./Tools.js"

/** @category models */
export interface SamplingMessage extends Schema.Schema.Type<typeof SamplingMessage> {}

/** @category schemas */
export const SamplingMessage = Schema.Struct({
  role: Role,
  content: Schema.Union(SamplingBlock, SamplingBlocks),
  _meta: since("2025-11-25", Meta.any._meta)
})

const priority = Schema.optional(Schema.Number.pipe(Schema.between(0, 1)))

/** @category models */
export interface ModelPreferences extends Schema.Schema.Type<typeof ModelPreferences> {}

/**
 * The preferred models, and how important cost, speed and intelligence are, each from 0 (not important) to 1 (most important).
 *
 * @category schemas
 */
export const ModelPreferences = Schema.Struct({
  /** Model names or parts of model names, the most preferred first. */
  hints: Schema.optional(Schema.Array(Schema.Struct({ name: Schema.optional(Schema.String) }))),
  costPriority: priority,
  speedPriority: priority,
  intelligencePriority: priority
})

/** @category models */
export interface ToolChoice extends Schema.Schema.Type<typeof ToolChoice> {}

/**
 * Whether the model may (`auto`), must (`required`) or must not (`none`) use a tool. Default: `auto`.
 *
 * @category schemas
 */
export const ToolChoice = Schema.Struct({ mode: Schema.optional(Schema.Literal("auto", "required", "none")) })

const oneBlockEach = (messages: ReadonlyArray<SamplingMessage>): ReadonlyArray<SamplingMessage> =>
  messages.some(({ content }) => Array.isArray(content))
    ? messages.flatMap((message) =>
      Array.isArray(message.content)
        ? (message.content as ReadonlyArray<SamplingContent>).map((content) => ({ ...message, content }))
        : [message]
    )
    : messages

/** @category models */
export interface CreateMessageParams extends Schema.Schema.Type<typeof CreateMessageParams> {}

/** @category schemas */
export const CreateMessageParams = Schema.Struct({
  messages: rewritten({ until: "2025-06-18" }, oneBlockEach, Schema.propertySignature(Schema.Array(SamplingMessage))),
  modelPreferences: Schema.optional(ModelPreferences),
  systemPrompt: Schema.optional(Schema.String),
  /**
   * The servers whose context the client adds to the prompt. Default: `none`.
   *
   * @deprecated since 2026-07-28 (SEP-2577); a revision may be without it from 2027-07-28 on.
   */
  includeContext: Schema.optional(Schema.Literal("none", "thisServer", "allServers")),
  temperature: Schema.optional(Schema.Finite),
  /** How many tokens the model may generate at most. The client may generate fewer. */
  maxTokens: Integer,
  stopSequences: Schema.optional(Schema.Array(Schema.String)),
  /** Data for the provider of the model. */
  metadata: Schema.optional(JsonObject),
  /** The tools that the model may use. The client must have declared the capability `sampling.tools`. */
  tools: since("2025-11-25", Schema.optional(Schema.Array(Tool))),
  /** How the model uses tools. The client must have declared the capability `sampling.tools`. */
  toolChoice: since("2025-11-25", Schema.optional(ToolChoice)),
  ...Tasks.taskField,
  _meta: until("2025-11-25", Meta.request._meta)
})

/**
 * The capability that a client must have declared to receive these parameters.
 *
 * @category utils
 */
export const capability = (
  { toolChoice, tools }: Pick<CreateMessageParams, "tools" | "toolChoice">
): "sampling" | "sampling.tools" => tools === undefined && toolChoice === undefined ? "sampling" : "sampling.tools"

/** @category models */
export interface CreateMessageResult extends Schema.Schema.Type<typeof CreateMessageResult> {}

/** @category schemas */
export const CreateMessageResult = Schema.Struct({
  role: Role,
  content: rewritten(
    { until: "2025-06-18" },
    asOneBlock,
    Schema.propertySignature(Schema.Union(SamplingBlock, SamplingBlocks))
  ),
  /** The name of the model that has generated the message. */
  model: Schema.String,
  /** Why the model stopped: `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or a value of the provider. */
  stopReason: Schema.optional(Schema.String),
  ...Meta.any
})
