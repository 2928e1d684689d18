/**
 * A feature of each kind, a use of each of them, and middleware that records what it runs around.
 */
import * as Client from "@effect-mcp/core/Client"
import type * as Feature from "@effect-mcp/core/Feature"
import * as FeatureMiddleware from "@effect-mcp/core/FeatureMiddleware"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import * as Middleware from "@effect-mcp/core/Middleware"
import * as Prompt from "@effect-mcp/core/Prompt"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import * as Tool from "@effect-mcp/core/Tool"
import { Effect, Exit, Layer, Schema, Stream } from "effect"

/** Middleware that writes down the methods that it runs around, and how they end. */
export const watching = (name = "seen") => {
  const seen: Array<string> = []
  const middleware = Middleware.make(({ method }, next) =>
    Effect.onExit(
      next,
      (exit) => Effect.sync(() => seen.push(`${name} ${method}${Exit.isSuccess(exit) ? "" : " failed"}`))
    )
  )
  return { seen, middleware }
}

/** Middleware around features that writes down what it runs around. */
export const watchingUses = () => {
  const seen: Array<string> = []
  const middleware = FeatureMiddleware.make(({ entry, kind, next }) =>
    Effect.zipRight(Effect.sync(() => seen.push(`${kind} of ${entry.kind} ${entry.name}`)), next)
  )
  return { seen, middleware }
}

/** A feature of each kind, whose handlers run an effect. */
export const everything = <R>(
  run: Effect.Effect<unknown, never, R>
): Feature.Feature<Exclude<R, Feature.RequestServices>> => running(run as Effect.Effect<unknown>)

const running = (run: Effect.Effect<unknown>): Feature.Feature =>
  Layer.mergeAll(
    McpServer.tool(Tool.make("tool"), () => Effect.as(run, "called")),
    McpServer.resource(Resource.make("fixed", { uri: "test://fixed" }), Effect.as(run, "fixed")),
    McpServer.resourceTemplate(
      ResourceTemplate.fromString("template", "test://template/{id}"),
      () => Effect.as(run, "template"),
      {
        complete: { id: () => Effect.as(run, ["1"]) },
        list: Effect.as(run, [Resource.make("listed", { uri: "test://template/1" })])
      }
    ),
    McpServer.prompt(Prompt.make("prompt", { arguments: { a: Schema.String } }), () => Effect.as(run, "got"), {
      complete: { a: () => Effect.as(run, ["b"]) }
    }),
    MethodHandler.customRequest(
      "x/custom",
      { params: Schema.Struct({}), result: Schema.Struct({}) },
      () => Effect.as(run, {})
    )
  )

/** Uses each of these features once. */
export const useAll = Effect.gen(function*() {
  const client = yield* Client.Client
  yield* client.callTool("tool")
  yield* client.readResource("test://fixed")
  yield* client.readResource("test://template/7")
  yield* Stream.runDrain(client.resources)
  yield* client.complete({ type: "ref/resource", uri: "test://template/{id}" }, { name: "id", value: "" })
  yield* client.getPrompt("prompt", { a: "" })
  yield* client.complete({ type: "ref/prompt", name: "prompt" }, { name: "a", value: "" })
  yield* client.request("x/custom", {})
})

export const used = [
  "tools/call",
  "resources/read",
  "resources/read",
  "resources/list",
  "completion/complete",
  "prompts/get",
  "completion/complete",
  "x/custom"
]
