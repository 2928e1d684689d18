/**
 * The oracle: each revision's official message schema, asked whether a message may be said. Everything that crosses a test
 * transport is put to it, from both sides.
 *
 * It knows the specification's own file and nothing of our vocabulary, which is what makes its word worth something.
 *
 * @since 0.1.0
 */
import * as Message from "@effect-mcp/jsonrpc/Message"
import type { Version } from "@effect-mcp/protocol/Version"
import { Ajv } from "ajv"
import type { ValidateFunction } from "ajv/dist/2020.js"
import { Ajv2020 } from "ajv/dist/2020.js"
import addFormatsModule from "ajv-formats"
import * as Effect from "effect/Effect"

/**
 * @since 0.1.0
 * @category models
 */
export interface OfficialSchema {
  readonly version: Version
  /** What is wrong with a request or a notification; `undefined` when nothing is, or when it is no method of the revision. */
  readonly call: (message: Message.Request | Message.Notification) => string | undefined
  /** What is wrong with a result of a method. */
  readonly result: (method: string, result: unknown) => string | undefined
  /**
   * What is wrong with the shape of any message, whatever its method. That an error has no id is not wrong: it answers what
   * could not be read.
   */
  readonly message: (message: Message.Message) => string | undefined
}

interface Definition {
  readonly properties?: {
    readonly method?: { readonly const?: string }
    readonly result?: { readonly anyOf?: ReadonlyArray<{ readonly $ref: string }> }
  }
}

interface Document {
  readonly $schema?: string
  readonly $defs?: Readonly<Record<string, Definition>>
  readonly definitions?: Readonly<Record<string, Definition>>
}

const documents: Readonly<Record<Version, () => Promise<{ readonly default: unknown }>>> = {
  "2024-11-05": () => import("./schema/2024-11-05.json", { with: { type: "json" } }),
  "2025-03-26": () => import("./schema/2025-03-26.json", { with: { type: "json" } }),
  "2025-06-18": () => import("./schema/2025-06-18.json", { with: { type: "json" } }),
  "2025-11-25": () => import("./schema/2025-11-25.json", { with: { type: "json" } }),
  "2026-07-28": () => import("./schema/2026-07-28.json", { with: { type: "json" } })
}

const made = new Map<Version, OfficialSchema>()

/**
 * The oracle of a revision, read and compiled on first use.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (version: Version): Effect.Effect<OfficialSchema> =>
  Effect.suspend(() => {
    const known = made.get(version)
    if (known !== undefined) return Effect.succeed(known)
    return Effect.map(Effect.promise(documents[version]), (module) => {
      // Whoever asked at the same time may have been first.
      const schema = made.get(version) ?? compile(version, module.default as Document)
      made.set(version, schema)
      return schema
    })
  })

const compile = (version: Version, document: Document): OfficialSchema => {
  const at = document.$defs === undefined ? "definitions" : "$defs"
  const definitions = document[at] ?? {}
  // The first three revisions are written in draft-07, the others in 2020-12.
  const ajv = document.$schema?.includes("draft-07") === true
    ? new Ajv({ strict: false })
    : new Ajv2020({ strict: false })
  // The module is CommonJS: its function is the default of the default.
  const addFormats = addFormatsModule as unknown as { readonly default: (ajv: Ajv) => void }
  addFormats.default(ajv)
  ajv.addSchema(document, "official")
  const validators = new Map<string, ValidateFunction>()
  const check = (name: string, value: unknown): string | undefined => {
    let validate = validators.get(name)
    if (validate === undefined) validators.set(name, validate = ajv.compile({ $ref: `official#/${at}/${name}` }))
    if (validate(value)) return undefined
    return `${name} of ${version}: ${ajv.errorsText(validate.errors, { dataVar: "message" })}`
  }
  const byMethod = new Map<string, string>()
  for (const [name, { properties }] of Object.entries(definitions)) {
    const method = properties?.method?.const
    // A name of the modern schema stands for another one.
    if (method !== undefined && !byMethod.has(method)) byMethod.set(method, name)
  }
  return {
    version,
    call: (message) => {
      const name = byMethod.get(message.method)
      return name === undefined ? undefined : check(name, message)
    },
    result: (method, result) => {
      const name = byMethod.get(method)?.replace(/Request$/, "Result")
      if (name === undefined) return undefined
      if (isQuestion(result) && mayAsk(definitions[`${name}Response`])) return check("InputRequiredResult", result)
      return check(definitions[name] === undefined ? "EmptyResult" : name, result)
    },
    message: (message) => check("JSONRPCMessage", attributed(message))
  }
}

// The schema of a question lets any result pass that says of what type it is: the type decides.
const isQuestion = (result: unknown): boolean =>
  (result as { readonly resultType?: unknown } | null)?.resultType === "input_required"

const mayAsk = (response: Definition | undefined): boolean =>
  response?.properties?.result?.anyOf?.some(({ $ref }) => $ref.endsWith("/InputRequiredResult")) === true

// The revisions before 2025-11-25 have no words for an error that belongs to no request; JSON-RPC has.
const attributed = (message: Message.Message): Message.Message =>
  Message.isResponse(message) && !Message.isSuccess(message) && (message.id === undefined || message.id === null)
    ? { ...message, id: 0 }
    : message
