/**
 * Middleware around the uses of a feature, or of a group of features. For each use, this middleware gets the entry (with its kind, name,
 * annotations and scopes), the arguments of the handler, and the effect that gives the result. The middleware of the server (`Middleware`)
 * runs outside of this middleware, around every message.
 *
 * A use is one of these: the client calls a tool, reads a resource, gets a prompt, completes an argument, or sends a request or
 * notification that a `MethodHandler` of the features handles. Lists and subscriptions are not uses.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { dual } from "effect/Function"
import type * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import type * as Tool from "../definition/Tool.js"
import * as Redaction from "../jsonrpc/Redaction.js"
import type * as Content from "../protocol/Content.js"
import { InternalError } from "../protocol/McpError.js"
import type * as Tools from "../protocol/Tools.js"
import type { Declared, Fails, RequestServices } from "./Feature.js"
import * as SurroundedRegistry from "./features/SurroundedRegistry.js"
import type { EntryOf, FeatureEntry, Registry, Use, UseOf } from "./Registry.js"
import { RequestContext } from "./RequestContext.js"
import type { HandlerContext } from "./runtime/HandlerContext.js"
import * as HandlerName from "./runtime/HandlerName.js"
import * as HandlerOutcome from "./runtime/HandlerOutcome.js"
import * as HandlerResult from "./runtime/HandlerResult.js"
import * as MiddlewareContext from "./runtime/MiddlewareContext.js"

/** @category symbols */
export const TypeId: unique symbol = Symbol.for("@effect-mcp/core/FeatureMiddleware")

/** @category models */
export type TypeId = typeof TypeId

/**
 * `run` gets each use. `run` succeeds with the result to send, or fails to refuse the use. `run` may give a result without running `next`
 * of the use, and may provide services to `next`.
 *
 * @category models
 */
export interface FeatureMiddleware<out R = never> {
  readonly [TypeId]: TypeId
  readonly run: (use: Use) => Effect.Effect<unknown, unknown, R>
}

/**
 * Makes middleware around uses of every kind. `use.kind` is the kind of the use, and decides the type of the result of `use.next`.
 *
 * @example
 * ```ts
 * import * as FeatureMiddleware from "@effect-mcp/core/FeatureMiddleware"
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import { InvalidRequest } from "@effect-mcp/core/protocol/McpError"
 * import * as Tool from "@effect-mcp/core/Tool"
 * import { Effect } from "effect"
 *
 * // No tool that may destroy something runs on Fridays.
 * const careful = FeatureMiddleware.make((use) =>
 *   Effect.flatMap(Effect.clockWith((clock) => clock.currentTimeMillis), (now) =>
 *     use.kind === "tool" && use.entry.advertised.annotations?.destructiveHint === true && new Date(now).getUTCDay() === 5
 *       ? Effect.fail(new InvalidRequest({ message: `"${use.entry.name}" does not run on Fridays` }))
 *       : use.next))
 *
 * const Drop = Tool.make("drop", { annotations: { destructiveHint: true } })
 * export const DropLive = McpServer.tool(Drop, () => Effect.void).pipe(FeatureMiddleware.around(careful))
 * ```
 * @category constructors
 */
export const make = <R = never>(
  run: (use: Use) => Effect.Effect<unknown, unknown, R>
): FeatureMiddleware<Exclude<R, RequestServices>> => ({
  [TypeId]: TypeId,
  run: (use) => HandlerResult.run(() => run(use), "A feature middleware") as Effect.Effect<unknown, unknown, any>
})

/**
 * One call of a tool of this definition.
 *
 * @category models
 */
export interface ToolUse<T extends Tool.Tool.Any>
  extends UseOf<EntryOf<"tool", Tools.Tool>, Tool.Tool.Parameters<T>, Tools.CallToolResult>
{
  readonly next: Effect.Effect<Tools.CallToolResult, Fails>
}

/**
 * Makes middleware around the calls of one tool, with the types of the tool's definition. The middleware does not run around other uses,
 * also not around calls of a tool that has the same name but another definition. The middleware may fail with a failure that the tool
 * declares. The model reads this failure.
 *
 * @example
 * ```ts
 * import * as FeatureMiddleware from "@effect-mcp/core/FeatureMiddleware"
 * import * as Tool from "@effect-mcp/core/Tool"
 * import { Effect, Schema } from "effect"
 *
 * const Pay = Tool.make("pay", { parameters: { cents: Schema.Int }, failure: Schema.String })
 *
 * export const atMost = FeatureMiddleware.forTool(Pay, ({ arguments: { cents }, next }) =>
 *   cents > 10_000 ? Effect.fail("At most 100 euros at a time") : next)
 * ```
 * @category constructors
 */
export const forTool = <T extends Tool.Tool.Any, Result extends Effect.Effect<Tools.CallToolResult, any, any>>(
  tool: T,
  run: (
    use: ToolUse<T>
  ) => Result & Declared<Effect.Effect.Error<NoInfer<Result>>, Tool.Tool.Failure<NoInfer<T>>>
): FeatureMiddleware<Exclude<Effect.Effect.Context<Result>, RequestServices>> =>
  make((use): Effect.Effect<unknown, unknown, Effect.Effect.Context<Result>> =>
    isOf(use.entry, tool)
      ? run(use as ToolUse<T>) as Effect.Effect<unknown, unknown, Effect.Effect.Context<Result>>
      : use.next
  )

/**
 * Runs middleware around each use of a feature, or of a group of features. Before the middleware runs, the server has made the services of
 * `Feature.provide`, has run the checks of `Feature.visible`, has checked the scopes of `Feature.requires`, and has decoded the arguments.
 * The order in which the application applies these functions does not matter. Among several middleware, the outermost runs first. When a
 * handler asks questions with revision 2026-07-28 or later, the client sends the request again with the answers, and the middleware runs
 * again each time. Around a tool that runs as a task, the middleware runs until the task has ended.
 *
 * The middleware may require the user, and the services that the session layer, the middleware of the server and `Feature.provide` provide.
 * When the middleware fails with an `McpError`, the server refuses the request. Around a tool, the middleware may also fail with a failure
 * that the tool declares. The model reads this failure. Any other failure is a defect.
 *
 * @category combinators
 */
export const around: {
  <MR>(
    middleware: FeatureMiddleware<MR>
  ): <E, R>(feature: Layer.Layer<never, E, R>) => Layer.Layer<never, E, R | Registry | MR>
  <E, R, MR>(
    feature: Layer.Layer<never, E, R>,
    middleware: FeatureMiddleware<MR>
  ): Layer.Layer<never, E, R | Registry | MR>
} = dual(
  2,
  <E, R>(feature: Layer.Layer<never, E, R>, middleware: FeatureMiddleware<any>): Layer.Layer<never, E, any> =>
    SurroundedRegistry.layer(feature, (own) => ({
      _tag: "Use",
      run: (use) =>
        Effect.contextWithEffect((request: Context.Context<never>) =>
          MiddlewareContext.run(
            (use: Use, next) => middleware.run({ ...use, next } as Use),
            use,
            own,
            request,
            (inside) => Effect.mapInputContext(use.next, () => inside)
          )
        )
    }))
)

/**
 * How a use ended. `success`: with a result. `failure`: with a result that tells the model that the tool has failed. `error`: with a
 * JSON-RPC error. `defect`: the handler died. `interrupted`: the client cancelled the use, or the server closed. `asked`: with a question
 * to the client (only with revision 2026-07-28 or later); after that, the client sends the request again with the answer, which is another
 * use.
 *
 * @category models
 */
export type Outcome = "success" | "failure" | "error" | "defect" | "interrupted" | "asked"

/**
 * The record that `audit` makes of a use. `A` is the type of the arguments.
 *
 * @category models
 */
export interface AuditRecord<out A = unknown> {
  readonly kind: Use["kind"]
  readonly entry: FeatureEntry
  /**
   * The arguments of the handler. They may contain secrets. `Redaction.value` hides members whose names suggest a secret. In the records of
   * `auditTool`, the arguments have the types of the tool's definition.
   */
  readonly arguments: A
  /** The id of the principal; `undefined` for a client without a principal. */
  readonly principal: string | undefined
  /** When the use began, in milliseconds since 1970. */
  readonly began: number
  /** How long the use took, in milliseconds. */
  readonly took: number
  readonly outcome: Outcome
}

/**
 * Makes middleware that passes a record of each use to the function `write`. `write` runs when the use has ended, also when the use was
 * interrupted. The client gets its answer after `write` has ended. When `write` dies, the server logs the defect, and the result of the use
 * does not change.
 *
 * @example
 * ```ts
 * import * as FeatureMiddleware from "@effect-mcp/core/FeatureMiddleware"
 * import { Effect } from "effect"
 *
 * export const logged = FeatureMiddleware.audit(({ entry, outcome, principal, took }) =>
 *   Effect.log(`${principal ?? "somebody"} used ${entry.kind} ${entry.name}: ${outcome} after ${took} ms`))
 * ```
 * @category utils
 */
export const audit = <R = never>(
  write: (record: AuditRecord) => Effect.Effect<void, never, R>
): FeatureMiddleware<Exclude<R, RequestServices>> =>
  make<R | RequestContext>(({ arguments: args, entry, kind, next }) =>
    Effect.flatMap(
      Effect.zip(RequestContext, Clock.currentTimeMillis),
      ([context, began]) =>
        Effect.onExit(next, (exit) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) =>
            HandlerResult.run(() =>
              write({
                kind,
                entry,
                arguments: args,
                principal: context.principal?.id,
                began,
                took: now - began,
                outcome: outcomeOf(exit, context as HandlerContext)
              }), "The write of an audit")).pipe(
              Effect.catchAllCause((cause) => Effect.logError("An audit was not written", cause))
            ))
    )
  )

const outcomeOf = (exit: Exit.Exit<unknown, unknown>, { asker }: HandlerContext): Outcome => {
  if (Exit.isSuccess(exit)) {
    return (exit.value as Partial<Tools.CallToolResult> | undefined)?.isError === true ? "failure" : "success"
  }
  if (Cause.isInterruptedOnly(exit.cause)) return asker.endsRequest ? "asked" : "interrupted"
  return Cause.isDie(exit.cause) ? "defect" : "error"
}

/**
 * Makes middleware as `audit` does, but only for the calls of one tool. The arguments in the record have the types of the tool's
 * definition. Other uses get no record. A call of a tool that has the same name but another definition also gets no record.
 *
 * @example
 * ```ts
 * import * as FeatureMiddleware from "@effect-mcp/core/FeatureMiddleware"
 * import * as Tool from "@effect-mcp/core/Tool"
 * import { Effect, Schema } from "effect"
 *
 * const Pay = Tool.make("pay", { parameters: { to: Schema.String, card: Schema.String } })
 *
 * export const logged = FeatureMiddleware.auditTool(Pay, ({ arguments: { card, ...others }, outcome }) =>
 *   Effect.log(`pay ${JSON.stringify({ ...others, card: `…${card.slice(-4)}` })}: ${outcome}`))
 * ```
 * @category utils
 */
export const auditTool = <T extends Tool.Tool.Any, R = never>(
  tool: T,
  write: (record: AuditRecord<Tool.Tool.Parameters<T>>) => Effect.Effect<void, never, R>
): FeatureMiddleware<Exclude<R, RequestServices>> =>
  audit((record) => isOf(record.entry, tool) ? write(record as AuditRecord<Tool.Tool.Parameters<T>>) : Effect.void)

/** Whether the entry is the tool of this definition. */
const isOf = (entry: FeatureEntry, { advertised }: Tool.Tool.Any): boolean =>
  entry.kind === "tool" && entry.advertised === advertised

/**
 * Makes middleware that records how long each use takes, in seconds, with the tags `kind`, `name` and `outcome`.
 *
 * @example
 * ```ts
 * import * as FeatureMiddleware from "@effect-mcp/core/FeatureMiddleware"
 * import { Metric, MetricBoundaries } from "effect"
 *
 * export const timed = FeatureMiddleware.timing(
 *   Metric.histogram("shop.features", MetricBoundaries.exponential({ start: 0.01, factor: 2, count: 12 }))
 * )
 * ```
 * @category utils
 */
export const timing = (seconds: Metric.Metric.Histogram<number>): FeatureMiddleware =>
  audit(({ entry, kind, outcome, took }) => {
    // All tools that the tool `*` serves share one tag, the name `*`, because a client may invent the names of these tools.
    const name = entry.kind === "tool" ? entry.advertised.name : entry.name
    const named = Metric.tagged(Metric.tagged(seconds, "kind", kind), "name", name)
    return Metric.update(Metric.tagged(named, "outcome", outcome), took / 1000)
  })

/**
 * Makes middleware that refuses results whose JSON has more than `characters` characters. Large results fill the context of a model. In
 * place of a large result of a tool, the model gets a result that names this limit. Any other use ends with an `InternalError`.
 *
 * @category utils
 */
export const limitResult = ({ characters }: { readonly characters: number }): FeatureMiddleware =>
  make((use) =>
    Effect.flatMap(use.next as Effect.Effect<unknown, unknown>, (result) => {
      const size = JSON.stringify(result)?.length ?? 0
      if (size <= characters) return Effect.succeed(result)
      const message =
        `The result of ${use.entry.kind} "${HandlerName.quotable(use.entry.name)}" has ${size} characters, ` +
        `and at most ${characters} are allowed: ask for less`
      return use.kind === "tool"
        ? Effect.succeed({ content: [{ type: "text", text: message }], isError: true })
        : Effect.fail(new InternalError({ message }))
    })
  )

/**
 * Makes middleware that hides secrets in results: in the texts of content, of messages and of resources, and in `structuredContent`. The
 * middleware does not change URIs, names and binary data. `text` changes the texts, and `value` changes `structuredContent`. Their defaults
 * are `Redaction.text` and `Redaction.value`, which find secrets by the names of members and by the form of the text. The output schema of
 * a tool must accept the text that replaces a secret.
 *
 * @category utils
 */
export const redact = ({ text = Redaction.text, value = Redaction.value }: {
  readonly text?: ((text: string) => string) | undefined
  /** Changes `structuredContent`, and the result of a method of the application. */
  readonly value?: ((value: unknown) => unknown) | undefined
} = {}): FeatureMiddleware =>
  make((use): Effect.Effect<unknown, unknown> => {
    switch (use.kind) {
      case "tool":
        return redacted(use.next, ({ content, structuredContent, ...rest }) => ({
          ...rest,
          content: content.map((block) => redactedBlock(block, text)),
          ...(structuredContent === undefined ? undefined : { structuredContent: value(structuredContent) })
        }))
      case "resource":
        return redacted(use.next, ({ contents, ...rest }) => ({
          ...rest,
          contents: contents.map((one) => "text" in one ? { ...one, text: text(one.text) } : one)
        }))
      case "prompt":
        return redacted(use.next, ({ messages, ...rest }) => ({
          ...rest,
          messages: messages.map(({ content, ...message }) => ({ ...message, content: redactedBlock(content, text) }))
        }))
      case "completion":
        return use.next
      case "method":
        return redacted(use.next, value)
    }
  })

const redacted = <A>(next: Effect.Effect<A, unknown>, hide: (result: A) => unknown): Effect.Effect<unknown, unknown> =>
  Effect.map(next, (result) => {
    const shown = hide(result)
    // In a proxy, the server sends the result of another server without a check.
    if (HandlerOutcome.unchecked.has(result as object)) HandlerOutcome.unchecked.add(shown as object)
    return shown
  })

const redactedBlock = (block: Content.ContentBlock, text: (text: string) => string): unknown => {
  if (block.type === "text") return { ...block, text: text(block.text) }
  return block.type === "resource" && "text" in block.resource
    ? { ...block, resource: { ...block.resource, text: text(block.resource.text) } }
    : block
}
