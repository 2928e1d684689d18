/**
 * Makes tools from the operations of an OpenAPI document (version 3.0, 3.1 or 3.2). The handlers of the tools call the HTTP API. The
 * schemas and descriptions of the tools come from the document. Their hints, such as `readOnlyHint`, come from the HTTP methods. The
 * arguments of a call cannot change the server or the operation of a request.
 *
 * Your program must parse the JSON or YAML of the document. When the document has several files, your program must bundle them into one
 * value. `Operations` reads the operations, `Request` makes the requests, and `ApiAnswer` reads the answers.
 *
 * @see https://spec.openapis.org/oas/v3.1.1.html
 * @since 0.1.0
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import type { HttpClientError } from "@effect/platform/HttpClientError"
import type { HttpClientRequest } from "@effect/platform/HttpClientRequest"
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import { forOperator } from "@effect-mcp/core/ClientLogger"
import type * as Feature from "@effect-mcp/core/Feature"
import * as Issue from "@effect-mcp/core/protocol/Issue"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { isMcpError } from "@effect-mcp/core/protocol/McpError"
import * as RawTool from "@effect-mcp/core/RawTool"
import type { Registry } from "@effect-mcp/core/Registry"
import type * as Tool from "@effect-mcp/core/Tool"
import * as ToolResult from "@effect-mcp/core/ToolResult"
import * as TimeLimit from "@effect-mcp/core/unstable/kit/TimeLimit"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import * as Hash from "effect/Hash"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as ApiAnswer from "./call/ApiAnswer.js"
import * as Request from "./call/Request.js"
import * as ToolLayer from "./call/ToolLayer.js"
import * as Document from "./document/Document.js"
import * as ForeignJson from "./document/ForeignJson.js"
import * as Operations from "./document/Operations.js"
import * as Schemas from "./document/Schemas.js"
import type { OpenApiError } from "./OpenApiError.js"

/**
 * An operation of the document.
 *
 * @category models
 */
export interface Operation {
  readonly method: "get" | "put" | "post" | "delete" | "patch"
  /** The path in the document, for example `/pets/{id}`. */
  readonly path: string
  /** The `operationId`; `undefined` when the operation does not have an `operationId`. */
  readonly id: string | undefined
  readonly tags: ReadonlyArray<string>
  readonly summary: string | undefined
}

/**
 * A parameter of an operation, or the body of its requests.
 *
 * @category models
 */
export interface Parameter {
  /** The name in the document; `body` for the body. */
  readonly name: string
  readonly in: "path" | "query" | "header" | "cookie" | "body"
  readonly isRequired: boolean
}

/**
 * The options of `make` and `layer`.
 *
 * @category models
 */
export interface Options<R = never> {
  /**
   * The absolute http or https URL of the API. Default: the first server of the operation. If the operation has no `servers`, the first
   * server of its path, and otherwise the first server of the document. Variables in the URL of a server get their default values.
   */
  readonly baseUrl?: string | undefined
  /**
   * Further origins that operations may have as their own server, such as `https://uploads.example.com`. Operations always may have the
   * origin of `baseUrl`, or of the first server of the document. An operation with another origin does not become a tool, because the
   * option `request` could send a token to this origin. Default: no further origins.
   */
  readonly origins?: ReadonlyArray<string> | undefined
  /**
   * Returns the name of the tool for an operation. When the function returns `undefined`, the operation does not become a tool. `make`
   * replaces characters that models do not accept, and adds a number to a name that another tool already has. Default: the `operationId`.
   * For an operation without `operationId` the default is the method and the path.
   */
  readonly name?: ((operation: Operation) => string | undefined) | undefined
  /** The tags that select operations. Only operations with one of these tags become tools. Default: all operations become tools. */
  readonly tags?: ReadonlyArray<string> | undefined
  /**
   * Returns the description, the title and the hints of the tool for an operation. Default: the description from the document, and the
   * hints from the HTTP method.
   */
  readonly describe?: ((operation: Operation) => Tool.Description) | undefined
  /**
   * Decides for each parameter, and for the body, whether your program or the model gives the value. Default: the model gives all values.
   *
   * When the function returns `undefined`, the tool has an argument for the parameter, and the model gives the value. When the function
   * returns an effect, the tool does not have this argument, and each call runs the effect for the value. The value is a JSON value.
   * `Request` writes it as text in the style of the parameter. When the value is `undefined`, the request does not have the parameter. The
   * effect may use `ServerSession` and `RequestContext`, for example for the tenant of the user. A failure of the effect is treated like a
   * failure of the option `request`.
   */
  readonly parameter?:
    | ((parameter: Parameter, operation: Operation) => Effect.Effect<unknown, Error, R> | undefined)
    | undefined
  /**
   * Changes each request before the handler sends it. For example, this function adds a token: `(request) =>
   * Effect.succeed(bearerToken(request, token))`. The function may use `ServerSession` and `RequestContext`. When the function fails, the
   * handler does not send the request. Then the model reads the message of an `McpError`. For any other error, the model reads only that
   * the request could not be sent, and the log has the error. Default: the handler sends requests unchanged.
   */
  readonly request?:
    | ((request: HttpClientRequest, operation: Operation) => Effect.Effect<HttpClientRequest, Error, R>)
    | undefined
  /**
   * Whether tools have output schemas. With `true`, a tool has an output schema if the document has a JSON schema for every successful
   * answer of the operation. When an answer does not conform to this schema, the result is an error with the answer as text. So use `false`
   * for an API that deviates from its document. Default: true.
   *
   * A tool does not have an output schema in these cases: the schema has more than 262,144 characters, the schema cannot be read (for
   * example, because of a reference to another document), or the output schemas of the document have more than 8,388,608 characters
   * together.
   */
  readonly outputs?: boolean | undefined
  /** The longest time for which a call waits for the answer of the API. Default: 30 seconds. */
  readonly timeout?: Duration.DurationInput | undefined
  /**
   * The most bytes of an answer. A longer answer of a media type `text/*` is cut. Any other longer answer becomes an error result. Default:
   * 1 MiB.
   */
  readonly maxBytes?: number | undefined
  /** The most characters of a description. A longer description is cut. Default: 2,000. */
  readonly maxDescription?: number | undefined
}

/**
 * An operation as a tool.
 *
 * @category models
 */
export interface OperationTool<R = never> {
  readonly operation: Operation
  readonly definition: Tool.Tool<string, JsonObject, JsonObject, unknown, never>
  /** The handler of the tool, which calls the API. The handler does not fail: for each error, it returns a result with `isError`. */
  readonly call: (args: JsonObject) => Effect.Effect<unknown, never, HttpClient.HttpClient | R>
}

/**
 * The tools of a document, and the operations that were skipped.
 *
 * @category models
 */
export interface OpenApi<R = never> {
  readonly tools: ReadonlyArray<OperationTool<R>>
  readonly skipped: ReadonlyArray<Skipped>
}

/**
 * An operation that cannot become a tool, or a path whose operations cannot be read.
 *
 * @category models
 */
export interface Skipped {
  /** The operation. Members that cannot be read are missing. When the whole path cannot be read, `method` is missing, too. */
  readonly operation: Pick<Operation, "path"> & { readonly [K in keyof Operation]?: Operation[K] | undefined }
  /**
   * The reason why the operation was skipped. When a part cannot be read, the reason has the JSON pointer of the part. The reason completes
   * a sentence that begins with the name of the operation.
   */
  readonly reason: string
}

/**
 * Makes tools from a document. The function skips an operation with a part that cannot be read. Examples are a reference without a target,
 * a reference to another document, and a variable in the path without a parameter. The effect fails when the value is not an OpenAPI
 * document of a supported version. It also fails when both the option `baseUrl` and the servers of the document are missing. The error has
 * the JSON pointer of the wrong part.
 *
 * @category constructors
 */
export const make = <R = never>(
  document: unknown,
  options: Options<R> = {}
): Effect.Effect<OpenApi<R>, OpenApiError> => Effect.suspend(() => Document.attempt("", () => read(document, options)))

/**
 * Serves the operations of a document as tools of a server. The layer skips each operation that cannot become a tool, and logs a warning.
 *
 * @example
 * ```ts
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as OpenApi from "@effect-mcp/openapi/OpenApi"
 * import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
 * import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
 * import { Config, Effect, Layer } from "effect"
 *
 * declare const document: unknown // the parsed JSON
 *
 * const Pets = Layer.unwrapEffect(Effect.map(Config.redacted("PETS_TOKEN"), (token) =>
 *   OpenApi.layer(document, {
 *     tags: ["pet"],
 *     request: (request) => Effect.succeed(HttpClientRequest.bearerToken(request, token))
 *   })))
 *
 * export const Server = McpServer.layer({ name: "pets", version: "1.0.0" }, Pets).pipe(
 *   Layer.provide(FetchHttpClient.layer)
 * )
 * ```
 * @category layers
 */
export const layer = <R = never>(
  document: unknown,
  options: Options<R> = {}
): Layer.Layer<
  never,
  OpenApiError,
  Registry | HttpClient.HttpClient | Exclude<R, Feature.RequestServices>
> => ToolLayer.make(make(document, options), ({ call }) => call)

const read = <R>(given: unknown, options: Options<R>): OpenApi<R> => {
  const document = Document.make(given)
  const { name: naming = defaultName, tags } = options
  const readOne = Operations.reader(document, options.outputs !== false)
  const baseOf = bases(document, options.baseUrl)
  const uniqueName = uniqueNames()
  const own = Either.try(() => Document.baseOf(document, options.baseUrl).origin)
  const origins = [...(Either.isRight(own) ? [own.right] : []), ...(options.origins ?? [])].map(originOf)
  const isNamed = (origin: string) => origins.includes(origin)
  const room = { input: MAX_INPUTS, output: MAX_OUTPUTS }
  const made = Operations.find(document).flatMap((found): ReadonlyArray<Either.Either<OperationTool<R>, Skipped>> => {
    if (Either.isLeft(found)) {
      const { error, method, path } = found.left
      return [Either.left({ operation: { method, path }, reason: unreadable(error) })]
    }
    if (tags !== undefined && !found.right.tags.some((tag) => tags.includes(tag))) return []
    const operation = operationOf(found.right)
    const wanted = naming(operation)
    return wanted === undefined ? [] : [
      Either.gen(function*() {
        const taken: Array<Taken<R>> = []
        const one = yield* Either.mapLeft(readOne(found.right, isLeftToModel(operation, options, taken)), unreadable)
        const base = yield* Either.mapLeft(baseOf(one.server), unreadable)
        if (!isNamed(base.origin)) return yield* Either.left(foreign(base.origin))
        const definition = yield* define(uniqueName(wanted), within(room, one), operation, options)
        return { operation, definition, call: caller(one, operation, definition, base, taken, options) }
      }).pipe(Either.mapLeft((reason) => ({ operation, reason })))
    ]
  })
  const [skipped, tools] = Arr.separate(made)
  return { tools, skipped }
}

/** A parameter whose value comes from the option `parameter` and not from the model. */
interface Taken<R> {
  readonly argument: string
  readonly isRequired: boolean
  readonly value: Effect.Effect<unknown, Error, R>
}

/** Returns whether the model gives the value of a parameter. When the option `parameter` gives the value, adds the parameter to `taken`. */
const isLeftToModel =
  <R>(operation: Operation, { parameter }: Options<R>, taken: Array<Taken<R>>) =>
  ({ argument, in: place, isRequired, name }: Operations.Argument): boolean => {
    const value = parameter?.({ name, in: place, isRequired }, operation)
    if (value !== undefined) taken.push({ argument, isRequired, value })
    return value === undefined
  }

/** Converts the error of a part to a reason. The reason completes a sentence that begins with the name of the operation. */
const unreadable = ({ pointer, problem }: OpenApiError): string =>
  `has a part that cannot be read: "${pointer}" ${problem}`

/**
 * Makes a function that returns the base URL of an operation. The function throws when the option `baseUrl` or the server of the document
 * cannot be used. It returns `Left` when the operation's own server cannot be used.
 */
const bases = (document: Document.Document, given: string | undefined) => {
  const common = Either.try({
    try: () => Document.baseOf(document, given),
    catch: identity
  })
  return (own: Document.Part | undefined): Either.Either<URL, OpenApiError> =>
    given !== undefined || own === undefined
      ? Either.right(Either.getOrThrowWith(common, identity))
      : Document.attempt(own.pointer, () => Document.baseOf(document, undefined, own))
}

const originOf = (text: string): string => URL.canParse(text) ? new URL(text).origin : text

const foreign = (origin: string): string =>
  `has a server of another origin than the document, ${origin}: name the origin in the option \`origins\`, or give the option \`baseUrl\``

/**
 * The most characters of the schemas of all tools of a document. Parts that several tools share count for each of these tools, because the
 * server compiles and lists each schema separately.
 */
const MAX_INPUTS = 16 * 1024 * 1024
const MAX_OUTPUTS = 8 * 1024 * 1024

/**
 * Returns the operation without schemas that are too long. `room` has the numbers of characters that the schemas of the document may still
 * have. The function subtracts the length of each schema that the operation keeps.
 */
const within = (room: { input: number; output: number }, one: Operations.Operation): Operations.Operation => {
  const fitting = (kind: "input" | "output", schema: JsonObject | undefined) => {
    if (schema === undefined) return undefined
    const length = Schemas.lengthOf(schema)
    if (length > Math.min(room[kind], Schemas.MAX_LENGTH)) return undefined
    room[kind] -= length
    return schema
  }
  const inputSchema = fitting("input", one.inputSchema)
  return { ...one, inputSchema, outputSchema: inputSchema && fitting("output", one.outputSchema) }
}

const TOO_LONG =
  `has a schema of more than ${Schemas.MAX_LENGTH} characters, or the schemas of the document have more than ${MAX_INPUTS} ` +
  "together: choose operations by the options `tags` and `name`, or shorten the schemas"

const operationOf = (found: Operations.OperationObject): Operation =>
  Struct.pick(found, "id", "method", "path", "summary", "tags")

const defaultName = ({ id, method, path }: Operation): string =>
  id ?? `${method}${path.replace(/[{}]/g, "").replace(/\/+$/, "").replace(/[^A-Za-z0-9]+/g, "_")}`

const MAX_NAME = 64

/** Makes a name that every known model API accepts. A shortened name ends with a hash, so that two long names stay different. */
const legalName = (name: string): string => {
  const safe = name.replace(/[^A-Za-z0-9_-]/gu, "_").replace(/^(?![A-Za-z_])/, "_").replace(/^__proto__$/, "_proto_")
  if (safe.length <= MAX_NAME) return safe
  const end = `_${(Hash.string(name) >>> 0).toString(36)}`
  return safe.slice(0, MAX_NAME - end.length) + end
}

/** Makes a function that converts names as `legalName` does. A name that another tool already has gets a number. */
const uniqueNames = (): (wanted: string) => string => {
  const taken = new Set<string>()
  // The last number that was added to each name. Without it, the search would be long for a document that repeats one name many times.
  const numbers = new Map<string, number>()
  return (wanted) => {
    const base = legalName(wanted)
    let name = base
    while (taken.has(name)) {
      const number = (numbers.get(base) ?? 1) + 1
      numbers.set(base, number)
      name = `${base.slice(0, MAX_NAME - 1 - String(number).length)}_${number}`
    }
    taken.add(name)
    return name
  }
}

const define = (
  name: string,
  { annotations, description, inputSchema, outputSchema }: Operations.Operation,
  operation: Operation,
  { describe, maxDescription = 2_000 }: Options<any>
): Either.Either<OperationTool["definition"], string> => {
  if (inputSchema === undefined) return Either.left(TOO_LONG)
  const described = {
    annotations,
    ...(operation.summary === undefined ? undefined : { title: ForeignJson.shortened(operation.summary, 200) }),
    ...(description === undefined ? undefined : { description: ForeignJson.shortened(description, maxDescription) }),
    ...describe?.(operation)
  }
  const attempt = (output: JsonObject | undefined) =>
    Either.try({
      try: () =>
        // Formats are not checked: the API checks the formats of requests, and its answers may deviate.
        RawTool.make(name, {
          ...described,
          inputSchema,
          outputSchema: output,
          formats: false
        }) as OperationTool["definition"],
      catch: (cause) => `cannot be described by JSON Schemas: ${String(cause instanceof Error ? cause.message : cause)}`
    })
  return outputSchema === undefined
    ? attempt(undefined)
    // Without an output schema, the answer is text.
    : Either.orElse(attempt(outputSchema), () => attempt(undefined))
}

const caller = <R>(
  one: Operations.Operation,
  operation: Operation,
  { success }: Tool.Tool.Any,
  base: URL,
  taken: ReadonlyArray<Taken<R>>,
  { maxBytes = 1_048_576, request: complete, timeout = "30 seconds" }: Options<R>
): OperationTool<R>["call"] => {
  const encode = success === undefined ? undefined : Schema.encodeUnknownEither(success as Schema.Schema<unknown>)
  const send = (request: HttpClientRequest) =>
    Effect.gen(function*() {
      const client = yield* HttpClient.HttpClient
      const init = yield* Effect.serviceOption(FetchHttpClient.RequestInit)
      const answer = yield* execute(client, request, one.method === "get" ? MAX_REDIRECTS : 0).pipe(
        // `fetch` must not follow redirects itself, because it would send the credentials of the application to another server.
        Effect.provideService(FetchHttpClient.RequestInit, { ...Option.getOrUndefined(init), redirect: "manual" }),
        Effect.flatMap((response) => ApiAnswer.read(response, maxBytes)),
        TimeLimit.call(timeout, () => Effect.succeed(ApiAnswer.failure("The API did not answer in time.")))
      )
      if (ToolResult.isToolResult(answer)) {
        return encode === undefined || answer.isError
          ? answer
          : ApiAnswer.unexpected("it is not JSON.", textOf(answer))
      }
      if (encode === undefined) return ToolResult.text(answer.text)
      const encoded = encode(answer.value)
      return Either.isRight(encoded)
        ? answer.value
        : ApiAnswer.unexpected(Issue.sentence(encoded.left.issue), answer.text)
    })
  const called = `The request "${operation.method} ${operation.path}"`
  const unsent = (option: string) => (error: Error): Effect.Effect<ToolResult.ToolResult> =>
    isMcpError(error)
      ? Effect.succeed(ApiAnswer.failure(error.message))
      : Effect.as(
        forOperator(
          Effect.logWarning(`${called} was not sent: the option \`${option}\` failed`, Cause.fail(error))
        ),
        ApiAnswer.failure(NOT_SENT)
      )
  const sent = (request: HttpClientRequest) =>
    Effect.matchEffect(complete === undefined ? Effect.succeed(request) : complete(request, operation), {
      onFailure: unsent("request"),
      onSuccess: (completed) =>
        Effect.catchAll(send(completed), (error) =>
          Effect.as(
            forOperator(Effect.logWarning(`${called} failed: ${failureForLog(error)}`)),
            ApiAnswer.failure(failureForModel(error))
          ))
    })
  const requested = (args: JsonObject) =>
    Either.match(Request.make(one, base, args), {
      onLeft: (problem) => Effect.succeed(ApiAnswer.failure(problem)),
      onRight: sent
    })
  return (args) =>
    Effect.matchEffect(Effect.forEach(taken, valueOf), {
      onFailure: unsent("parameter"),
      onSuccess: (values) => requested({ ...args, ...ForeignJson.fromEntries(values) })
    })
}

const valueOf = <R>({ argument, isRequired, value }: Taken<R>): Effect.Effect<readonly [string, unknown], Error, R> =>
  Effect.flatMap(value, (value) =>
    isRequired && (value === undefined || value === null)
      ? Effect.fail(new Error(`It gives no value for "${argument}", which the operation requires`))
      : Effect.succeed([argument, value] as const))

const MAX_REDIRECTS = 3

/** Sends a request, and follows up to `redirects` redirects to the same origin. */
const execute = (
  client: HttpClient.HttpClient,
  request: HttpClientRequest,
  redirects: number
): Effect.Effect<HttpClientResponse, HttpClientError> =>
  Effect.flatMap(client.execute(request), (response) => {
    const { location } = response.headers
    const isRedirect = redirects > 0 && [301, 302, 303, 307, 308].includes(response.status) && location !== undefined
    if (!isRedirect || !URL.canParse(location, request.url)) return Effect.succeed(response)
    const to = new URL(location, request.url)
    return to.origin === new URL(request.url).origin
      ? execute(client, Request.moved(request, to), redirects - 1)
      : Effect.succeed(response)
  })

const textOf = ({ content }: ToolResult.ToolResult): string => {
  const [first] = content
  return first?.type === "text" ? first.text : ""
}

// An error of the HTTP client contains the whole request, including the credentials of the application and the arguments. Loggers write
// every member of an error. So the log and the model do not get this error, but only the texts of the following functions.

const failureForModel = (error: HttpClientError): string =>
  error._tag === "RequestError" && error.reason === "Transport"
    ? "The API could not be reached."
    : error._tag === "RequestError"
    ? NOT_SENT
    : "The answer of the API could not be read."

const NOT_SENT = "The request to the API could not be sent."

const failureForLog = ({ _tag, cause, reason }: HttpClientError): string =>
  [`${_tag} (${reason})`, causes(cause, MAX_CAUSES).join(", ")].filter((text) => text !== "").join(": ")

const MAX_CAUSES = 5

/** Returns the names of up to `left` nested causes, the outermost first. */
const causes = (cause: unknown, left: number): ReadonlyArray<string> => {
  if (left === 0 || !(cause instanceof Error)) return []
  // The message of an error with a code is about the connection and is shown. Other messages may quote secrets, such as an invalid header.
  const isCoded = "code" in cause && typeof cause.code === "string"
  return [isCoded ? `${cause.name}: ${cause.message}` : cause.name, ...causes(cause.cause, left - 1)]
}
