/**
 * Reads the arguments of calls of tools, for `Tools`. The module first decodes the arguments without a change. When the arguments do not
 * decode, the module repairs ("mends") them with the help of the JSON Schema of the tool, and decodes the repaired arguments.
 * `ArgumentRepair` repairs, and `ArgumentNames` finds names that the schema does not have. This module decides whether the server runs or
 * refuses the call.
 *
 * Middleware, and the check of HTTP headers that repeat arguments, must get the same arguments as the handler. So the module stores two
 * kinds of arguments until the message is garbage-collected: arguments that middleware or the check has read, and repaired arguments.
 * Middleware and the check cannot wait for an asynchronous decoder. If they have read the arguments of a tool with such a decoder, the
 * module does not repair these arguments afterwards.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as ArgumentNames from "../../definition/schema/ArgumentNames.js"
import * as ArgumentRepair from "../../definition/schema/ArgumentRepair.js"
import { Diagnostic } from "../../jsonrpc/Diagnostic.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import type { JsonObject } from "../../protocol/Json.js"
import { ofIssue, type ParseIssue } from "../../protocol/McpError.js"
import type * as Tools from "../../protocol/Tools.js"
import type { RegisteredTool, RegistryService } from "../Registry.js"
import * as HandlerName from "../runtime/HandlerName.js"

/** The options of `McpServer` about arguments, and the function that reports diagnostics. */
export interface Options {
  readonly mendArguments?: boolean | undefined
  readonly unknownArguments?: "accept" | "report" | "refuse" | undefined
  readonly report: (diagnostic: Diagnostic) => Effect.Effect<void>
}

export interface ToolArguments {
  /**
   * Gives the parameters of a call for middleware and header checks, with the arguments that the handler will get. The module decodes the
   * arguments when code first reads the member `arguments`.
   */
  readonly seen: (params: JsonObject | undefined) => JsonObject | undefined
  /** Runs `handler`, the handler of a tool, with its arguments. `sent` are the parameters as the client sent them. */
  readonly call: (
    tool: DecodingTool,
    handler: Handler,
    params: Tools.CallToolParams,
    sent: JsonObject | undefined
  ) => Called
}

type DecodingTool = RegisteredTool & { readonly decode: NonNullable<RegisteredTool["decode"]> }

/** Whether the tool decodes its arguments. Only such arguments can be repaired. */
export const decodes = (tool: RegisteredTool): tool is DecodingTool => tool.decode !== undefined

type Called = ReturnType<RegisteredTool["call"]>

/** The handler of a tool, alone or inside its middleware. */
type Handler = RegisteredTool["call"]

/** Arguments in the form in which the handler gets them. */
interface Read {
  readonly tool: DecodingTool
  readonly args: unknown
  /** The result of decoding. With a synchronous decoder, this effect has already ended. */
  readonly decoded: Effect.Effect<unknown, ParseIssue>
  readonly mended?: ArgumentRepair.Mended | undefined
}

interface Self extends Options {
  readonly tools: Pick<RegistryService["tools"], "get">
  /** The stored arguments of calls. The key is the object with the parameters as the client sent them. */
  readonly remembered: WeakMap<JsonObject, Read>
  /** The functions that find unknown names, by the schema of the arguments. */
  readonly unknownIn: WeakMap<JsonObject, ArgumentNames.Find>
}

export const make = (tools: Self["tools"], { mendArguments, report, unknownArguments }: Options): ToolArguments => {
  const self: Self = {
    tools,
    mendArguments,
    unknownArguments,
    report,
    remembered: new WeakMap(),
    unknownIn: new WeakMap()
  }
  return {
    seen: (params) => seen(self, params),
    call: (tool, handler, params, sent) => {
      const read = rememberedOf(self, tool, sent) ?? readOf(self, tool, params.arguments ?? {})
      return called(self, read, handler, params.name, sent)
    }
  }
}

const seen = (self: Self, params: JsonObject | undefined): JsonObject | undefined => {
  const tool = typeof params?.name === "string" ? self.tools.get(params.name) : undefined
  if (params === undefined || tool === undefined || !decodes(tool) || !mends(self, tool)) return params
  const { arguments: args } = params
  if (!Predicate.isRecord(args)) return params
  return {
    ...params,
    get arguments() {
      return seenArguments(self, tool, args, params)
    }
  }
}

const seenArguments = (self: Self, tool: DecodingTool, args: unknown, sent: JsonObject): unknown => {
  const attempt = Either.try(() => rememberedOf(self, tool, sent) ?? readOf(self, tool, args))
  // A decoder that throws has a bug, which the call reports.
  if (Either.isLeft(attempt)) return args
  self.remembered.set(sent, attempt.right)
  return attempt.right.args
}

const rememberedOf = ({ remembered }: Self, tool: DecodingTool, sent: JsonObject | undefined): Read | undefined => {
  const read = sent && remembered.get(sent)
  return read?.tool === tool ? read : undefined
}

const mends = ({ mendArguments }: Self, tool: DecodingTool): boolean =>
  mendArguments !== false && tool.mendArguments !== false

const readOf = (self: Self, tool: DecodingTool, args: unknown): Read => {
  const decoded = tool.decode(args)
  const outcome = EffectInternals.outcome(decoded)
  return outcome !== undefined && Either.isLeft(outcome)
    ? mended(self, tool, args, outcome.left)
    : { tool, args, decoded }
}

/** Reads arguments that do not decode. An error describes the arguments as the client has sent them, not the repaired arguments. */
const mended = (self: Self, tool: DecodingTool, args: unknown, issue: ParseIssue): Read => {
  const refused: Read = { tool, args, decoded: EffectInternals.fromEither(Either.left(issue)) }
  const mended = mends(self, tool) ? ArgumentRepair.mend(tool.advertised.inputSchema, args) : undefined
  if (mended === undefined) return refused
  const decoded = tool.decode(mended.value)
  const outcome = EffectInternals.outcome(decoded)
  if (outcome === undefined) {
    return { tool, args: mended.value, decoded: Effect.mapError(decoded, () => issue), mended }
  }
  return Either.isLeft(outcome) ? refused : { tool, args: mended.value, decoded, mended }
}

const called = (
  self: Self,
  read: Read,
  handler: Handler,
  name: string,
  sent: JsonObject | undefined
): Called => {
  const { args, decoded, tool } = read
  const outcome = EffectInternals.outcome(decoded)
  if (outcome !== undefined) {
    return Either.isRight(outcome)
      ? run(self, read, handler, outcome.right, name, sent)
      : refuse(self, read, name, outcome.left)
  }
  return Effect.matchEffect(decoded, {
    onFailure: (issue) =>
      read.mended !== undefined || rememberedOf(self, tool, sent) !== undefined
        ? refuse(self, read, name, issue)
        : called(self, mended(self, tool, args, issue), handler, name, sent),
    onSuccess: (parameters) => run(self, read, handler, parameters, name, sent)
  })
}

/** Runs the handler. Before that, reports unknown names and repaired arguments. */
const run = (
  self: Self,
  read: Read,
  handler: Handler,
  parameters: unknown,
  name: string,
  sent: JsonObject | undefined
): Called => {
  const { args, mended, tool } = read
  const unknown = unknownOf(self, tool, args)
  if (mended === undefined && unknown === undefined) return handler(parameters, name)
  // Middleware may look at the arguments after the handler has ended.
  if (mended !== undefined && sent !== undefined) self.remembered.set(sent, read)
  const subject = HandlerName.tool(name)
  const refuses = unknown !== undefined && self.unknownArguments === "refuse"
  const reports = [
    ...(unknown === undefined ? [] : [Diagnostic.UnknownArguments({ subject, ...unknown })]),
    ...(mended === undefined || refuses
      ? []
      : [Diagnostic.Mended({ method: "tools/call", subject, count: mended.count, places: mended.places })])
  ]
  return Effect.zipRight(
    Effect.forEach(reports, self.report, { discard: true }),
    refuses ? refuse(self, read, name) : Effect.suspend(() => handler(parameters, name))
  )
}

/** Gives the unknown names in the arguments; `undefined` when there are none, and on a server that accepts unknown names. */
const unknownOf = (self: Self, { advertised: { inputSchema } }: DecodingTool, args: unknown) => {
  if (self.unknownArguments === "accept") return undefined
  let find = self.unknownIn.get(inputSchema)
  if (find === undefined) self.unknownIn.set(inputSchema, find = ArgumentNames.make(inputSchema))
  return find(args)
}

/**
 * Makes the result of a call whose arguments the server refuses. The result also names unknown arguments, because these are often the
 * reason.
 */
const refuse = (self: Self, { args, tool }: Read, name: string, issue?: ParseIssue): Called => {
  const unknown = unknownOf(self, tool, args)
  const what = `arguments for ${HandlerName.tool(name)}`
  const texts = [
    issue === undefined ? `Invalid ${what}` : ofIssue(issue, what).message,
    ...(unknown === undefined ? [] : [ArgumentNames.sentence(unknown)])
  ]
  // With every revision, the client gets a result and not an error, because a host shows its model the results of tools, but not errors.
  return Effect.succeed({
    content: [{ type: "text", text: texts.join(issue === undefined ? ": " : "; ") }],
    isError: true
  })
}
