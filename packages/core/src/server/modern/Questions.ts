/**
 * Asks questions with revision 2026-07-28. A question without an answer ends the round: it interrupts the handler, the finalizers of the
 * handler run, and the server answers the request with `input_required`. The client sends the request again with the answers, and the
 * handler runs again from its beginning. When the handler has ended, `Era` runs `seal` and sends `result`. `RequestState` encrypts
 * ("seals") the state for the next round.
 *
 * Each request that may ask questions has one object of this class, with mutable fields. `given` contains the answers of earlier rounds.
 * `used` contains the keys that this round has used. `asked` contains the questions that end this round. `passing` is the state that a
 * handler stores for the next round when it passes questions of another server on. When a round has questions or a `passing` state, the
 * server ignores the result of the handler.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/multi-round-trip-requests
 */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import { NoBackChannel } from "../../jsonrpc/LocalError.js"
import type { Params } from "../../jsonrpc/Message.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import * as Capabilities from "../../protocol/Capabilities.js"
import type { JsonObject } from "../../protocol/Json.js"
import * as McpError from "../../protocol/McpError.js"
import type * as Method from "../../protocol/Method.js"
import * as InputRequired from "../../protocol/modern/InputRequired.js"
import * as ResultType from "../../protocol/modern/ResultType.js"
import type { ModernVersion } from "../../protocol/Version.js"
import type { Question } from "../Ask.js"
import * as AdvertisedCapabilities from "../features/AdvertisedCapabilities.js"
import type { Keyed } from "../runtime/Asker.js"
import * as HandlerName from "../runtime/HandlerName.js"
import * as QuestionCapability from "../runtime/QuestionCapability.js"
import type { Server } from "../runtime/Server.js"
import type { PassedRound } from "../ServerSession.js"
import * as InputQuestion from "./InputQuestion.js"
import * as RequestState from "./RequestState.js"

/** The values that all rounds of a server share. */
export interface Rounds {
  readonly state: RequestState.RequestState
  readonly max: number
}

export const make = ({ limits, sealKeys }: Pick<Server, "limits" | "sealKeys">): Rounds => ({
  state: RequestState.make(sealKeys, limits.elicitationTimeout),
  max: limits.maxRounds
})

/** The part of a request's context that a round needs. */
interface Asking {
  /** The fiber of the request, which a question interrupts. */
  readonly fiber: Fiber.RuntimeFiber<any, any> | undefined
  readonly method: string
  readonly received: { readonly params?: Params | undefined }
  readonly principal: { readonly id: string } | undefined
  readonly facts: {
    readonly version: ModernVersion
    readonly clientCapabilities: Capabilities.ClientCapabilities
    /** Whether the handler has ended. After that, the handler can send no questions. */
    readonly hasEnded: boolean
  }
}

interface Given {
  /** The digest of the question; `undefined` for an answer that the client sent without a state. */
  readonly digest: string | undefined
  readonly answer: JsonObject
}

export class Round {
  private readonly given = new Map<string, Given>()
  private readonly used = new Set<string>()
  private readonly asked = new Map<string, { readonly request: JsonObject; readonly digest: string }>()
  /** The error when the state could not be sealed. The server answers the request with this error. */
  failure: McpError.InternalError | undefined
  private rounds = 0
  private sealed: string | undefined
  private passedState: string | undefined
  private responses: JsonObject | undefined
  private passing: string | undefined
  private bound: string | undefined

  constructor(private readonly shared: Rounds, private readonly session: Asking) {}

  /** Whether the round ends with unanswered questions, or with the state of a handler that passes questions on. */
  get hasQuestions(): boolean {
    return this.asked.size > 0 || this.passing !== undefined
  }

  /**
   * Reads the answers of earlier rounds from the parameters. Gives `undefined` when there is no state. The effect fails when the state
   * cannot be decrypted.
   */
  resume(
    { inputResponses = {}, requestState }: {
      readonly inputResponses?: Readonly<Record<string, unknown>> | undefined
      readonly requestState?: string | undefined
    }
  ): Effect.Effect<void, McpError.InternalError | McpError.InvalidParams> | undefined {
    this.responses = inputResponses
    if (requestState === undefined) {
      for (const [key, answer] of Object.entries(inputResponses)) {
        this.given.set(key, { digest: undefined, answer: answer as JsonObject })
      }
      return undefined
    }
    return Effect.map(this.shared.state.open(requestState, this.binding), ({ answers, asked, passed, rounds }) => {
      this.rounds = rounds
      this.passedState = passed
      this.responses = Object.fromEntries(Object.entries(inputResponses).filter(([key]) => Object.hasOwn(asked, key)))
      for (const [key, [digest, answer]] of Object.entries(answers)) this.given.set(key, { digest, answer })
      for (const [key, digest] of Object.entries(asked)) {
        // Ignores the responses with other keys.
        if (Object.hasOwn(inputResponses, key)) {
          this.given.set(key, { digest, answer: inputResponses[key] as JsonObject })
        }
      }
    })
  }

  /**
   * Gives the answers in the order of the questions. When some questions have no answer yet, ends the round with all of these questions.
   */
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

  /** The current round, for a handler that passes questions of another server on to the client. */
  get passed(): PassedRound {
    return {
      state: this.passedState,
      responses: this.responses,
      pass: (questions, state) => this.pass(questions, state)
    }
  }

  private pass(questions: Parameters<PassedRound["pass"]>[0], state: string): Effect.Effect<never, McpError.McpError> {
    return Effect.withFiberRuntime((fiber) => {
      if (this.rounds >= this.shared.max) return Effect.fail(this.tooManyRounds)
      const asked: Array<readonly [key: string, request: JsonObject]> = []
      for (const [key, { method: name, params = {} }] of Object.entries(questions)) {
        const method = InputRequired.inputMethods.get(name)
        if (method === undefined) {
          return Effect.fail(new McpError.MethodNotFound({ method: HandlerName.quotable(name) }))
        }
        const capability = QuestionCapability.of(name, params)
        if (!Capabilities.declares(this.session.facts.clientCapabilities, capability)) {
          return Effect.fail(
            new McpError.MissingClientCapability({ required: AdvertisedCapabilities.fromPath(capability) })
          )
        }
        const narrowed = InputQuestion.narrow(method as Method.Request, this.session.facts, params)
        asked.push([key, { method: name, params: narrowed }])
      }
      // Adds all questions or none. When one question cannot be sent, the handler goes on.
      for (const [key, request] of asked) this.asked.set(key, { request, digest: "" })
      this.passing = state
      return this.interrupt(fiber)
    })
  }

  /** An effect that encrypts the state for the next round; `undefined` when the round ends without questions. */
  get seal(): Effect.Effect<void> | undefined {
    if (!this.hasQuestions) return undefined
    const state: RequestState.State = {
      rounds: this.rounds + 1,
      asked: Object.fromEntries([...this.asked].map(([key, { digest }]) => [key, digest])),
      answers: Object.fromEntries(
        [...this.given].flatMap(([key, { answer, digest }]) => digest === undefined ? [] : [[key, [digest, answer]]])
      ),
      passed: this.passing
    }
    return Effect.match(this.shared.state.seal(state, this.binding), {
      onFailure: (error) => {
        this.failure = error
      },
      onSuccess: (sealed) => {
        this.sealed = sealed
      }
    })
  }

  /** The result that sends the questions to the client. */
  get result(): InputRequired.InputRequiredResult {
    return {
      resultType: ResultType.INPUT_REQUIRED,
      ...(this.asked.size === 0 ? undefined : {
        inputRequests: Object.fromEntries(
          [...this.asked].map(([key, { request }]) => [key, request as InputRequired.InputRequest])
        )
      }),
      requestState: this.sealed
    }
  }

  /** Gives the reason why a question cannot be sent; `undefined` when it can be sent. */
  private refusal(question: Question<any>): McpError.McpError | NoBackChannel | undefined {
    const { clientCapabilities, hasEnded } = this.session.facts
    return hasEnded || !InputRequired.methods.has(this.session.method)
      ? new NoBackChannel({ method: InputQuestion.methodOf(question).name })
      : InputQuestion.refusal(question, clientCapabilities)
  }

  /**
   * Gives a list with the effect that decodes the answer to a question. The list is empty when the client has not answered the question.
   */
  private find([name, question]: Keyed): ReadonlyArray<Effect.Effect<any, McpError.McpError>> {
    const method = InputQuestion.methodOf(question)
    const params = InputQuestion.narrow(method, this.session.facts, question.params)
    const digest = digestOf(canonical([question.kind, params]))
    const key = this.unused(name ?? `${question.kind}-${digest}`)
    const given = this.given.get(key)
    // Ignores an answer to a different question with the same key.
    if (given !== undefined && (given.digest === undefined || given.digest === digest)) {
      this.given.set(key, { ...given, digest })
      return [InputQuestion.answer(key, question, given.answer)]
    }
    if (this.rounds >= this.shared.max) {
      return [Effect.fail(this.tooManyRounds)]
    }
    this.given.delete(key)
    this.asked.set(key, { request: { method: method.name, params }, digest })
    return []
  }

  private get tooManyRounds(): McpError.McpError {
    const message = `The handler of "${this.session.method}" asks questions in more than ${this.shared.max} rounds`
    return new McpError.InternalError({ message })
  }

  private unused(key: string): string {
    let free = key
    for (let n = 2; this.used.has(free); n++) free = `${key}-${n}`
    this.used.add(free)
    return free
  }

  /**
   * Interrupts the request, and the fiber that asks. In an uninterruptible region, the call of the question ends as interrupted, and the
   * fiber ends at the end of the region. If the call waited for an answer instead, the fiber would wait forever. Before the interruption,
   * this effect yields, so that the other fibers of the handler can ask their questions in the same round.
   */
  private interrupt(asking: Fiber.RuntimeFiber<any, any>): Effect.Effect<never> {
    const { fiber } = this.session
    const interrupted = Effect.suspend(() => {
      if (fiber !== undefined) EffectInternals.interrupt(fiber)
      if (asking !== fiber) EffectInternals.interrupt(asking)
      return Effect.interrupt
    })
    return Effect.zipRight(Effect.yieldNow(), interrupted)
  }

  /**
   * Identifies the request that the state belongs to: by the principal, the method, and the parameters that the client repeats. Computed
   * once, because the parameters may be large.
   */
  private get binding(): string {
    const { method, principal, received: { params = {} } } = this.session
    const { _meta, inputResponses: _, requestState: __, ...repeated } = params
    return this.bound ??= canonical([principal?.id ?? null, method, repeated])
  }
}

/**
 * Makes a text that is equal for equal values, whatever the order of their members. The next round compares questions and requests with
 * this text. The text is JSON in which each object is a list of its names and values, sorted by name.
 */
const canonical = (value: unknown): string => JSON.stringify(ordered(value))

// Makes a list, because it takes more time to add many members to an object than to sort their names.
const ordered = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(ordered)
  const object = value as JsonObject
  const members: Array<unknown> = []
  for (const name of Object.keys(object).sort()) {
    if (object[name] !== undefined) members.push(name, ordered(object[name]))
  }
  return { members }
}

/** Makes a digest of a text, with 53 bits, as letters and digits. The digest distinguishes questions. It is not for security. */
const digestOf = (text: string): string => {
  let a = 0xdeadbeef
  let b = 0x41c6ce57
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    a = Math.imul(a ^ code, 2654435761)
    b = Math.imul(b ^ code, 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  return (4294967296 * (2097151 & b) + (a >>> 0)).toString(36)
}
