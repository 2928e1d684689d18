/**
 * A pair of transports in memory that records all messages in a transcript and checks them against the official schema of
 * the revision that client and server have agreed on.
 *
 * A message that the schema does not allow fails the test: the closing of the scope dies with all violations.
 *
 * @since 0.1.0
 */
import * as LocalError from "@effect-mcp/jsonrpc/LocalError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as MessageText from "@effect-mcp/jsonrpc/MessageText"
import * as Transport from "@effect-mcp/jsonrpc/Transport"
import type * as Extension from "@effect-mcp/protocol/Extension"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Meta from "@effect-mcp/protocol/Meta"
import * as Version from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as OfficialSchema from "./OfficialSchema.js"
import * as Transcript from "./Transcript.js"

export interface Options {
  /** Which messages are checked against the official schema: all, none, or those of one side. Default: all. */
  readonly oracle?: boolean | Transcript.Entry["from"] | undefined
  /**
   * Extensions whose types of results are allowed. The official schema does not know them: of such a result it checks what
   * all results have in common. Default: none.
   */
  readonly extensions?: ReadonlyArray<Extension.Extension.Any> | undefined
  /** Records the messages. Default: they are not recorded. */
  readonly transcript?: Transcript.Transcript | undefined
  /** How many messages may wait before `send` suspends. Default: 256. */
  readonly capacity?: number | undefined
}

export interface Pair {
  readonly client: Transport.Transport
  readonly server: Transport.Transport
  /** The messages so far that the schema does not allow, each with the reason. */
  readonly violations: ReadonlyArray<string>
}

/** Two ends that exchange the JSON text of their messages, as a network would. */
export const pair = (options: Options = {}): Effect.Effect<Pair, never, Scope.Scope> =>
  Effect.gen(function*() {
    const [left, right] = yield* Transport.memory({ capacity: options.capacity })
    const check = options.oracle === false
      ? undefined
      : yield* makeCheck(options.oracle ?? true, options.extensions ?? [])
    const violations = check?.violations ?? []
    if (check !== undefined) {
      yield* Effect.addFinalizer(() =>
        violations.length === 0
          ? Effect.void
          : Effect.dieMessage(`The specification does not allow:\n${violations.join("\n")}`)
      )
    }
    const observe = (from: Transcript.Entry["from"]) => (sent: Message.Incoming, message: Message.Message): void => {
      options.transcript?.add({ from, message })
      check?.observe(from, sent, message)
    }
    return {
      client: asText(left, observe("client")),
      server: asText(right, observe("server")),
      violations
    }
  })

type Observe = (sent: Message.Incoming, message: Message.Message) => void

// The receiver gets what the text contains: no `undefined` and no shared references; text that is no message arrives as
// malformed. Messages are observed once the pair has accepted them, which is the order of their arrival.
const asText = (transport: Transport.Transport, observe: Observe): Transport.Transport => {
  const encode = (message: Message.Incoming): Message.Incoming | undefined => {
    if (Message.isMalformed(message)) return message
    const text = MessageText.stringify(message)
    return text === undefined ? undefined : MessageText.parse(text)
  }
  const accepted = (sent: Message.Incoming, message: Message.Message) =>
    observe(sent, Message.isMalformed(sent) ? message : sent)
  return {
    ...transport,
    send: (message) =>
      Effect.suspend(() => {
        const sent = encode(message)
        return sent === undefined
          ? Effect.fail(new LocalError.TransportError({ reason: "Encode", message: "The message has no JSON form" }))
          : Effect.map(transport.send(asSent(sent)), () => accepted(sent, message))
      }),
    unsafeSend: (message) => {
      const sent = encode(message)
      if (sent === undefined || !transport.unsafeSend(asSent(sent))) return false
      accepted(sent, message)
      return true
    }
  }
}

// The pair in memory also delivers malformed messages.
const asSent = (sent: Message.Incoming): Message.Message => sent as Message.Message

interface SchemaCheck {
  readonly observe: (from: Transcript.Entry["from"], sent: Message.Incoming, message: Message.Message) => void
  readonly violations: Array<string>
}

/** A request, and the schema that its response must conform to. */
interface Requested {
  readonly method: string
  schema: OfficialSchema.OfficialSchema
}

const makeCheck = (
  checked: true | Transcript.Entry["from"],
  extensions: ReadonlyArray<Extension.Extension.Any>
): Effect.Effect<SchemaCheck> =>
  Effect.gen(function*() {
    const schemas = new Map(
      yield* Effect.forEach(Version.all, (version) =>
        Effect.map(OfficialSchema.make(version), (schema) => [version as string, schema] as const))
    )
    const requested = {
      client: new Map<Message.RequestId, Requested>(),
      server: new Map<Message.RequestId, Requested>()
    }
    const violations: Array<string> = []
    const resultTypes = extensions.flatMap(({ results }) =>
      Object.values(results) as ReadonlyArray<Extension.ResultType>
    )
    const isExtended = (method: string, result: JsonObject): boolean =>
      resultTypes.some((one) => one.method === method && one.type === result.resultType)
    /** The schema of the handshake; before it, that of the last modern request. */
    let schema = schemas.get(Version.latestLegacy)!
    let initialized = false
    /** The schema of a call: the revision that its own envelope names, or that of the conversation. */
    const schemaOf = ({ method, params }: Message.Request | Message.Notification): OfficialSchema.OfficialSchema => {
      const meta = params?._meta as Record<string, unknown> | null | undefined
      const named = method === "initialize" ? undefined : schemas.get(String(meta?.[Meta.keys.protocolVersion]))
      if (named !== undefined && !initialized) {
        schema = named
      }
      return named ?? (meta?.[Meta.keys.subscriptionId] === undefined ? schema : schemas.get(Version.latestModern)!)
    }
    const problemsOf = (from: Transcript.Entry["from"], sent: Message.Incoming): ReadonlyArray<string | undefined> => {
      if (Message.isMalformed(sent)) {
        return [sent.message]
      }
      if (!Message.isResponse(sent)) {
        const schema = schemaOf(sent)
        if (Message.isRequest(sent)) {
          requested[from].set(sent.id, { method: sent.method, schema })
        }
        return [schema.message(sent), schema.call(sent)]
      }
      const requester = requested[from === "client" ? "server" : "client"]
      const request = sent.id === undefined || sent.id === null ? undefined : requester.get(sent.id)
      if (request === undefined || !Message.isSuccess(sent)) {
        return [(request?.schema ?? schema).message(sent)]
      }
      if (request.method === "initialize") {
        initialized = true
        request.schema = schema = schemas.get(String(sent.result.protocolVersion)) ?? schema
      }
      return [
        request.schema.message(sent),
        isExtended(request.method, sent.result)
          ? undefined
          : request.schema.result(request.method, sent.result)
      ]
    }
    return {
      violations,
      observe: (from, sent, message) => {
        for (const problem of problemsOf(from, sent)) {
          if (problem !== undefined && (checked === true || checked === from)) {
            violations.push(`${Transcript.line({ from, message })}\n    ${problem}`)
          }
        }
      }
    }
  })
