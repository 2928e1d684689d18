/**
 * Detached tasks: tasks that go on when the process that began them ends. An engine outside of the server's processes runs the work of a
 * detached task, for example a workflow engine, or a queue with workers. This module tells the engine when the client answers a question or
 * cancels the task. The client's request may arrive at any node. The module also gives the engine functions to ask questions, to report
 * progress, and to store how the task ended.
 *
 * `make` attaches an engine to a server. `tool` makes a feature whose handler only starts the work. The package `@effect-mcp/workflow` uses
 * these two functions. The guide has a recipe for other engines.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Tool from "../definition/Tool.js"
import { JsonRpcError, METHOD_NOT_FOUND } from "../jsonrpc/JsonRpcError.js"
import * as EffectInternals from "../kit/EffectInternals.js"
import * as Capabilities from "../protocol/Capabilities.js"
import type { Implementation } from "../protocol/Implementation.js"
import * as McpError from "../protocol/McpError.js"
import * as Version from "../protocol/Version.js"
import type * as Ask from "./Ask.js"
import * as Build from "./dispatch/Build.js"
import * as ServerTasks from "./dispatch/ServerTasks.js"
import * as Feature from "./Feature.js"
import * as Tools from "./features/Tools.js"
import { Registry } from "./Registry.js"
import type { RequestContext } from "./RequestContext.js"
import type { TaskDialect } from "./runtime/TaskDialect.js"
import { type AskError, ServerSession } from "./ServerSession.js"
import type { Ended } from "./tasks/StoredTasks.js"
import { type StoredTask, type TaskOutcome, TaskStoreError } from "./TaskStore.js"

/**
 * Identifies a detached task, and contains the capabilities of its client. The reference is JSON, so an engine can store the reference with
 * the work. On a server without users, anyone who has the reference can read the task, answer its questions and cancel the task. When other
 * people can read the data that the engine stores, give the engine only a digest of `taskId`, and store the reference in a table of your
 * application.
 *
 * @category models
 */
export interface Reference extends Schema.Schema.Type<typeof Reference> {}

/** @category schemas */
export const Reference = Schema.Struct({
  taskId: Schema.String,
  /** The id of the user that the task belongs to; `null` for an anonymous user, and on a server without users. */
  owner: Schema.NullOr(Schema.String),
  /** The protocol revision of the call that became the task. */
  revision: Schema.Literal(...Version.all),
  /** The capabilities that the client of the call has declared. */
  capabilities: Capabilities.ClientCapabilities
})

/**
 * An engine, which runs the work of detached tasks. The server runs the effects `answered` and `stopped` at the node that received the
 * client's request.
 *
 * @category models
 */
export interface Engine<out R = never> {
  /** The name of the engine: the same at all nodes, and different for each engine of a server. */
  readonly name: string
  /**
   * Runs when the client has answered the questions with these keys. The server first checks the user and the user's scopes, then runs this
   * effect, and then stores the answers. When the node ends before it has stored the answers, the client gets no response, and can send its
   * answers again. So this effect may run more than once for a question. It may also run for an answer that the server then cannot store.
   * When this effect dies, the client gets an error.
   */
  readonly answered: (task: StoredTask, keys: ReadonlyArray<string>) => Effect.Effect<void, never, R>
  /**
   * Runs when the work of a task should stop: the client has cancelled the task, or the function `start` of the tool has failed. The server
   * first stores the end of the task. Then the server runs this effect, sometimes more than once. When this effect dies, the server only
   * logs the defect, because the engine can also learn from `changes` that the task has ended.
   */
  readonly stopped: (task: StoredTask) => Effect.Effect<void, never, R>
}

/**
 * The detached tasks of one engine. Each operation works at every node, also for tasks that began at another node. A task that has ended
 * never changes.
 *
 * @category models
 */
export interface DetachedTasks {
  /** The name of the engine. */
  readonly name: string
  /** The task; `None` when its time to live has passed. */
  readonly get: (reference: Reference) => Effect.Effect<Option.Option<StoredTask>, TaskStoreError>
  /** The task now, and then the task after each change. The stream ends when the time to live of the task has passed. */
  readonly changes: (reference: Reference) => Stream.Stream<StoredTask, TaskStoreError>
  /** Stores the first 1,000 characters of a status message for the client. Gives `false` when the task has ended. */
  readonly progress: (reference: Reference, message: string) => Effect.Effect<boolean, TaskStoreError>
  /**
   * Asks the client a question, under a key that no other question of the task has. The status of the task is `input_required` until the
   * client has answered. While the question or its answer is stored, a second call with its key changes nothing. Gives `false` when the
   * task has ended. Fails when the client lacks the capability.
   */
  readonly ask: (
    reference: Reference,
    key: string,
    question: Ask.Question<any>
  ) => Effect.Effect<boolean, TaskStoreError | McpError.McpError>
  /** The client's answer to the question with this key, as unchecked JSON. `None` when the client has not answered, and after `forget`. */
  readonly answer: (reference: Reference, key: string) => Effect.Effect<Option.Option<TaskOutcome>, TaskStoreError>
  /** Decodes the answer that the client has sent. Fails with `InvalidParams` when `answer` does not answer this question. */
  readonly decode: <A>(
    reference: Reference,
    key: string,
    question: Ask.Question<A>,
    answer: TaskOutcome
  ) => Effect.Effect<A, AskError>
  /** Removes the question with this key, and its answer. Gives `false` when the task has ended. */
  readonly forget: (reference: Reference, key: string) => Effect.Effect<boolean, TaskStoreError>
  /**
   * Stores how the task ended, in the form that the revision of its client requires. This effect stores only the first end of a task: later
   * calls give `false`. When `exit` is a defect, the client gets "Internal error", and the server logs the defect.
   */
  readonly end: <Name extends string, Parameters, Arguments, Success, Failure>(
    reference: Reference,
    tool: Tool.Tool<Name, Parameters, Arguments, Success, Failure>,
    exit: Exit.Exit<Tool.Returns<Success>, Failure | Feature.Fails>
  ) => Effect.Effect<boolean, TaskStoreError>
}

/**
 * Attaches an engine to a server until the scope closes. Run this effect in a feature of the server. The server also needs
 * `TasksServer.layer`.
 *
 * @category constructors
 */
export const make = <R>(
  engine: Engine<R>
): Effect.Effect<DetachedTasks, never, R | Registry | Scope.Scope> =>
  Effect.gen(function*() {
    const registry = yield* Registry
    const context = yield* Effect.context<R>()
    const found = yield* Effect.serviceOption(ServerTasks.Place)
    if (Option.isNone(found)) {
      return yield* Effect.dieMessage(
        `The engine "${engine.name}" was added to a running server: add it to the features of McpServer.layer`
      )
    }
    const place = found.value
    yield* place.attach(engine.name, {
      answered: (task, keys) => Effect.provide(engine.answered(task, keys), context),
      stopped: (task) => Effect.provide(engine.stopped(task), context)
    })
    const served = Effect.suspend(() => place.tasks === undefined ? noTasks : Effect.succeed(place.tasks))
    const stored = Effect.map(served, ({ runner }) => runner.tasks)
    const get: DetachedTasks["get"] = ({ owner, taskId }) =>
      Effect.flatMap(stored, ({ store }) => store.get(owner, taskId))
    return {
      name: engine.name,
      get,
      changes: ({ owner, taskId }) => Stream.unwrap(Effect.map(stored, ({ store }) => store.changes(owner, taskId))),
      progress: (reference, message) => Effect.flatMap(stored, (tasks) => tasks.progress(reference, message)),
      ask: (reference, key, question) =>
        Effect.gen(function*() {
          const tasks = yield* served
          const asked = yield* EffectInternals.fromEither(wordsOf(tasks, reference, place.info).encode(question))
          return yield* tasks.runner.tasks.askOnce(reference, key, asked)
        }),
      answer: (reference, key) =>
        Effect.map(
          get(reference),
          Option.flatMap(({ answers }) =>
            Object.hasOwn(answers, key) ? Option.fromNullable(answers[key]) : Option.none()
          )
        ),
      decode: (reference, key, question, answer) =>
        "error" in answer
          ? Effect.fail(McpError.fromWire(answer.error))
          : Effect.flatMap(
            Effect.orDie(served),
            (tasks) => wordsOf(tasks, reference, place.info).decode(question, answer.result, key)
          ),
      forget: (reference, key) => Effect.flatMap(stored, (tasks) => tasks.forget(reference, key)),
      end: (reference, tool, exit) =>
        Effect.gen(function*() {
          const tasks = yield* served
          const result = yield* Effect.exit(Tools.resultOf(tool, exit, registry, reference.revision))
          const ended = wordsOf(tasks, reference, place.info).ended(tool.name, result)
          return yield* tasks.runner.tasks.endOnce(reference, ended)
        })
    }
  })

/**
 * Makes a tool whose calls are detached tasks. The function `start` passes the work to the engine, and does not wait for the end of the
 * work. `start` runs one time for each call, during the request. When `start` succeeds, the client gets the task. When `start` fails, the
 * failure ends the task and answers the call. When the client cancels the request, or the server interrupts the request before the
 * response, the client never gets the task, and the server runs the engine's `stopped`.
 *
 * The definition needs `task: "required"`. A client that does not support tasks gets an error. Middleware around the tool gets the call
 * that starts the work, but not the result of the work. The limits of the `TaskStore` count detached tasks. The limit `maxRunning` of
 * `TasksServer.layerWith` does not count them.
 *
 * @category constructors
 */
export const tool = <const Name extends string, Parameters, Arguments, Success, Failure, E = never, R = never>(
  tasks: DetachedTasks,
  definition: Tool.Tool<Name, Parameters, Arguments, Success, Failure>,
  start: (
    parameters: NoInfer<Parameters>,
    reference: Reference
  ) => Effect.Effect<void, E, R> & Feature.Declared<E, NoInfer<Failure>>
): Feature.Feature<Exclude<R, RequestContext | Scope.Scope>> =>
  Feature.make((registry, context) => {
    const { advertised, name } = definition
    if (advertised.execution?.taskSupport !== "required") {
      return Effect.dieMessage(`The tool "${name}" runs only as a task: add task: "required" to its definition`)
    }
    const begin = Effect.fnUntraced(function*(parameters: Parameters) {
      const session = yield* ServerSession
      yield* session.startTask
      const { client, principal, taskId, version } = session
      if (taskId === undefined) return yield* Effect.fail(asTask(name))
      const reference = { taskId, owner: principal?.id ?? null, revision: version, capabilities: client.capabilities }
      return yield* start(parameters, reference)
    })
    return Build.registerTool(registry, Tools.detachedEntry(definition, tasks.name, begin, context, registry))
  })

/** The error for a client that does not call the tool as a task. */
const asTask = (name: string) =>
  new JsonRpcError({
    code: METHOD_NOT_FOUND,
    message: `Method not found: the tool "${name}" runs only as a task, and this call cannot become a task`
  })

const noTasks = Effect.fail(
  new TaskStoreError({ reason: "Unavailable", message: "The server runs no tasks: it needs `TasksServer.layer`" })
)

/** Encodes messages to the client, and decodes messages from the client, for the revision of the task. */
interface Words extends Pick<TaskDialect, "encode" | "decode"> {
  readonly ended: (tool: string, exit: Exit.Exit<unknown, unknown>) => Ended
}

const wordsOf = (
  { legacy, modern }: ServerTasks.ServerTasks,
  { capabilities, revision: version }: Reference,
  info: Implementation
): Words =>
  Version.isModern(version)
    ? {
      encode: (question) => modern.encode({ clientCapabilities: capabilities, version }, question),
      decode: modern.decode,
      ended: (tool, exit) => modern.ended({ info, version }, tool, exit)
    }
    : {
      encode: (question) => legacy.encode({ clientCapabilities: capabilities, version }, question),
      decode: legacy.decode,
      ended: (tool, exit) => legacy.ended({ version }, tool, exit)
    }
