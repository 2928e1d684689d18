/**
 * Runs a call for which the server may ask for input, for `ModernCalls`. When the server answers `input_required`, the client answers the
 * input requests with its features. Then it sends the request again, with the responses and with the unchanged state of the server. Each of
 * these requests is called a round.
 *
 * The features answer the input requests of one result at the same time, up to a limit. The time that the features need does not count for
 * `timeout`, but it counts for `maxTotalTimeout`. `modern/Connect` provides the function that calls the features. `TaskExtension` uses the
 * same options and limits for the questions of a task.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/multi-round-trip-requests
 */
import * as Effect from "effect/Effect"
import { TransportError } from "../../jsonrpc/LocalError.js"
import type { Params, RequestId } from "../../jsonrpc/Message.js"
import { all as concurrently } from "../../kit/Race.js"
import type { ExtensionTable } from "../../protocol/extension/ExtensionTable.js"
import type { McpError } from "../../protocol/McpError.js"
import * as InputRequired from "../../protocol/modern/InputRequired.js"
import * as ResultType from "../../protocol/modern/ResultType.js"
import * as Mend from "../../protocol/schema/Mend.js"
import { type ClientError, InputRefused, TooManyRounds } from "../ClientError.js"
import * as Decoding from "../session/Decoding.js"

/** The default of `maxRounds`. */
export const MAX_ROUNDS = 10

export interface Options {
  /** How many results of one call may ask for input. */
  readonly maxRounds: number
  /** How many input requests of one result are answered at the same time. The others wait. */
  readonly maxInFlight: number
  /** The types of results that extensions add, by method. */
  readonly resultTypes: ExtensionTable["resultTypes"]
  /**
   * Answers one input request with the feature for it. `key` is the key that the server has given to the input request. `call` is the id of
   * the call whose result has the input request.
   */
  readonly answer: (
    key: string,
    request: InputRequired.InputRequest,
    call: RequestId | undefined
  ) => Effect.Effect<unknown, McpError>
  readonly report: Decoding.Report
}

/**
 * Runs `send` until its result is complete, or has a type that an extension adds. Fails with `InputRefused` when a feature refuses to
 * answer, and with `TooManyRounds` when the server asks more than `maxRounds` times. `callOf` returns the id under which the call was sent
 * last.
 */
export const run = (
  { answer, maxInFlight, maxRounds, report, resultTypes }: Options,
  method: string,
  params: Params | undefined,
  send: (params: Params | undefined) => Effect.Effect<Params, ClientError>,
  callOf: () => RequestId | undefined
): Effect.Effect<Params, ClientError> => {
  const round = (now: Params | undefined, count: number): Effect.Effect<Params, ClientError> =>
    Effect.flatMap(send(now), (result) => {
      const { resultType } = result
      if (resultType === ResultType.COMPLETE || resultType === undefined) return Effect.succeed(result)
      if (resultType !== ResultType.INPUT_REQUIRED) {
        return resultTypes.get(method)?.has(resultType as string) === true
          ? Effect.succeed(result)
          : invalid(method, "the client does not know its \"resultType\"")
      }
      if (!InputRequired.methods.has(method)) return invalid(method, "a server must not ask for input for this method")
      if (countOf(result.inputRequests) > MAX_QUESTIONS) {
        return invalid(method, `it asks more than ${MAX_QUESTIONS} questions at once`)
      }
      const { requestState: given } = result
      // The server gets back the same state that it has sent, also when that state is not a text as it should be.
      const isText = typeof given === "string" || given === undefined || given === null
      return Effect.flatMap(
        Decoding.decodeOrFail(method, decode, isText ? result : { ...result, requestState: "" }, report),
        ({ inputRequests, requestState }) => answered(inputRequests, isText ? requestState : given, count)
      )
    })

  const answered = (
    inputRequests: InputRequired.InputRequiredResult["inputRequests"],
    requestState: unknown,
    count: number
  ): Effect.Effect<Params, ClientError> => {
    if (count > maxRounds) return Effect.fail(new TooManyRounds({ method, rounds: maxRounds }))
    const retry = (inputResponses: Params | undefined) =>
      round(
        {
          ...params,
          ...(inputResponses === undefined ? undefined : { inputResponses }),
          ...(requestState === undefined ? undefined : { requestState })
        },
        count + 1
      )
    if (inputRequests === undefined) return retry(undefined)
    const answers = Object.entries(inputRequests).map(([key, request]) =>
      Effect.mapBoth(answer(key, request, callOf()), {
        onFailure: (cause) => new InputRefused({ method, input: request.method, cause }),
        onSuccess: (response) => [key, response] as const
      })
    )
    return Effect.flatMap(concurrently(answers, maxInFlight), (responses) => retry(Object.fromEntries(responses)))
  }
  return round(params, 1)
}

/** How many input requests one result may have. They are decoded in one turn of the event loop. */
export const MAX_QUESTIONS = 1000

export const countOf = (inputRequests: unknown): number =>
  typeof inputRequests === "object" && inputRequests !== null ? Object.keys(inputRequests).length : 0

const decode = Mend.decoder(InputRequired.InputRequiredResult, "client")

const invalid = (method: string, why: string): Effect.Effect<never, TransportError> =>
  Effect.fail(new TransportError({ reason: "Decode", message: `The result of "${method}" is not valid: ${why}` }))
