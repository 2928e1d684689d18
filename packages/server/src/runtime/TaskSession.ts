/**
 * The `ServerSession` of a handler whose call may become a task. Until the task begins, everything is that of the request.
 * From then on questions belong to the task: it is `input_required` until the client has answered, in both eras, and the
 * handler waits. Notifications then leave outside of the request, where the revision lets them.
 *
 * Its mutable fields: `begun` is set when the task has begun, `questions` counts those that were asked in the task.
 */
import * as McpError from "@effect-mcp/protocol/McpError"
import * as Effect from "effect/Effect"
import type { Question } from "../Ask.js"
import * as Ask from "../Ask.js"
import type { AskError, ServerSessionService } from "../ServerSession.js"
import type { StoredTask, TaskQuestion } from "../TaskStore.js"
import type { StoredTasks } from "./StoredTasks.js"
import type { TaskDialect } from "./TaskDialect.js"

const inTasks = new WeakSet<ServerSessionService>()

/** Whether the handler that has this session runs in a task. */
export const isTask = (session: ServerSessionService): boolean => inTasks.has(session)

export class TaskSession {
  /** What the handler gets. */
  readonly service: ServerSessionService
  private begun: { readonly task: StoredTask; readonly after: ServerSessionService } | undefined
  private questions = 0

  constructor(
    request: ServerSessionService,
    private readonly dialect: TaskDialect,
    private readonly tasks: StoredTasks,
    /** Begins the task; does nothing when it has begun. */
    startTask: Effect.Effect<void, AskError>
  ) {
    const { asking } = this
    const start = { startTask }
    // A session has many members, and all but these are those of the request, or of what follows it.
    this.service = new Proxy(request, {
      get: (_, name) => {
        const own = this.begun === undefined ? start : asking
        return Reflect.get(name in own ? own : this.begun?.after ?? request, name)
      }
    })
  }

  get task(): StoredTask | undefined {
    return this.begun?.task
  }

  begin(task: StoredTask): void {
    this.begun = { task, after: this.dialect.detached(task) }
    inTasks.add(this.service)
  }

  private get asking(): Partial<ServerSessionService> {
    const one = <A>(question: Question<A>) => Effect.map(this.ask({ question }), ({ question }) => question as A)
    return {
      startTask: Effect.void,
      // Nothing is sent again in a task.
      round: undefined,
      ask:
        ((questions: Readonly<Record<string, Question<any>>>) =>
          Effect.suspend(() => this.ask(questions))) as ServerSessionService["ask"],
      elicit: (options: any): Effect.Effect<any, AskError> => Effect.suspend(() => one<any>(Ask.elicit(options))),
      elicitUrl: (options) => Effect.suspend(() => one(Ask.url(options))),
      createMessage: (params) => Effect.suspend(() => one(Ask.sample(params))),
      listRoots: Effect.suspend(() => one(Ask.roots))
    }
  }

  /** Asks all questions at once. Their keys are new in the task. */
  private ask(
    questions: Readonly<Record<string, Question<any>>>
  ): Effect.Effect<Readonly<Record<string, unknown>>, AskError> {
    const { dialect, task, tasks } = this
    const keyed = Object.entries(questions).map(([name, question]) =>
      ({ name, question, key: `${question.kind}-${++this.questions}` }) as const
    )
    return Effect.gen(function*() {
      const asked: Array<readonly [string, TaskQuestion]> = []
      for (const { key, question } of keyed) asked.push([key, yield* dialect.encode(question)])
      const answers = yield* tasks.ask(task!, Object.fromEntries(asked))
      const decoded: Array<readonly [string, unknown]> = []
      for (const { key, name, question } of keyed) {
        const answer = answers[key]!
        decoded.push([
          name,
          yield* ("error" in answer
            ? Effect.fail(McpError.fromWire(answer.error))
            : dialect.decode(question, answer.result))
        ])
      }
      return Object.fromEntries(decoded)
    })
  }
}
