/**
 * The server that all behaviours are tested with, over every transport: in the process of the test, or in one of its own.
 *
 * A test controls it by calling its tools, and observes its handlers through `Reports`, outside of the protocol.
 */
import * as Ask from "@effect-mcp/core/Ask"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as Feature from "@effect-mcp/core/Feature"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Prompt from "@effect-mcp/core/Prompt"
import * as Registry from "@effect-mcp/core/Registry"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Resource from "@effect-mcp/core/Resource"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as ToolResult from "@effect-mcp/core/ToolResult"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Contract from "./Contract.js"
import { Report } from "./Reports.js"

/** The session layer: a service for each client. */
class ClientCalls extends Context.Tag("test/behaviour/ClientCalls")<
  ClientCalls,
  { readonly name: string; readonly count: () => string }
>() {}

const session = Layer.scoped(
  ClientCalls,
  Effect.gen(function*() {
    const { client } = yield* RequestContext
    const report = yield* Report
    const name = client.info?.name ?? "?"
    yield* Effect.acquireRelease(report(`${name} opened`), () => report(`${name} closed`))
    let calls = 0
    return { name, count: () => `${name}: ${++calls}` }
  })
)

/** What the nodes of an application share: what handlers wait for, by key, and how often resources have changed. */
export class State extends Context.Tag("test/behaviour/State")<State, {
  readonly gate: (key: string) => Deferred.Deferred<void>
  changes: number
}>() {}

export const state = Layer.sync(State, () => {
  const gates = new Map<string, Deferred.Deferred<void>>()
  return {
    gate: (key) => {
      const gate = gates.get(key) ?? Deferred.unsafeMake<void>(FiberId.none)
      gates.set(key, gate)
      return gate
    },
    changes: 0
  }
})

const waiting = <R>(key: string, before: Effect.Effect<void, never, R>) =>
  Effect.gen(function*() {
    const report = yield* Report
    const { gate } = yield* State
    yield* Effect.onInterrupt(
      before.pipe(Effect.zipRight(report(`${key} began`)), Effect.zipRight(Deferred.await(gate(key)))),
      () => report(`${key} stopped`)
    )
    return `${key} was released`
  })

const progress = (n: number, total: number) =>
  Effect.flatMap(RequestContext, (request) => request.progress(n, { total, message: `step ${n}` }))

const toolFeatures = Layer.mergeAll(
  McpServer.tool(
    Contract.Add,
    ({ a, b }) => a + b > 1000 ? new Contract.TooLarge({ limit: 1000 }) : Effect.succeed({ sum: a + b })
  ),
  McpServer.tool(Contract.Rich, () =>
    Effect.succeed(
      ToolResult.text("text").pipe(
        ToolResult.concat(ToolResult.image(Uint8Array.of(1, 2, 3), "image/png")),
        ToolResult.concat(ToolResult.audio(Uint8Array.of(4, 5, 6), "audio/wav")),
        ToolResult.concat(ToolResult.link({ name: "text", uri: Contract.Text.uri, mimeType: "text/plain" })),
        ToolResult.concat(ToolResult.resource({ uri: "test://inside", mimeType: "text/plain", text: "inside" })),
        ToolResult.withMeta({ "example.com/kind": "rich" })
      )
    )),
  McpServer.tool(Contract.Steps, ({ to }) =>
    Effect.gen(function*() {
      for (let n = 1; n <= to; n++) yield* progress(n, to)
      return `${to} steps`
    })),
  McpServer.tool(Contract.Hold, ({ key }) => waiting(key, progress(1, 2))),
  McpServer.tool(
    Contract.Poll,
    ({ key }) => waiting(key, Effect.flatMap(RequestContext, ({ closeStream }) => closeStream))
  ),
  McpServer.tool(
    Contract.Release,
    ({ key }) => Effect.flatMap(State, ({ gate }) => Effect.asVoid(Deferred.succeed(gate(key), undefined)))
  ),
  McpServer.tool(Contract.Log, ({ levels }) =>
    Effect.gen(function*() {
      const request = yield* RequestContext
      for (const level of levels) yield* request.log(level, { value: level }, "behaviours")
    })),
  McpServer.tool(Contract.Die, ({ key }) => Effect.die(new Error(`${key}: the password is hunter2`))),
  McpServer.tool(Contract.Who, () =>
    Effect.map(RequestContext, ({ client: { info, sessionId }, version }) => ({
      name: info?.name ?? "?",
      version,
      inSession: sessionId !== undefined
    }))),
  McpServer.tool(Contract.Count, () => Effect.map(ClientCalls, ({ count }) => count())),
  McpServer.tool(Contract.Route, ({ region }) =>
    Effect.map(RequestContext, ({ headers }) => ({
      region,
      headers: Object.entries(headers).flatMap(([name, value]) =>
        name.startsWith("mcp-param-") ? [`${name}: ${value}`] : []
      ).sort()
    }))),
  McpServer.tool(Contract.Large, ({ length }) => Effect.sync(() => "x".repeat(length)))
)

/** Features that are added and removed while the server runs. */
const changingFeatures = Layer.unwrapEffect(Effect.sync(() => {
  const offered = new Map<string, Scope.CloseableScope>()
  const crowd: Array<Scope.CloseableScope> = []
  const more = {
    tool: (name: string) => McpServer.tool(Tool.make(name), () => Effect.succeed(name)),
    resource: (name: string) =>
      McpServer.resource(Resource.make(name, { uri: `test://${name}` }), Effect.succeed(name)),
    prompt: (name: string) => McpServer.prompt(Prompt.make(name), () => Effect.succeed(name))
  }
  return Layer.mergeAll(
    McpServer.tool(Contract.Offer, ({ kind, name }) =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        yield* Effect.orDie(Scope.extend(Registry.add(more[kind](name)), scope))
        offered.set(name, scope)
      })),
    McpServer.tool(Contract.Crowd, ({ names }) =>
      Effect.gen(function*() {
        for (const scope of crowd.splice(0)) yield* Scope.close(scope, Exit.void)
        for (const name of names) {
          const scope = yield* Scope.make()
          yield* Effect.orDie(Scope.extend(Registry.add(more.tool(name)), scope))
          crowd.push(scope)
        }
      }).pipe(Registry.batch)),
    McpServer.tool(
      Contract.Withdraw,
      ({ name }) => Scope.close(offered.get(name)!, Exit.void)
    ),
    McpServer.resource(Contract.Watched, Effect.map(State, ({ changes }) => `version ${changes}`)),
    McpServer.tool(Contract.Touch, () =>
      Effect.flatMap(State, (state) => {
        state.changes++
        return Effect.forEach([Contract.Watched, Contract.Kept], ({ uri }) => McpServer.resourceUpdated(uri), {
          discard: true
        })
      }))
  )
}))

const Profile = Schema.Struct({
  name: Schema.String.annotations({ description: "What to call you" }),
  size: Schema.optionalWith(Schema.Literal("small", "large"), { default: () => "small" as const }),
  count: Schema.optionalWith(Schema.Int, { default: () => 3 })
})

const Answer = Schema.Struct({ name: Schema.String })

/** The ways in which the code around a question could swallow it. Each gives the answers to the questions. */
const ways: Readonly<
  Record<
    typeof Contract.Way.Type,
    <E, R>(
      ask: (message: string) => Effect.Effect<string, E, R>,
      questions: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<string>, E, R | Scope.Scope>
  >
> = {
  "plain": (ask, questions) => Effect.forEach(questions, ask),
  "catchAllCause": (ask, questions) =>
    Effect.forEach(questions, (one) => Effect.catchAllCause(ask(one), () => Effect.succeed("swallowed"))),
  "exit": (ask, questions) =>
    Effect.forEach(questions, (one) => Effect.map(Effect.exit(ask(one)), Exit.getOrElse(() => "swallowed"))),
  "option": (ask, questions) =>
    Effect.forEach(questions, (one) => Effect.map(Effect.option(ask(one)), Option.getOrElse(() => "swallowed"))),
  "ignore": (ask, questions) => {
    const answers: Array<string> = []
    return Effect.as(
      Effect.ignore(Effect.forEach(questions, (one) => Effect.map(ask(one), (answer) => answers.push(answer)))),
      answers
    )
  },
  "retry": (ask, questions) => Effect.forEach(questions, (one) => Effect.retry(ask(one), { times: 3 })),
  "timeout": (ask, questions) => Effect.forEach(questions, (one) => Effect.orDie(Effect.timeout(ask(one), "1 minute"))),
  "race": (ask, questions) => Effect.forEach(questions, (one) => Effect.race(ask(one), Effect.never)),
  "uninterruptible": (ask, questions) => Effect.uninterruptible(Effect.forEach(questions, ask)),
  "uninterruptible and catchAllCause": (ask, questions) =>
    Effect.forEach(
      questions,
      (one) => Effect.uninterruptible(Effect.catchAllCause(ask(one), () => Effect.succeed("swallowed")))
    ),
  "acquire": (ask, questions) => Effect.forEach(questions, (one) => Effect.acquireRelease(ask(one), () => Effect.void)),
  "forked": (ask, questions) => Effect.forEach(questions, (one) => Effect.flatMap(Effect.fork(ask(one)), Fiber.join)),
  "forked in the scope": (ask, questions) =>
    Effect.forEach(questions, (one) => Effect.flatMap(Effect.forkScoped(ask(one)), Fiber.join)),
  "concurrent": (ask, questions) => Effect.forEach(questions, ask, { concurrency: "unbounded" }),
  "one by one": (ask, questions) => Effect.forEach(questions, ask)
}

const requestingFeatures = Layer.mergeAll(
  McpServer.tool(Contract.Ask, ({ key, questions, way }) =>
    Effect.gen(function*() {
      const report = yield* Report
      const session = yield* ServerSession
      yield* Effect.addFinalizer(() => report(`${key} finalized`))
      const ask = (message: string) =>
        Effect.map(
          session.elicit({ message, schema: Answer }),
          (reply) => reply.action === "accept" ? reply.content.name : reply.action
        )
      const answers = yield* ways[way](ask, questions)
      yield* report(`${key} acted`)
      return answers.join(" ")
    })),
  McpServer.tool(Contract.Sample, ({ prompt }) =>
    Effect.gen(function*() {
      const session = yield* ServerSession
      const { content, model } = yield* session.createMessage({
        messages: [{ role: "user", content: { type: "text", text: prompt } }],
        maxTokens: 10
      })
      return `${model}: ${"text" in content ? content.text : "?"}`
    })),
  McpServer.tool(Contract.Form, () =>
    Effect.gen(function*() {
      const session = yield* ServerSession
      return JSON.stringify(yield* session.elicit({ message: "Who are you?", schema: Profile }))
    })),
  McpServer.tool(Contract.Page, ({ id }) =>
    Effect.gen(function*() {
      const session = yield* ServerSession
      const action = yield* session.elicit({
        message: "Please sign in",
        url: `https://example.com/${id}`,
        elicitationId: id
      })
      if (action === "accept") yield* session.elicitationComplete(id)
      return action
    })),
  McpServer.tool(Contract.Roots, () =>
    Effect.gen(function*() {
      const session = yield* ServerSession
      return (yield* session.listRoots).map(({ name, uri }) => `${name ?? "?"} ${uri}`).join("\n")
    })),
  McpServer.tool(Contract.Interview, () =>
    Effect.gen(function*() {
      const session = yield* ServerSession
      const [root] = yield* session.listRoots
      const { content } = yield* session.createMessage({
        messages: [{ role: "user", content: { type: "text", text: `Name ${root?.uri}` } }],
        maxTokens: 10
      })
      const message = `Is it ${"text" in content ? content.text : "?"}?`
      const answers = yield* session.ask({
        profile: Ask.elicit({ message, schema: Profile }),
        page: Ask.url({ message, url: "https://example.com/page", elicitationId: "page" })
      })
      return JSON.stringify({ message, ...answers })
    }))
)

const askForName = Effect.gen(function*() {
  const session = yield* ServerSession
  const answer = yield* session.elicit({ message: "Who reads?", schema: Profile })
  return answer.action === "accept" ? answer.content.name : "an unknown person"
})

const readFeatures = Layer.mergeAll(
  McpServer.resource(Contract.Text, Effect.succeed("ä€😀")),
  McpServer.resource(Contract.Bytes, Effect.succeed(Uint8Array.of(0, 1, 254, 255))),
  McpServer.resourceTemplate(Contract.Item, ({ id }) => Effect.succeed(JSON.stringify({ id })), {
    complete: { id: (value) => Effect.succeed(["1", "12", "123", "2"].filter((one) => one.startsWith(value))) }
  }),
  McpServer.resource(Contract.Asked, Effect.map(askForName, (name) => `Read by ${name}`)),
  McpServer.resource(
    Contract.Kept,
    Effect.flatMap(Report, (report) => Effect.as(report("read test://kept"), "Keep it")),
    { cache: { ttl: "1 hour" } }
  ),
  McpServer.prompt(Contract.AskFor, () => Effect.map(askForName, (name) => `Greet ${name}.`)),
  McpServer.prompt(Contract.Plain, () => Effect.succeed("Say something.")),
  McpServer.prompt(
    Contract.Greet,
    ({ name, tone }) => Effect.succeed([Prompt.user(`Greet ${name}.`), Prompt.assistant(`In a ${tone} way?`)]),
    {
      complete: {
        name: (value, { tone = "no" }) => Effect.succeed([`${value}a in ${tone} tone`, `${value}b in ${tone} tone`])
      }
    }
  )
)

class Visitor extends Context.Tag("test/behaviour/Visitor")<Visitor, string>() {}

/** Features that only some requests see, inside of middleware that uses the session. */
const secretFeatures = Layer.mergeAll(
  McpServer.tool(Contract.Secret, () => Visitor),
  McpServer.resource(Contract.SecretText, Visitor),
  McpServer.resourceTemplate(Contract.SecretItem, () => Visitor, {
    complete: { id: () => Effect.map(Visitor, (visitor) => [visitor]) }
  }),
  McpServer.prompt(Contract.SecretPrompt, () => Visitor)
).pipe(
  Feature.visible(Effect.map(RequestContext, ({ meta }) => "example.com/show" in meta)),
  Feature.provide(
    Visitor,
    Effect.map(Effect.all([RequestContext, ClientCalls]), ([{ method }, { name }]) => `${method} by ${name}`)
  )
)

/** Logs become reports. */
const logsAsReports = Layer.unwrapEffect(Effect.map(Report, (report) =>
  Logger.replace(
    Logger.defaultLogger,
    Logger.map(Logger.stringLogger, (line) => Effect.runSync(report(line)))
  )))

/** One node of the application. */
export const node: Layer.Layer<Dispatcher, never, Report | State> = McpServer.layer(
  Contract.info,
  Layer.mergeAll(toolFeatures, changingFeatures, requestingFeatures, readFeatures, secretFeatures),
  { instructions: Contract.instructions, limits: { pageSize: Contract.PAGE }, session }
).pipe(Layer.provide(logsAsReports))

export const layer: Layer.Layer<Dispatcher, never, Report> = Layer.provide(node, state)
