/**
 * A pair of transports in memory that writes everything down and puts it to the oracle: what a client and a server say to
 * each other must be what the specification allows, in the revision they agreed on.
 *
 * A message that it does not allow ends the test: the scope's closing dies with every violation there was.
 *
 * @since 0.1.0
 */
import * as LocalError from "@effect-mcp/jsonrpc/LocalError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as MessageText from "@effect-mcp/jsonrpc/MessageText"
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
  /** Whether messages are put to the official schema: those of both sides, or of one. Default: true. */
  readonly oracle?: boolean | Transcript.Entry["from"] | undefined
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
    const judge = options.oracle === false ? undefined : yield* makeJudge(options.oracle ?? true)
    const violations = judge?.violations ?? []
    if (judge !== undefined) {
      yield* Effect.addFinalizer(() =>
        violations.length === 0
          ? Effect.void
          : Effect.dieMessage(`The specification does not allow:\n${violations.join("\n")}`)
      )
    }
    const hear = (from: Transcript.Entry["from"]) => (said: Message.Incoming, message: Message.Message): void => {
      options.transcript?.add({ from, message })
      judge?.hear(from, said, message)
    }
    return {
      client: overWire(left, hear("client")),
      server: overWire(right, hear("server")),
      violations
    }
  })

type Hear = (said: Message.Incoming, message: Message.Message) => void

// What has no text cannot be said, and what is said is what the text says: no `undefined`, no shared references, and what
// is no message arrives as a malformed one. It is heard when it was taken in: that is the order in which it arrives.
const overWire = (transport: Transport.Transport, hear: Hear): Transport.Transport => {
  const say = (message: Message.Incoming): Message.Incoming | undefined => {
    if (Message.isMalformed(message)) return message
    const text = MessageText.stringify(message)
    return text === undefined ? undefined : MessageText.parse(text)
  }
  const taken = (said: Message.Incoming, message: Message.Message) =>
    hear(said, Message.isMalformed(said) ? message : said)
  return {
    ...transport,
    send: (message) =>
      Effect.suspend(() => {
        const said = say(message)
        return said === undefined
          ? Effect.fail(new LocalError.TransportError({ reason: "Encode", message: "The message has no JSON form" }))
          : Effect.map(transport.send(asSent(said)), () => taken(said, message))
      }),
    unsafeSend: (message) => {
      const said = say(message)
      if (said === undefined || !transport.unsafeSend(asSent(said))) return false
      taken(said, message)
      return true
    }
  }
}

// The pair in memory delivers what it is given.
const asSent = (said: Message.Incoming): Message.Message => said as Message.Message

interface Judge {
  readonly hear: (from: Transcript.Entry["from"], said: Message.Incoming, message: Message.Message) => void
  readonly violations: Array<string>
}

const makeJudge = (whose: true | Transcript.Entry["from"]): Effect.Effect<Judge> =>
  Effect.gen(function*() {
    const oracles = new Map(
      yield* Effect.forEach(Version.all, (version) =>
        Effect.map(OfficialSchema.make(version), (oracle) => [version as string, oracle] as const))
    )
    const asked = { client: new Map<Message.RequestId, string>(), server: new Map<Message.RequestId, string>() }
    const violations: Array<string> = []
    let oracle = oracles.get(Version.latestLegacy)!
    const problemsOf = (from: Transcript.Entry["from"], said: Message.Incoming): ReadonlyArray<string | undefined> => {
      if (Message.isMalformed(said)) {
        return [said.message]
      }
      if (!Message.isResponse(said)) {
        if (Message.isRequest(said)) {
          asked[from].set(said.id, said.method)
        }
        return [oracle.message(said), oracle.call(said)]
      }
      const asker = asked[from === "client" ? "server" : "client"]
      const method = said.id === undefined || said.id === null ? undefined : asker.get(said.id)
      if (method === undefined || !Message.isSuccess(said)) {
        return [oracle.message(said)]
      }
      if (method === "initialize") {
        oracle = oracles.get(String(said.result.protocolVersion)) ?? oracle
      }
      return [oracle.message(said), oracle.result(method, said.result)]
    }
    return {
      violations,
      hear: (from, said, message) => {
        for (const problem of problemsOf(from, said)) {
          if (problem !== undefined && (whose === true || whose === from)) {
            violations.push(`${Transcript.line({ from, message })}\n    ${problem}`)
          }
        }
      }
    }
  })
