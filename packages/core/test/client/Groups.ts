/**
 * Servers for tests of a group, which can be ended and changed, and what a group has: the names of its tools, now or after
 * a change.
 */
import type * as ClientSessionGroup from "@effect-mcp/core/ClientSessionGroup"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as InProcess from "@effect-mcp/core/InProcess"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Prompt from "@effect-mcp/core/Prompt"
import { Registry, type RegistryService } from "@effect-mcp/core/Registry"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import * as Tool from "@effect-mcp/core/Tool"
import { Context, Deferred, Effect, Exit, Layer, Scope, Stream } from "effect"

/** A tool that gives this answer. */
export const answering = (name: string, answer: string) => McpServer.tool(Tool.make(name), () => Effect.succeed(answer))

/** The text of a result's first content. */
export const text = (result: { readonly content: ReadonlyArray<object> }) =>
  (result.content[0] as { readonly text: string }).text

/** A server in this process, which can be ended and changed. */
export const serving = <E, R>(features: Layer.Layer<never, E, R>, name = "test") =>
  Effect.gen(function*() {
    const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
    const registered = yield* Deferred.make<RegistryService>()
    const found = Layer.effectDiscard(Effect.flatMap(Registry, (registry) => Deferred.succeed(registered, registry)))
    const context = yield* Layer.buildWithScope(
      McpServer.layer({ name, version: "1" }, Layer.merge(features, found)),
      scope
    )
    return {
      connector: yield* Effect.provide(InProcess.connector, context),
      conversations: () => Context.get(context as Context.Context<Dispatcher>, Dispatcher).conversations(),
      register: (tool: string) =>
        Effect.flatMap(Deferred.await(registered), (registry) =>
          Layer.buildWithScope(answering(tool, "new"), scope).pipe(Effect.provideService(Registry, registry))),
      end: Scope.close(scope, Exit.void)
    }
  })

export const one = Layer.mergeAll(
  answering("a", "a of one"),
  McpServer.resource(Resource.make("readme", { uri: "one:readme" }), Effect.succeed("the one")),
  McpServer.prompt(Prompt.make("ask"), () => Effect.succeed("ask one"))
)
export const two = Layer.mergeAll(
  answering("b", "b of two"),
  McpServer.resourceTemplate(
    ResourceTemplate.make("note")`two:note/${ResourceTemplate.param("id")}`,
    ({ id }) => Effect.succeed(`note ${id} of two`)
  )
)

/** The names of the group's tools, sorted. */
export const tools = (group: ClientSessionGroup.ClientSessionGroupService) =>
  Effect.map(group.entries, ({ tools }) => [...tools.keys()].sort())

/** Waits until the group's tools are these, however many steps it takes. */
export const until = (group: ClientSessionGroup.ClientSessionGroupService, expected: ReadonlyArray<string>) =>
  group.changes.pipe(
    Stream.filter(({ tools }) => JSON.stringify([...tools.keys()].sort()) === JSON.stringify(expected)),
    Stream.runHead
  )
