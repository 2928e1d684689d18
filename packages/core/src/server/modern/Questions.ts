/**
 * Questions in the modern era (revision 2026-07-28). A question without an answer ends the round: the handler is interrupted, its
 * finalizers run, and the request is answered with `input_required`. The client sends the request again with the answers, and the handler
 * runs again from its beginning. When the handler has ended, `Era` runs `seal` and sends `result`. `RequestState` encrypts ("seals") what
 * the next round needs.
 *
 * A class with mutable fields, one object for each request that may ask. `given` has the answers of earlier rounds. `used` has the keys
 * that this round has used. `asked` has the questions that end this round. `passing` is the state of a handler that passes the questions of
 * another server on. A round with questions, or with such a state, has no other outcome.
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

/** What all rounds of a server share. */
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
    /** Whether the handler has ended. After that no question can be sent. */
    readonly hasEnded: boolean
  }
}

interface Given {
  /** The digest of the question; `undefined` for an answer that came without a state. */
  readonly digest: string | undefined
  readonly answer: JsonObject
}

export class Round {
  private readonly given = new Map<string, Given>()
  private readonly used = new Set<string>()
  private readonly asked = new Map<string, { readonly request: JsonObject; readonly digest: string }>()
  /** Why the state could not be sealed. The request is answered with this error. */
  failure: McpError.InternalError | undefined
  private rounds = 0
  private sealed: string | undefined
  private passedState: string | undefined
  private responses: JsonObject | undefined
  private passing: string | undefined
  private bound: string | undefined

  constructor(private readonly shared: Rounds, private readonly session: Asking) {}

  /** Whether the round ends with questions that the client has not answered, or with a state that the handler passes on. */
  get hasQuestions(): boolean {
    return this.asked.size > 0 || this.passing !== undefined
  }

  /**
   * Takes the answers of earlier rounds from the parameters. Gives `undefined` when there is no state to open. The effect fails when the
   * state cannot be opened.
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
        // The responses to other keys are ignored.
        if (Object.hasOwn(inputResponses, key)) {
          this.given.set(key, { digest, answer: inputResponses[key] as JsonObject })
        }
      }
    })
  }

  /** The answers in the order of the questions. When questions have no answer yet, the round ends with all of these questions at once. */
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

  /** The round, for a handler that passes the questions of another server on. */
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
      // Adds all questions or none: where one question cannot be sent, the handler goes on.
      for (const [key, request] of asked) this.asked.set(key, { request, digest: "" })
      this.passing = state
      return this.interrupt(fiber)
    })
  }

  /** The effect that seals the state; `undefined` when the round ends without questions. */
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

  /** The reason why a question cannot be sent; `undefined` when it can be sent. */
  private refusal(question: Question<any>): McpError.McpError | NoBackChannel | undefined {
    const { clientCapabilities, hasEnded } = this.session.facts
    return hasEnded || !InputRequired.methods.has(this.session.method)
      ? new NoBackChannel({ method: InputQuestion.methodOf(question).name })
      : InputQuestion.refusal(question, clientCapabilities)
  }

  /** The effect that gives the answer to a question; an empty list when the question has to be sent. */
  private find([name, question]: Keyed): ReadonlyArray<Effect.Effect<any, McpError.McpError>> {
    const method = InputQuestion.methodOf(question)
    const params = InputQuestion.narrow(method, this.session.facts, question.params)
    const digest = digestOf(canonical([question.kind, params]))
    const key = this.unused(name ?? `${question.kind}-${digest}`)
    const given = this.given.get(key)
    // An answer that was given to a different question under the same key does not count.
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
    const message = `The handler of "${this.session.method}" asks in more than ${this.shared.max} rounds`
    return new McpError.InternalError({ message })
  }

  private unused(key: string): string {
    let free = key
    for (let n = 2; this.used.has(free); n++) free = `${key}-${n}`
    this.used.add(free)
    return free
  }

  /**
   * Interrupts the request, and the fiber that asks. In an uninterruptible region the fiber goes on as if the question had been
   * interrupted, and ends with the region. Waiting instead would block the fiber forever.
   */
  private interrupt(asking: Fiber.RuntimeFiber<any, any>): Effect.Effect<never> {
    const { fiber } = this.session
    if (fiber !== undefined) EffectInternals.interrupt(fiber)
    if (asking !== fiber) EffectInternals.interrupt(asking)
    return Effect.interrupt
  }

  /**
   * Names what the state belongs to: the principal, the method, and the parameters that the client repeats. It is made once, because the
   * parameters may be as large as a message.
   */
  private get binding(): string {
    const { method, principal, received: { params = {} } } = this.session
    const { _meta, inputResponses: _, requestState: __, ...repeated } = params
    return this.bound ??= canonical([principal?.id ?? null, method, repeated])
  }
}

/**
 * The text by which the next round recognises a question or a request, whatever the order of the members. It is the JSON of the value,
 * where each object is written as the list of its names and values, in the order of the names.
 */
const canonical = (value: unknown): string => JSON.stringify(ordered(value))

// A list, because adding many members to an object takes several times as long as sorting their names.
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

/** A digest of 53 bits of a text, as letters and digits. It tells questions apart, and protects nothing. */
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
