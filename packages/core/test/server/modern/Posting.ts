/** Modern HTTP requests to an endpoint without a socket. */
import { assert } from "@effect/vitest"
import type * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { Effect, type Layer } from "effect"
import { answered, type EndpointClient, type TestExchange } from "../http/TestExchange.js"
import { serve } from "../Serving.js"
import { envelope, type Options } from "./Modern.js"

export const request = (method: string, params: JsonObject = {}, options?: Options, id: Message.RequestId = 1) =>
  Message.request(id, method, { ...params, ...envelope(options) })

/** The headers that repeat a body. */
export const headers = ({ method, params }: Message.Request): Record<string, string> => ({
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": method,
  ...(typeof (params?.name ?? params?.uri) === "string"
    ? { "mcp-name": (params?.name ?? params?.uri) as string }
    : undefined)
})

/** A POST with the headers that it needs, changed by `others`. */
export const post = (
  http: EndpointClient,
  body: Message.Request,
  others: Record<string, string | undefined> = {}
): TestExchange => http.post(body, { ...headers(body), ...others } as Record<string, string>)

export const ask = (http: EndpointClient, body: Message.Request, others?: Record<string, string | undefined>) =>
  Effect.suspend(() => answered(post(http, body, others)))

export const greet = request("tools/call", { name: "greet", arguments: { name: "Ada" } })

export const refused = (
  exchange: TestExchange,
  status: number,
  code: number,
  id: Message.RequestId | undefined = 1
) => {
  assert.deepStrictEqual(
    [exchange.status, exchange.json.error?.code, exchange.json.id],
    [status, code, id],
    exchange.text
  )
  assert.strictEqual(exchange.sent["content-type"], "application/json")
  assert.notProperty(exchange.sent, "mcp-session-id")
}

export const modernOnly = (features: Layer.Layer<never, never, any>, options: McpServer.Options = {}) =>
  serve(features, { ...options, versions: ["2026-07-28"] }) as ReturnType<typeof serve<never, never>>
