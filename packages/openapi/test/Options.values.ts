/**
 * A value for every public option of this package, as its docs describe it, without a cast. The compiler checks that it is
 * accepted, and what a layer then requires; nothing runs.
 */
import { HttpApi, HttpApiGroup, type HttpClient, HttpClientRequest } from "@effect/platform"
import type { Registry } from "@effect-mcp/core/Registry"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as HttpApiTools from "@effect-mcp/openapi/HttpApiTools"
import * as OpenApi from "@effect-mcp/openapi/OpenApi"
import type * as OpenApiError from "@effect-mcp/openapi/OpenApiError"
import { Context, Effect, type Layer } from "effect"
import { expectTypeOf } from "vitest"

/** A new option is missing here until it has a value. */
type Every<O> = { readonly [K in keyof O]-?: Exclude<O[K], undefined> }

class Vault extends Context.Tag("test/Vault")<Vault, { readonly token: Effect.Effect<string, Error> }>() {}

const api = {
  baseUrl: "https://api.example.com",
  name: ({ id, method }) => method === "delete" ? undefined : id,
  tags: ["pets"],
  origins: ["https://uploads.example.com"],
  describe: ({ summary }) => ({ description: summary, annotations: { readOnlyHint: true } }),
  request: (request) =>
    Effect.flatMap(
      Effect.zipRight(RequestContext, Vault),
      ({ token }) => Effect.map(token, (token) => HttpClientRequest.bearerToken(request, token))
    ),
  parameter: ({ in: place, isRequired, name }) =>
    name === "tenant"
      ? Effect.flatMap(Vault, ({ token }) => token)
      : place === "header" && !isRequired
      ? Effect.void
      : undefined,
  outputs: false,
  timeout: "10 seconds",
  maxBytes: 100_000,
  maxDescription: 500
} satisfies Every<OpenApi.Options<RequestContext | Vault>>

const Api = OpenApi.layer({}, api)
expectTypeOf(Api).toEqualTypeOf<
  Layer.Layer<never, OpenApiError.OpenApiError, Vault | HttpClient.HttpClient | Registry>
>()

const { baseUrl: _url, origins: _origins, tags: _tags, ...common } = api

const tools = { ...common, groups: ["pets"] } satisfies Every<HttpApiTools.Options<"pets", RequestContext | Vault>>

const Pets = HttpApi.make("shop").add(HttpApiGroup.make("pets")).add(HttpApiGroup.make("orders"))
const Tools = HttpApiTools.layer(Pets, tools)
expectTypeOf(Tools).toEqualTypeOf<
  Layer.Layer<never, OpenApiError.OpenApiError, Vault | HttpApiTools.Implemented | Registry>
>()

export const used = OpenApi.make({}, api)
