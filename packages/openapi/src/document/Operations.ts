/**
 * The operations of an OpenAPI document: what each has for arguments, which body it sends, what it answers, and how it is
 * described. `Request` sends them, `OpenApi` makes tools of them.
 */
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type { ToolAnnotations } from "@effect-mcp/protocol/Tools"
import * as Document from "./Document.js"
import * as Parts from "./Parts.js"
import * as Schemas from "./Schemas.js"

export type Method = "get" | "put" | "post" | "delete" | "patch"

const methods: ReadonlyArray<Method> = ["get", "put", "post", "delete", "patch"]

export type Location = "path" | "query" | "header" | "cookie"

/** A parameter as the request has it. */
export interface Parameter {
  /** The name of the tool's argument. */
  readonly argument: string
  readonly name: string
  readonly in: Location
  readonly style: string
  readonly explode: boolean
  /** The value is sent as JSON text. */
  readonly isJson: boolean
}

export type BodyKind = "json" | "form" | "multipart" | "text" | "bytes"

export interface Body {
  readonly argument: string
  readonly mediaType: string
  readonly kind: BodyKind
}

/** What an application chooses operations by, and where the rest stands. */
export interface Found {
  readonly method: Method
  readonly path: string
  readonly id: string | undefined
  readonly tags: ReadonlyArray<string>
  readonly summary: string | undefined
  readonly item: Document.At
  readonly at: Document.At
}

export interface Operation {
  readonly method: Method
  /** As the document has it. */
  readonly path: string
  /** The server of this operation or of its path, in place of the document's. */
  readonly server: Document.At | undefined
  readonly description: string | undefined
  readonly annotations: ToolAnnotations
  readonly parameters: ReadonlyArray<Parameter>
  readonly body: Body | undefined
  readonly inputSchema: JsonObject
  /** The schema of the answer, when every successful answer may be JSON with a schema; requests prefer it. */
  readonly outputSchema: JsonObject | undefined
}

export const find = (document: Document.Document): ReadonlyArray<Found> => {
  const root = { value: document.root, pointer: "" }
  const paths = Document.member(root, "paths")
  if (paths === undefined) return Document.refuse("", "has no \"paths\"")
  return Document.members(paths).flatMap(([path, at]) => {
    if (!path.startsWith("/")) return Document.refuse(at.pointer, "is not a path: it must begin with \"/\"")
    const item = Document.resolve(document, at)
    return methods.flatMap((method) => {
      const operation = Document.member(item, method)
      return operation === undefined ? [] : [{
        method,
        path,
        id: Document.text(operation.value.operationId),
        tags: Parts.strings(operation.value.tags),
        summary: Document.text(operation.value.summary) ?? Document.text(item.value.summary),
        item,
        at: operation
      }]
    })
  })
}

/** Reads operations of a document. Without `outputs` none has the schema of its answer. */
export const reader = (document: Document.Document, outputs: boolean): (found: Found) => Operation => {
  const requests = Schemas.store(document, "request")
  const responses = outputs ? Schemas.store(document, "response") : undefined
  return (found) => read(document, found, requests, responses)
}

const read = (
  document: Document.Document,
  { at, item, method, path, summary }: Found,
  requests: Schemas.Store,
  responses: Schemas.Store | undefined
): Operation => {
  const { pointer, value } = at
  const schemas = Schemas.make(requests)
  const argumentNames = new Set<string>()
  const properties = new Map<string, JsonObject>()
  const required: Array<string> = []
  const parameters = parametersOf(document, item, at).map((parameter): Parameter => {
    const { explode, in: location, isJson, name, schema, style } = details(parameter)
    const argument = freeName(name, location, argumentNames)
    const described = Document.text(parameter.value.description)
    properties.set(argument, {
      ...(schema === undefined ? {} : schemas.convert(schema)),
      ...(described === undefined ? undefined : { description: described })
    })
    if (parameter.value.required === true || location === "path") required.push(argument)
    return { argument, name, in: location, style, explode, isJson }
  })
  checkPath(path, parameters, pointer)
  const given = Document.member(at, "requestBody")
  const content = given === undefined ? undefined : Document.resolve(document, given)
  const body = content === undefined ? undefined : bodyOf(content, freeName("body", "body", argumentNames))
  if (body !== undefined) {
    const described = Document.text(content!.value.description)
    properties.set(body.argument, {
      // Bytes and text have a form that a schema of values does not describe.
      ...(body.kind === "bytes"
        ? { type: "string", contentEncoding: "base64", contentMediaType: body.mediaType }
        : body.kind === "text"
        ? { type: "string", contentMediaType: body.mediaType }
        : body.schema === undefined
        ? {}
        : schemas.convert(body.schema)),
      ...(described === undefined ? undefined : { description: described })
    })
    if (content!.value.required === true) required.push(body.argument)
  }
  return {
    method,
    path,
    server: Document.elements(at, "servers")[0] ?? Document.elements(item, "servers")[0],
    description: describe(summary, Document.text(value.description), value.deprecated === true),
    annotations: annotations(method),
    parameters,
    body,
    inputSchema: {
      type: "object",
      properties: Parts.fromEntries(properties),
      ...(required.length === 0 ? undefined : { required }),
      additionalProperties: false,
      ...schemas.definitions()
    },
    outputSchema: responses === undefined ? undefined : outputOf(document, at, Schemas.make(responses))
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

/** Those of the operation and those of its path that it does not replace; the headers that HTTP itself sets are left out. */
const parametersOf = (document: Document.Document, item: Document.At, at: Document.At): ReadonlyArray<Document.At> => {
  const byKey = new Map<string, Document.At>()
  for (const given of [...Document.elements(item, "parameters"), ...Document.elements(at, "parameters")]) {
    const { pointer, value } = Document.resolve(document, given)
    const name = Document.text(value.name) ?? Document.refuse(pointer, "is a parameter without a \"name\"")
    const location = value.in
    if (location === "header" && ofHttp.test(name)) continue
    byKey.set(`${location} ${name}`, { pointer, value })
  }
  return [...byKey.values()]
}

/** The specification ignores the first three; the others belong to the connection. */
const ofHttp =
  /^(accept|content-type|authorization|host|cookie|connection|content-length|transfer-encoding|te|trailer|upgrade|proxy-.*)$/i

const styles: Readonly<Record<Location, ReadonlyArray<string>>> = {
  path: ["simple", "label", "matrix"],
  query: ["form", "spaceDelimited", "pipeDelimited", "deepObject"],
  header: ["simple"],
  cookie: ["form", "cookie"]
}

const details = (at: Document.At) => {
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

/** Letters, digits and "_", which every model can write; a name that is taken gets its place in front, then a number. */
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

const bodyOf = (at: Document.At, argument: string): Body & { readonly schema: Document.At | undefined } => {
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

const outputOf = (document: Document.Document, at: Document.At, schemas: Schemas.Schemas): JsonObject | undefined => {
  const responses = Document.members(Document.member(at, "responses")).filter(([status]) => /^2/.test(status))
  const found = responses.map(([, given]) => {
    const content = Document.members(Document.member(Document.resolve(document, given), "content"))
    const json = content.find(([mediaType]) => isJson(mediaType))
    return json === undefined ? undefined : Document.member(json[1], "schema")
  })
  if (found.length === 0 || found.includes(undefined)) return undefined
  const converted = found.map((schema) => schemas.convert(schema!))
  const { $defs } = schemas.definitions()
  const [first, ...others] = converted
  return {
    ...(others.length === 0 ? rooted(first!, $defs) : { anyOf: converted }),
    ...($defs === undefined ? undefined : { $defs })
  }
}

/** With the type at the root where it is an object: clients up to 2025-11-25 know structured content of such tools only. */
const rooted = (schema: JsonObject, $defs: unknown): JsonObject => {
  const found = Parts.target({ $defs }, schema.$ref)
  return schema.type === undefined && found?.type === "object" ? { type: "object", ...schema } : schema
}
