/**
 * JSON-RPC messages, transports and conversations on Effect.
 *
 * @since 0.1.0
 */
export * as Connector from "./Connector.js"
export * as Conversation from "./Conversation.js"
export * as Diagnostic from "./Diagnostic.js"
export * as Direct from "./Direct.js"
export * as JsonRpcError from "./JsonRpcError.js"
export * as LineFraming from "./LineFraming.js"
export * as LocalError from "./LocalError.js"
export * as Message from "./Message.js"
export * as MessageText from "./MessageText.js"
export * as Outbound from "./Outbound.js"
export * as Outcome from "./Outcome.js"
export * as Progress from "./Progress.js"
export * as Side from "./Side.js"
export * as Sse from "./Sse.js"
export * as Tap from "./Tap.js"
export * as Transport from "./Transport.js"
