/**
 * Questions in the modern era: a question that has no answer yet ends the round. The handler is interrupted, its finalizers
 * run, and the request is answered with `input_required`. The client sends the request again with the answers, and the
 * handler runs again from its beginning. `RequestState` seals what the next round needs.
 *
 * A class with mutable fields, one for each request that may ask: `given` holds the answers of earlier rounds, `used` the keys
 * of this run, `asked` the questions that end this round. A round with questions has no other outcome.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/multi-round-trip-requests
 */
import { NoBackChannel } from "@effect-mcp/jsonrpc/LocalError"
import type { ClientCapabilities } from "@effect-mcp/protocol/Capabilities"
import * as Capabilities from "@effect-mcp/protocol/Capabilities"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as McpError from "@effect-mcp/protocol/McpError"
import type * as Method from "@effect-mcp/protocol/Method"
import * as InputRequired from "@effect-mcp/protocol/modern/InputRequired"
import * as ResultType from "@effect-mcp/protocol/modern/ResultType"
import * as Issue from "@effect-mcp/protocol/unstable/Issue"
import type { ModernVersion } from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import type { Question } from "../Ask.js"
import type { RoundOptions } from "../RoundOptions.js"
import * as Questions from "./Questions.js"
import * as RequestState from "./RequestState.js"

/** What all rounds of a server share. */
export interface Rounds {
  readonly state: RequestState.RequestState
  readonly max: number
}

/** The default of the number of rounds in which the handler of a request asks. */
export const MAX_ROUNDS = 10

export const make = (options: RoundOptions = {}): Rounds => ({
  state: RequestState.make(options),
  max: options.max ?? MAX_ROUNDS
})

/** What a round knows of its request. */
export interface Asker {
  readonly method: string
  readonly params: JsonObject | undefined
  readonly version: ModernVersion
  readonly clientCapabilities: ClientCapabilities
  readonly principal: { readonly id: string } | undefined
  /** The fiber of the request, which a question interrupts. */
  readonly fiber: Fiber.RuntimeFiber<unknown, unknown> | undefined
  /** Whether the handler has ended: then no question can be sent. */
  readonly hasEnded: boolean
}

/** A question, with the key that the application gave it. */
export type Keyed = readonly [key: string | undefined, question: Question<any>]

interface Given {
  /** The digest of the question; `undefined` for an answer that came without state. */
  readonly digest: string | undefined
  readonly answer: JsonObject
}

const methods = {
  elicit: InputRequired.elicit,
  sample: InputRequired.createMessage,
  roots: InputRequired.listRoots
} as const

export class Round {
  private readonly given = new Map<string, Given>()
  private readonly used = new Set<string>()
  private readonly asked = new Map<string, { readonly request: JsonObject; readonly digest: string }>()
  private rounds = 0
  private sealed: string | undefined

  constructor(private readonly shared: Rounds, private readonly asker: Asker) {}

  /** Whether the handler has asked a question that the client has not answered. */
  get hasQuestions(): boolean {
    return this.asked.size > 0
  }

  /** Takes the answers of earlier rounds from the parameters. Fails when their state cannot be opened. */
  resume(
    { inputResponses = {}, requestState }: {
      readonly inputResponses?: Readonly<Record<string, unknown>> | undefined
      readonly requestState?: string | undefined
    }
  ): Effect.Effect<void, McpError.InvalidParams> | undefined {
    if (requestState === undefined) {
      for (const [key, answer] of Object.entries(inputResponses)) {
        this.given.set(key, { digest: undefined, answer: answer as JsonObject })
      }
      return undefined
    }
    return Effect.map(this.shared.state.open(requestState, this.binding), ({ answers, asked, rounds }) => {
      this.rounds = rounds
      for (const [key, [digest, answer]] of Object.entries(answers)) this.given.set(key, { digest, answer })
      for (const [key, digest] of Object.entries(asked)) {
        // The responses to other keys are ignored.
        if (Object.hasOwn(inputResponses, key)) {
          this.given.set(key, { digest, answer: inputResponses[key] as JsonObject })
        }
      }
    })
  }

  /** The answers in the order of the questions. Questions without an answer end the round, all at once. */
  ask(questions: ReadonlyArray<Keyed>): Effect.Effect<ReadonlyArray<any>, McpError.McpError | NoBackChannel> {
    return Effect.withFiberRuntime((fiber) => {
      for (const [, question] of questions) {
        const error = this.refusal(question)
        if (error !== undefined) return Effect.fail(error)
      }
      const answered = questions.flatMap((keyed) => this.find(keyed))
      return answered.length === questions.length ? Effect.all(answered) : this.interrupt(fiber)
    })
  }

  /** The effect that seals the state, if there are questions. */
  get seal(): Effect.Effect<void> | undefined {
    if (!this.hasQuestions) return undefined
    const state: RequestState.State = {
      rounds: this.rounds + 1,
      asked: Object.fromEntries([...this.asked].map(([key, { digest }]) => [key, digest])),
      answers: Object.fromEntries(
        [...this.given].flatMap(([key, { answer, digest }]) => digest === undefined ? [] : [[key, [digest, answer]]])
      )
    }
    return Effect.map(this.shared.state.seal(state, this.binding), (sealed) => {
      this.sealed = sealed
    })
  }

  /** The result that sends the questions to the client. */
  get result(): InputRequired.InputRequiredResult {
    return {
      resultType: ResultType.INPUT_REQUIRED,
      inputRequests: Object.fromEntries(
        [...this.asked].map(([key, { request }]) => [key, request as InputRequired.InputRequest])
      ),
      requestState: this.sealed
    }
  }

  /** Why a question cannot be sent. */
  private refusal({ kind, problem, requires }: Question<any>): McpError.McpError | NoBackChannel | undefined {
    const { clientCapabilities, hasEnded, method } = this.asker
    const { name } = methods[kind]
    if (hasEnded || !InputRequired.mayRequireInput(method)) return new NoBackChannel({ method: name })
    const missing = Capabilities.missing(clientCapabilities, requires)
    if (missing !== undefined) return new McpError.MissingClientCapability({ required: missing })
    return problem === undefined
      ? undefined
      : new McpError.InternalError({ message: `"${name}" cannot be sent: ${problem}` })
  }

  /** The effect of the answer to a question; none when the question has to be sent. */
  private find([name, question]: Keyed): ReadonlyArray<Effect.Effect<any, McpError.McpError>> {
    const method = methods[question.kind] as Method.Request<string, JsonObject, unknown>
    // This era has no ids of elicitations.
    const { elicitationId: _, ...params } = method.narrowParams(this.asker.version)(question.params) as JsonObject
    const digest = Questions.digest(Questions.canonical([question.kind, params]))
    const key = this.unused(name ?? `${question.kind}-${digest}`)
    const given = this.given.get(key)
    // An answer to another question under the same key is not an answer to this one.
    if (given !== undefined && (given.digest === undefined || given.digest === digest)) {
      this.given.set(key, { ...given, digest })
      return [answerOf(key, question, method, given.answer)]
    }
    if (this.rounds >= this.shared.max) {
      const message = `The handler of "${this.asker.method}" asks in more than ${this.shared.max} rounds`
      return [Effect.fail(new McpError.InternalError({ message }))]
    }
    this.given.delete(key)
    this.asked.set(key, { request: { method: method.name, params }, digest })
    return []
  }

  private unused(key: string): string {
    let free = key
    for (let n = 2; this.used.has(free); n++) free = `${key}-${n}`
    this.used.add(free)
    return free
  }

  /**
   * Interrupts the request, and the fiber that asks. In an uninterruptible region the fiber goes on, as if the question had
   * been interrupted, and ends with the region: waiting would block it for ever.
   */
  private interrupt(asking: Fiber.RuntimeFiber<any, any>): Effect.Effect<never> {
    const { fiber } = this.asker
    fiber?.unsafeInterruptAsFork(FiberId.none)
    if (asking !== fiber) asking.unsafeInterruptAsFork(FiberId.none)
    return Effect.interrupt
  }

  /** What the state belongs to: the principal, the method, and the parameters that the client repeats. */
  private get binding(): string {
    const { method, params = {}, principal } = this.asker
    const { _meta, inputResponses: _, requestState: __, ...repeated } = params
    return Questions.canonical([principal?.id ?? null, method, repeated])
  }
}

const answerOf = (
  key: string,
  question: Question<any>,
  method: Method.Request<string, JsonObject, unknown>,
  answer: JsonObject
): Effect.Effect<any, McpError.McpError> => {
  const invalid = (why: string) =>
    new McpError.InvalidParams({
      message: `Invalid params: the response "${key}" is no answer to "${method.name}": ${why}`
    })
  const result = method.decodeResult(answer)
  return Either.isLeft(result)
    ? Effect.fail(invalid(Issue.sentence(result.left.issue)))
    : Effect.mapError(question.decode(result.right), invalid)
}
