/**
 * Reads the operations of an OpenAPI document, for `OpenApi`. An operation has parameters, a request body, schemas of its answers, a
 * description and hints. Each parameter and each body gets a name as an argument of the tool. `Schemas` converts the schemas. `Request`
 * makes the requests of calls, and `ApiAnswer` reads the answers.
 */
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import type { ToolAnnotations } from "@effect-mcp/core/protocol/Tools"
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import type { OpenApiError } from "../OpenApiError.js"
import * as Document from "./Document.js"
import * as ForeignJson from "./ForeignJson.js"
import * as Schemas from "./Schemas.js"

export type Method = "get" | "put" | "post" | "delete" | "patch"

const methods: ReadonlyArray<Method> = ["get", "put", "post", "delete", "patch"]

export type Location = "path" | "query" | "header" | "cookie"

/** A parameter of the request of an operation. */
export interface Parameter {
  /** The name of the tool's argument. */
  readonly argument: string
  readonly name: string
  readonly in: Location
  readonly style: string
  readonly explode: boolean
  /** Whether the request contains the value as JSON text. */
  readonly isJson: boolean
}

export type BodyKind = "json" | "form" | "multipart" | "text" | "bytes"

export interface Body {
  readonly argument: string
  readonly mediaType: string
  readonly kind: BodyKind
}

/**
 * An operation as `find` returns it. It has the members that the options `name` and `tags` need, and the parts of the document that
 * `reader` reads later.
 */
export interface OperationObject {
  readonly method: Method
  readonly path: string
  readonly id: string | undefined
  readonly tags: ReadonlyArray<string>
  readonly summary: string | undefined
  readonly item: Document.Part
  readonly at: Document.Part
}

/** A parameter, or the body, of an operation. The option `parameter` of `OpenApi` gets these data. */
export interface Argument {
  /** The name of the tool's argument. */
  readonly argument: string
  /** The name in the document; `body` for the body. */
  readonly name: string
  readonly in: Location | "body"
  readonly isRequired: boolean
}

export interface Operation {
  readonly method: Method
  /** The path in the document. */
  readonly path: string
  /** The server of the operation or of its path; `undefined` when the operation uses the server of the document. */
  readonly server: Document.Part | undefined
  readonly description: string | undefined
  readonly annotations: ToolAnnotations
  readonly parameters: ReadonlyArray<Parameter>
  readonly body: Body | undefined
  /** The schema of the tool's arguments; `undefined` when this schema would be too long. */
  readonly inputSchema: JsonObject | undefined
  /**
   * The schema of successful answers. It is `undefined` when one of these answers has no JSON content or no schema, or when the schema is
   * too long.
   */
  readonly outputSchema: JsonObject | undefined
}

/** A path, or an operation of a path, that cannot be read. */
export interface Broken {
  readonly path: string
  /** The method of the operation; `undefined` when the whole path cannot be read. */
  readonly method: Method | undefined
  readonly error: OpenApiError
}

/** Returns the operations of a document in order; `Left` for a path or an operation that cannot be read. */
export const find = (document: Document.Document): ReadonlyArray<Either.Either<OperationObject, Broken>> => {
  const paths = Document.member({ value: document.root, pointer: "" }, "paths")
  if (paths === undefined) return Document.refuse("", "has no \"paths\"")
  return Object.keys(paths.value).filter((path) => !path.startsWith("x-")).flatMap((path) => {
    const item = Document.attempt(`${paths.pointer}/${Document.key(path)}`, () => itemOf(document, paths, path))
    if (Either.isLeft(item)) return [Either.left({ path, method: undefined, error: item.left })]
    return methods.filter((method) => item.right.value[method] !== undefined).map((method) =>
      Either.mapBoth(Document.attempt(item.right.pointer, () => operationOf(item.right, path, method)), {
        onLeft: (error): Broken => ({ path, method, error }),
        onRight: identity
      })
    )
  })
}

const itemOf = (document: Document.Document, paths: Document.Part, path: string): Document.Part => {
  const at = Document.member(paths, path)!
  return path.startsWith("/")
    ? Document.resolve(document, at)
    : Document.refuse(at.pointer, "is not a path: it must begin with \"/\"")
}

const operationOf = (item: Document.Part, path: string, method: Method): OperationObject => {
  const at = Document.member(item, method)!
  return {
    method,
    path,
    id: Document.text(at.value.operationId),
    tags: ForeignJson.strings(at.value.tags),
    summary: Document.text(at.value.summary) ?? Document.text(item.value.summary),
    item,
    at
  }
}

/**
 * Makes a function that reads one operation of a document. When `isShown` returns `false` for an argument, `inputSchema` does not have this
 * argument. When `outputs` is `false`, operations do not have an `outputSchema`. An operation also does not have an `outputSchema` when a
 * schema of its answers cannot be read.
 */
export const reader = (
  document: Document.Document,
  outputs: boolean
): (found: OperationObject, isShown: (argument: Argument) => boolean) => Either.Either<Operation, OpenApiError> => {
  const requests = Schemas.store(document, "request")
  const responses = outputs ? Schemas.store(document, "response") : undefined
  return (found, isShown) =>
    Document.attempt(found.at.pointer, () => read(document, found, isShown, requests, responses))
}

const read = (
  document: Document.Document,
  { at, item, method, path, summary }: OperationObject,
  isShown: (argument: Argument) => boolean,
  requests: Schemas.Store,
  responses: Schemas.Store | undefined
): Operation => {
  const { pointer, value } = at
  const schemas = Schemas.make(requests)
  const argumentNames = new Set<string>()
  const properties = new Map<string, JsonObject>()
  const required: Array<string> = []
  const add = (one: Argument, part: Document.Part, schema: () => JsonObject) => {
    if (!isShown(one)) return
    const described = Document.text(part.value.description)
    properties.set(one.argument, { ...schema(), ...(described === undefined ? undefined : { description: described }) })
    if (one.isRequired) required.push(one.argument)
  }
  const parameters = parametersOf(document, item, at).map((parameter): Parameter => {
    const { explode, in: location, isJson, name, schema, style } = details(parameter)
    const argument = freeName(name, location, argumentNames)
    const isRequired = parameter.value.required === true || location === "path"
    add(
      { argument, name, in: location, isRequired },
      parameter,
      () => schema === undefined ? {} : schemas.convert(schema)
    )
    return { argument, name, in: location, style, explode, isJson }
  })
  checkPath(path, parameters, pointer)
  const given = Document.member(at, "requestBody")
  const content = given === undefined ? undefined : Document.resolve(document, given)
  const body = content === undefined ? undefined : bodyOf(content, freeName("body", "body", argumentNames))
  if (content !== undefined && body !== undefined) {
    const isRequired = content.value.required === true
    add({ argument: body.argument, name: "body", in: "body", isRequired }, content, () => bodySchema(body, schemas))
  }
  const definitions = schemas.definitions()
  return {
    method,
    path,
    server: Document.elements(at, "servers")[0] ?? Document.elements(item, "servers")[0],
    description: describe(summary, Document.text(value.description), value.deprecated === true),
    annotations: annotations(method),
    parameters,
    body,
    inputSchema: definitions && {
      type: "object",
      properties: ForeignJson.fromEntries(properties),
      ...(required.length === 0 ? undefined : { required }),
      additionalProperties: false,
      ...definitions
    },
    outputSchema: responses === undefined
      ? undefined
      : Either.getOrUndefined(Document.attempt(pointer, () => outputOf(document, at, Schemas.make(responses))))
  }
}

/**
 * Returns the schema of the tool's argument for the body. For a body of bytes or text, this function ignores the schema in the document,
 * because that schema does not describe how a model must write the value.
 */
const bodySchema = ({ kind, mediaType, schema }: ReturnType<typeof bodyOf>, schemas: Schemas.Schemas): JsonObject => {
  switch (kind) {
    case "bytes":
      return { type: "string", contentEncoding: "base64", contentMediaType: mediaType }
    case "text":
      return { type: "string", contentMediaType: mediaType }
    default:
      return schema === undefined ? {} : schemas.convert(schema)
  }
}

const describe = (summary: string | undefined, description: string | undefined, isDeprecated: boolean) => {
  const texts = [
    isDeprecated ? "Deprecated." : undefined,
    description?.startsWith(summary ?? " ") === true ? undefined : summary,
    description
  ].filter((text) => text !== undefined)
  return texts.length === 0 ? undefined : texts.join("\n\n")
}

const annotations = (method: Method): ToolAnnotations =>
  method === "get"
    ? { readOnlyHint: true }
    : { readOnlyHint: false, ...(method === "put" || method === "delete" ? { idempotentHint: true } : undefined) }

/**
 * Returns the parameters of the operation, and the parameters of its path that the operation does not replace. The result does not contain
 * headers that belong to HTTP itself.
 */
const parametersOf = (
  document: Document.Document,
  item: Document.Part,
  at: Document.Part
): ReadonlyArray<Document.Part> => {
  const byKey = new Map<string, Document.Part>()
  for (const given of [...Document.elements(item, "parameters"), ...Document.elements(at, "parameters")]) {
    const { pointer, value } = Document.resolve(document, given)
    const name = Document.text(value.name) ?? Document.refuse(pointer, "is a parameter without a \"name\"")
    const location = value.in
    if (location === "header" && ofHttp.test(name)) continue
    byKey.set(`${location} ${name}`, { pointer, value })
  }
  return [...byKey.values()]
}

/**
 * The headers that cannot be parameters. The specification of OpenAPI says that tools ignore the first three of them. The other headers
 * belong to the connection.
 */
const ofHttp =
  /^(accept|content-type|authorization|host|cookie|connection|content-length|transfer-encoding|te|trailer|upgrade|proxy-.*)$/i

const styles: Readonly<Record<Location, ReadonlyArray<string>>> = {
  path: ["simple", "label", "matrix"],
  query: ["form", "spaceDelimited", "pipeDelimited", "deepObject"],
  header: ["simple"],
  cookie: ["form", "cookie"]
}

const details = (at: Document.Part) => {
  const { pointer, value } = at
  const location = value.in as Location
  const known = Object.hasOwn(styles, location)
    ? styles[location]
    : Document.refuse(`${pointer}/in`, "is none of \"path\", \"query\", \"header\" and \"cookie\"")
  const style = value.style ?? known[0]!
  if (typeof style !== "string" || !known.includes(style)) {
    return Document.refuse(
      `${pointer}/style`,
      `is none of the styles of a parameter in "${location}": ${known.join(", ")}`
    )
  }
  const content = Document.members(Document.member(at, "content"))[0]
  const schema = Document.member(content === undefined ? at : content[1], "schema")
  return {
    name: value.name as string,
    in: location,
    style,
    explode: typeof value.explode === "boolean" ? value.explode : style === "form",
    isJson: content !== undefined && isJson(content[0]),
    schema
  }
}

/**
 * Returns a name for an argument that no other argument has. The name consists of letters, digits and "_". When another argument already
 * has the name, the location of the parameter becomes a prefix of the name. When another argument also has the name with the prefix, the
 * name gets a number instead.
 */
const freeName = (name: string, place: string, taken: Set<string>): string => {
  const safe = name.replace(/[^A-Za-z0-9]+/g, "_").replace(/^_+|_+$/g, "").slice(0, 56) || place
  const base = /^[0-9]/.test(safe) ? `_${safe}` : safe
  let free = taken.has(base) ? `${place}_${base}`.slice(0, 60) : base
  for (let number = 2; taken.has(free); number++) free = `${base}_${number}`
  taken.add(free)
  return free
}

const checkPath = (path: string, parameters: ReadonlyArray<Parameter>, pointer: string): void => {
  for (const [, name] of path.matchAll(/\{([^{}]*)\}/g)) {
    if (!parameters.some((parameter) => parameter.in === "path" && parameter.name === name)) {
      Document.refuse(pointer, `has no parameter for {${name?.slice(0, 100)}} of its path`)
    }
  }
}

export const isJson = (mediaType: string): boolean => /^application\/(.+\+)?json\s*(;|$)/i.test(mediaType)

const kindOf = (mediaType: string): BodyKind =>
  isJson(mediaType)
    ? "json"
    : /^application\/x-www-form-urlencoded/i.test(mediaType)
    ? "form"
    : /^multipart\/form-data/i.test(mediaType)
    ? "multipart"
    : /^(text\/|application\/(xml|.+\+xml))/i.test(mediaType)
    ? "text"
    : "bytes"

const preference: ReadonlyArray<BodyKind> = ["json", "form", "multipart", "text", "bytes"]

const bodyOf = (at: Document.Part, argument: string): Body & { readonly schema: Document.Part | undefined } => {
  const content = Document.members(Document.member(at, "content"))
  const found = preference
    .map((kind) => content.find(([mediaType]) => kindOf(mediaType) === kind))
    .find((one) => one !== undefined)
  if (found === undefined) return Document.refuse(`${at.pointer}/content`, "names no media type")
  const [mediaType, media] = found
  const kind = kindOf(mediaType)
  return {
    argument,
    mediaType: mediaType.includes("*") ? "application/octet-stream" : mediaType,
    kind,
    schema: Document.member(media, "schema")
  }
}

const outputOf = (document: Document.Document, at: Document.Part, schemas: Schemas.Schemas): JsonObject | undefined => {
  const responses = Document.members(Document.member(at, "responses")).filter(([status]) => /^2/.test(status))
  const found = responses.map(([, given]) => {
    const content = Document.members(Document.member(Document.resolve(document, given), "content"))
    const json = content.find(([mediaType]) => isJson(mediaType))
    return json === undefined ? undefined : Document.member(json[1], "schema")
  })
  if (found.length === 0 || found.includes(undefined)) return undefined
  const converted = found.map((schema) => schemas.convert(schema!))
  const definitions = schemas.definitions()
  if (definitions === undefined) return undefined
  const { $defs } = definitions
  const [first, ...others] = converted
  return {
    ...(others.length === 0 ? rooted(first!, $defs) : { anyOf: converted }),
    ...($defs === undefined ? undefined : { $defs })
  }
}

/**
 * Adds `type: "object"` to the root of a schema whose values are objects. Clients of revision 2025-11-25 or earlier accept only output
 * schemas with this type.
 */
const rooted = (schema: JsonObject, $defs: unknown): JsonObject => {
  const found = ForeignJson.target({ $defs }, schema.$ref)
  return schema.type === undefined && found?.type === "object" ? { type: "object", ...schema } : schema
}
