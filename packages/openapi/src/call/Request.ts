/**
 * Makes the HTTP request for a call of a tool, for `OpenApi`. The arguments of the call become parts of the path, the query, the headers,
 * the cookies and the body. `Parameters` writes their values as text. The arguments cannot change the server or the operation: the URL
 * always begins with the origin and the path of the base URL, and this module refuses "." and ".." as a segment of the path.
 */
import type * as HttpBody from "@effect/platform/HttpBody"
import * as HttpBodies from "@effect/platform/HttpBody"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as ForeignJson from "../document/ForeignJson.js"
import type { Body, Operation, Parameter } from "../document/Operations.js"
import * as Parameters from "./Parameters.js"

/** Makes the request of a call. `Left` is a sentence for the model that says what is wrong with the arguments. */
export const make = (
  operation: Operation,
  base: URL,
  written: JsonObject
): Either.Either<HttpClientRequest.HttpClientRequest, string> =>
  Either.gen(function*() {
    // The object has no prototype, because an argument may be named "constructor".
    const args: JsonObject = Object.assign(Object.create(null), written)
    for (const [name, value] of Object.entries(args)) {
      if (!ForeignJson.isFinite(value)) {
        return yield* Either.left(`The argument "${name}" has a number that is too large.`)
      }
    }
    const given = operation.parameters.filter(({ argument }) => args[argument] !== undefined && args[argument] !== null)
    const path = yield* fill(operation, args)
    const queries = given.filter((one) => one.in === "query").flatMap((one) =>
      Parameters.query(one, args[one.argument])
    )
    const root = base.pathname.replace(/\/+$/, "")
    const search = [base.search.slice(1), ...queries].filter((text) => text !== "").join("&")
    const url = `${base.origin}${root}${path}${search === "" ? "" : `?${search}`}`
    const parsed = new URL(url)
    if (parsed.origin !== base.origin || !parsed.pathname.startsWith(`${root}/`)) {
      return yield* Either.left("The arguments change the address of the request: give other values for the path.")
    }
    const cookies = given.filter((one) => one.in === "cookie").flatMap((one) =>
      Parameters.query(one, args[one.argument])
    )
    const headers = given.filter((one) => one.in === "header")
      .map((one) => [one.name, Parameters.header(one, args[one.argument])] as const)
    const request = HttpClientRequest.make(verbs[operation.method])(url).pipe(
      HttpClientRequest.setHeader("accept", "application/json, text/*;q=0.9, */*;q=0.1"),
      HttpClientRequest.setHeaders(Object.fromEntries(headers)),
      cookies.length === 0 ? (self) => self : HttpClientRequest.setHeader("cookie", cookies.join("; "))
    )
    const { body } = operation
    const value = body === undefined ? undefined : args[body.argument]
    return body === undefined || value === undefined
      ? request
      : HttpClientRequest.setBody(request, yield* bodyOf(body, value, operation.inputSchema ?? {}))
  })

/** Returns the same request with another URL, for a redirect to the same origin. */
export const moved = (request: HttpClientRequest.HttpClientRequest, to: URL): HttpClientRequest.HttpClientRequest =>
  HttpClientRequest.setUrl(request, to.href)

const verbs = { get: "GET", put: "PUT", post: "POST", delete: "DELETE", patch: "PATCH" } as const

const fill = ({ parameters, path }: Operation, args: JsonObject): Either.Either<string, string> => {
  const byName = new Map(parameters.filter((one) => one.in === "path").map((one) => [one.name, one]))
  const empty = [...byName.values()].find((one) => isEmpty(one, args[one.argument]))
  if (empty !== undefined) return Either.left(`The argument "${empty.argument}" must not be empty.`)
  const filled = path.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const parameter = byName.get(name)!
    return Parameters.path(parameter, args[parameter.argument])
  })
  // "%2e" is refused as well, because URL parsers read it as ".".
  return filled.split("/").some((segment) => /^(\.|%2e){1,2}$/i.test(segment))
    ? Either.left("No argument of the path may be \".\" or \"..\".")
    : Either.right(filled)
}

const isEmpty = (parameter: Parameter, value: unknown): boolean =>
  value === undefined || value === null || Parameters.path({ ...parameter, style: "simple" }, value) === ""

const bodyOf = (body: Body, value: unknown, inputSchema: JsonObject): Either.Either<HttpBody.HttpBody, string> => {
  switch (body.kind) {
    case "json":
      return Either.right(HttpBodies.text(JSON.stringify(value), body.mediaType))
    case "text":
      return Either.right(HttpBodies.text(String(value), body.mediaType))
    case "bytes":
      return Either.mapBoth(Encoding.decodeBase64(String(value)), {
        onLeft: () => `The argument "${body.argument}" must be base64.`,
        onRight: (bytes) => HttpBodies.uint8Array(bytes, body.mediaType)
      })
    case "form": {
      const pairs = fields(value).flatMap(([name, one]) => Parameters.query(field(name), one))
      return Either.right(HttpBodies.text(pairs.join("&"), body.mediaType))
    }
    case "multipart": {
      const form = new FormData()
      const property = propertyOf(inputSchema, body.argument)
      const schema = ForeignJson.target(inputSchema, property.$ref) ?? property
      for (const [name, one] of fields(value)) {
        for (const item of Array.isArray(one) ? one : [one]) form.append(name, part(item, propertyOf(schema, name)))
      }
      return Either.right(HttpBodies.formData(form))
    }
  }
}

const propertyOf = ({ properties }: JsonObject, name: string): JsonObject => {
  const property = ForeignJson.isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  return ForeignJson.isObject(property) ? property : {}
}

const fields = (value: unknown): ReadonlyArray<readonly [string, unknown]> =>
  ForeignJson.isObject(value) ? Object.entries(value).filter(([, one]) => one !== undefined && one !== null) : []

const field = (name: string): Parameter => ({
  argument: name,
  name,
  in: "query",
  style: "form",
  explode: true,
  isJson: false
})

const part = (value: unknown, schema: JsonObject): string | Blob => {
  if (typeof value !== "string") return JSON.stringify(value)
  const { contentEncoding } = ForeignJson.isObject(schema.items) ? schema.items : schema
  const bytes = contentEncoding === "base64" ? Either.getOrUndefined(Encoding.decodeBase64(value)) : undefined
  return bytes === undefined ? value : new Blob([new Uint8Array(bytes)])
}
