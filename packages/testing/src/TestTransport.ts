/**
 * A pair of transports in memory that writes everything down and puts it to the oracle: what a client and a server say to
 * each other must be what the specification allows, in the revision they agreed on.
 *
 * A message that it does not allow ends the test: the scope's closing dies with every violation there was.
 *
 * @since 0.1.0
 */
import * as LineFraming from "@effect-mcp/jsonrpc/LineFraming"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Transport from "@effect-mcp/jsonrpc/Transport"
import * as Version from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as OfficialSchema from "./OfficialSchema.js"
import * as Transcript from "./Transcript.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Whether messages are put to the official schema. Default: true. */
  readonly oracle?: boolean | undefined
  /** Where messages are written down. */
  readonly transcript?: Transcript.Transcript | undefined
  /** How many messages may wait before `send` suspends. Default: 256. */
  readonly capacity?: number | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Pair {
  readonly client: Transport.Transport
  readonly server: Transport.Transport
  /** What was said that may not be said. */
  readonly violations: ReadonlyArray<string>
}

/**
 * Two ends that hand each other the text of their messages, as a wire would.
 *
 * @since 0.1.0
 * @category constructors
 */
export const pair = (options: Options = {}): Effect.Effect<Pair, never, Scope.Scope> =>
  Effect.gen(function*() {
    const [left, right] = yield* Transport.memory({ capacity: options.capacity })
    const judge = options.oracle === false ? undefined : yield* makeJudge
    const violations = judge?.violations ?? []
    if (judge !== undefined) {
      yield* Effect.addFinalizer(() =>
        violations.length === 0
          ? Effect.void
          : Effect.dieMessage(`The specification does not allow:\n${violations.join("\n")}`)
      )
    }
    const hear = (from: Transcript.Entry["from"]) => (message: Message.Message): void => {
      options.transcript?.add({ from, message })
      judge?.hear(from, message)
    }
    return {
      client: overWire(left, hear("client")),
      server: overWire(right, hear("server")),
      violations
    }
  })

// What has no text cannot be said, and what is said is what the text says: no `undefined`, no shared references.
const overWire = (transport: Transport.Transport, hear: (message: Message.Message) => void): Transport.Transport => {
  const say = (message: Message.Message): Message.Message | undefined => {
    const line = LineFraming.encode(message)
    if (line === undefined) return undefined
    const said = LineFraming.fromText(line)
    if (Message.isMalformed(said)) return message
    hear(said)
    return said
  }
  return {
    ...transport,
    send: (message) =>
      Effect.suspend(() => {
        const said = say(message)
        return said === undefined
          ? Effect.fail(new Transport.TransportError({ reason: "Encode", message: "The message has no JSON form" }))
          : transport.send(said)
      }),
    unsafeSend: (message) => {
      const said = say(message)
      return said !== undefined && transport.unsafeSend(said)
    }
  }
}

interface Judge {
  readonly hear: (from: Transcript.Entry["from"], message: Message.Message) => void
  readonly violations: Array<string>
}

const makeJudge: Effect.Effect<Judge> = Effect.gen(function*() {
  const oracles = new Map(
    yield* Effect.forEach(Version.all, (version) =>
      Effect.map(OfficialSchema.make(version), (oracle) => [version as string, oracle] as const))
  )
  const asked = { client: new Map<Message.RequestId, string>(), server: new Map<Message.RequestId, string>() }
  const violations: Array<string> = []
  let oracle = oracles.get(Version.latestLegacy)!
  return {
    violations,
    hear: (from, message) => {
      const problems = [oracle.message(message)]
      if (Message.isResponse(message)) {
        const asker = asked[from === "client" ? "server" : "client"]
        const method = message.id === undefined || message.id === null ? undefined : asker.get(message.id)
        if (method !== undefined && Message.isSuccess(message)) {
          if (method === "initialize") oracle = oracles.get(String(message.result.protocolVersion)) ?? oracle
          problems.push(oracle.result(method, message.result))
        }
      } else {
        if (Message.isRequest(message)) asked[from].set(message.id, message.method)
        problems.push(oracle.call(message))
      }
      for (const problem of problems) {
        if (problem !== undefined) violations.push(`${Transcript.line({ from, message })}\n    ${problem}`)
      }
    }
  }
})
