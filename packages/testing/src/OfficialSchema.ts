/**
 * Checks messages against the official JSON schema of a revision: single messages with `make`, or the messages of a whole conversation with
 * `check`. `TestTransport` uses this module.
 *
 * This module uses the schema files of the specification, and not the schemas of `@effect-mcp/core`. Therefore it can find mistakes in the
 * schemas of `@effect-mcp/core`.
 *
 * @since 0.1.0
 */
import * as Message from "@effect-mcp/core/Message"
import type * as Extension from "@effect-mcp/core/protocol/Extension"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Meta from "@effect-mcp/core/protocol/Meta"
import * as Version from "@effect-mcp/core/protocol/Version"
import { Ajv } from "ajv"
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import addFormatsModule from "ajv-formats"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import * as Transcript from "./Transcript.js"

/** @category models */
export interface OfficialSchema {
  readonly version: Version.Version
  /**
   * Returns the violations in a request or notification. Returns `undefined` when there are no violations, and when the revision does not
   * have the method.
   */
  readonly call: (message: Message.Request | Message.Notification) => string | undefined
  /**
   * Returns the violations in a result of a method; `undefined` when there are no violations. With `withTask`, the result may also be a
   * task. Use `withTask` for a request with the member `task`.
   */
  readonly result: (method: string, result: unknown, withTask?: boolean) => string | undefined
  /**
   * Returns the violations of JSON-RPC in any message; `undefined` when there are no violations. An error without an id is valid, because
   * it may answer a message that could not be read.
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

const documents: Readonly<Record<Version.Version, () => Promise<{ readonly default: unknown }>>> = {
  "2024-11-05": () => import("./schema/2024-11-05.json", { with: { type: "json" } }),
  "2025-03-26": () => import("./schema/2025-03-26.json", { with: { type: "json" } }),
  "2025-06-18": () => import("./schema/2025-06-18.json", { with: { type: "json" } }),
  "2025-11-25": () => import("./schema/2025-11-25.json", { with: { type: "json" } }),
  "2026-07-28": () => import("./schema/2026-07-28.json", { with: { type: "json" } })
}

const compiled = new Map<Version.Version, OfficialSchema>()

/**
 * Makes the checks of a revision. The schema is read and compiled on the first use.
 *
 * @category constructors
 */
export const make = (version: Version.Version): Effect.Effect<OfficialSchema> =>
  Effect.suspend(() => {
    const known = compiled.get(version)
    if (known !== undefined) return Effect.succeed(known)
    return Effect.map(Effect.promise(documents[version]), (module) => {
      // Another caller may have compiled the schema in the meantime.
      const schema = compiled.get(version) ?? compile(version, module.default as Document)
      compiled.set(version, schema)
      return schema
    })
  })

const compile = (version: Version.Version, document: Document): OfficialSchema => {
  const at = document.$defs === undefined ? "definitions" : "$defs"
  const definitions = document[at] ?? {}
  // The schemas of the first three revisions are in draft-07, the others in draft 2020-12.
  const ajv = document.$schema?.includes("draft-07") === true
    ? new Ajv({ strict: false, allErrors: true })
    : new Ajv2020({ strict: false, allErrors: true })
  // The package is a CommonJS module, so its function is the default export of the default export.
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
    // The schema of revision 2026-07-28 has two names for one definition. The first name is used.
    if (method !== undefined && !byMethod.has(method)) byMethod.set(method, name)
  }
  return {
    version,
    call: (message) => {
      const name = byMethod.get(message.method)
      return name === undefined ? undefined : check(name, message)
    },
    result: (method, result, withTask) => {
      const name = byMethod.get(method)?.replace(/Request$/, "Result")
      if (name === undefined) return undefined
      if (withTask === true && Predicate.hasProperty(result, "task") && definitions["CreateTaskResult"] !== undefined) {
        return check("CreateTaskResult", result)
      }
      if (isInputRequired(result) && canRequireInput(definitions[`${name}Response`])) {
        return check("InputRequiredResult", result)
      }
      return check(definitions[name] === undefined ? "EmptyResult" : name, result)
    },
    message: (message) =>
      check("JSONRPCMessage", withId(message)) ??
        // The schema accepts a request with an invalid id as a notification, so requests are checked a second time.
        ("method" in message && "id" in message ? check("JSONRPCRequest", message) : undefined)
  }
}

// `InputRequiredResult` accepts every result with a `resultType`, so the value of `resultType` decides which definition is used.
const isInputRequired = (result: unknown): boolean =>
  (result as { readonly resultType?: unknown } | null)?.resultType === "input_required"

const canRequireInput = (response: Definition | undefined): boolean =>
  response?.properties?.result?.anyOf?.some(({ $ref }) => $ref.endsWith("/InputRequiredResult")) === true

// The schemas of revisions before 2025-11-25 require an id in errors, but JSON-RPC does not.
const withId = (message: Message.Message): Message.Message =>
  Message.isResponse(message) && !Message.isSuccess(message) && (message.id === undefined || message.id === null)
    ? { ...message, id: 0 }
    : message

/**
 * A violation: a message that the schema does not allow.
 *
 * @category models
 */
export interface Violation {
  /** The side that has sent the message. */
  readonly from: Transcript.Entry["from"]
  readonly message: Message.Incoming
  /**
   * All errors of the message against one definition of the schema. If a message violates several definitions, there are several
   * violations.
   */
  readonly problem: string
}

/**
 * The check of a running conversation.
 *
 * @category models
 */
export interface Check {
  /**
   * Checks the next message of one side. `shown` is the message in reports, for example without secrets. Default of `shown`: the message
   * itself.
   */
  readonly observe: (from: Transcript.Entry["from"], sent: Message.Incoming, shown?: Message.Message) => void
  /** The violations so far: each message that the schema does not allow, with the reason. */
  readonly violations: ReadonlyArray<string>
}

/**
 * Checks the messages of both sides or of one side. Each message is checked against the schema of its own revision. The official schemas do
 * not have the result types of `extensions`; for a result with such a type, only the members that all results have are checked. Without
 * `onViolation`, the scope dies with all violations when it closes. With `onViolation`, this function gets a violation as soon as the
 * message is observed.
 *
 * @category utils
 */
export const check = (
  checked: true | Transcript.Entry["from"] = true,
  extensions: ReadonlyArray<Extension.Extension.Any> = [],
  onViolation?: (violation: Violation) => void
): Effect.Effect<Check, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.map(
      Effect.forEach(Version.all, (version) => Effect.map(make(version), (schema) => [version, schema] as const)),
      (schemas) => checkBy(new Map<string, OfficialSchema>(schemas), checked, extensions, onViolation)
    ),
    ({ violations }) =>
      violations.length === 0 || onViolation !== undefined
        ? Effect.void
        : Effect.dieMessage(`The specification does not allow:\n${violations.join("\n")}`)
  )

/** Returns a hint for a result whose `resultType` the specification does not define; "" for any other result. */
const hint = (result: JsonObject | null): string => {
  const { resultType } = result ?? {}
  return resultType === undefined || resultType === "complete" || resultType === "input_required"
    ? ""
    : "\n    Is its \"resultType\" of an extension? Then name the extension in the option \"extensions\" of the test"
}

/** A request that has no response yet, and the schema for the response. */
interface Requested {
  readonly method: string
  readonly schema: OfficialSchema
  /** Whether the response may be a task. */
  readonly withTask: boolean
  /** How many requests with this id have no response yet. */
  open: number
}

const checkBy = (
  schemas: ReadonlyMap<string, OfficialSchema>,
  checked: true | Transcript.Entry["from"],
  extensions: ReadonlyArray<Extension.Extension.Any>,
  onViolation: ((violation: Violation) => void) | undefined
): Check => {
  const resultTypes = extensions.flatMap(({ results }) => Object.values(results) as ReadonlyArray<Extension.ResultType>)
  const isExtended = (method: string, result: JsonObject): boolean =>
    resultTypes.some((one) => one.method === method && one.type === result.resultType)
  const requested = {
    client: new Map<Message.RequestId, Requested>(),
    server: new Map<Message.RequestId, Requested>()
  }
  const violations: Array<string> = []
  /** The schema of the revision of the handshake. Before a handshake, it is the schema of the last request of revision 2026-07-28. */
  let schema = schemas.get(Version.latestLegacy)!
  let initialized = false
  /**
   * Returns the schema for a request or notification. It is the schema of the revision in `_meta`. Without a revision in `_meta`, it is the
   * schema of the conversation.
   */
  const schemaOf = ({ method, params }: Message.Request | Message.Notification): OfficialSchema => {
    const meta = params?._meta as Record<string, unknown> | null | undefined
    const named = method === "initialize" ? undefined : schemas.get(meta?.[Meta.keys.protocolVersion] as string)
    if (named !== undefined && !initialized) {
      schema = named
    }
    return named ?? (meta?.[Meta.keys.subscriptionId] === undefined ? schema : schemas.get(Version.latestModern)!)
  }
  /** Records a request. Returns `true` when the id of the request is new. */
  const requestedBy = (
    from: Transcript.Entry["from"],
    { id, method, params }: Message.Request,
    schema: OfficialSchema
  ): boolean => {
    const open = requested[from].get(id)?.open ?? 0
    requested[from].set(id, { method, schema, withTask: params?.task !== undefined, open: open + 1 })
    return open === 0
  }
  const problemsOf = (from: Transcript.Entry["from"], sent: Message.Incoming): ReadonlyArray<string | undefined> => {
    if (Message.isMalformed(sent)) {
      // Each element of a batch may have a response.
      for (const element of sent.batch ?? []) {
        const one = Message.fromUnknown(element)
        if (!Message.isMalformed(one) && Message.isRequest(one)) requestedBy(from, one, schemaOf(one))
      }
      return [sent.message]
    }
    if (!Message.isResponse(sent)) {
      const schema = schemaOf(sent)
      const isNew = !Message.isRequest(sent) || requestedBy(from, sent, schema)
      return [schema.message(sent), schema.call(sent), isNew ? undefined : "An open request has the same id"]
    }
    const requester = requested[from === "client" ? "server" : "client"]
    const request = sent.id === undefined || sent.id === null ? undefined : requester.get(sent.id)
    if (request !== undefined && --request.open === 0) requester.delete(sent.id!)
    if (!Message.isSuccess(sent)) return [(request?.schema ?? schema).message(sent)]
    if (request === undefined) return [schema.message(sent), "The response answers no open request"]
    if (isExtended(request.method, sent.result)) return [request.schema.message(sent)]
    if (request.method !== "initialize") {
      const problem = request.schema.result(request.method, sent.result, request.withTask)
      return [request.schema.message(sent), problem === undefined ? undefined : `${problem}${hint(sent.result)}`]
    }
    initialized = true
    schema = schemas.get(sent.result.protocolVersion as string) ?? schema
    return [schema.message(sent), schema.result(request.method, sent.result)]
  }
  return {
    violations,
    observe: (from, sent, shown) => {
      for (const problem of problemsOf(from, sent)) {
        if (problem !== undefined && (checked === true || checked === from)) {
          violations.push(`${Transcript.line({ from, message: shown ?? (sent as Message.Message) })}\n    ${problem}`)
          onViolation?.({ from, message: sent, problem })
        }
      }
    }
  }
}
