/**
 * What a server learns when a model did not answer: a plain sentence. The details are the operator's: requests to a provider
 * carry addresses and sometimes text of other conversations, so they are logged and not sent.
 */
import type { AiError } from "@effect/ai/AiError"
import { InternalError } from "@effect-mcp/protocol/McpError"

export const toMcpError = (error: AiError): InternalError => new InternalError({ message: sentence(error) })

const sentence = (error: AiError): string => {
  switch (error._tag) {
    case "HttpRequestError":
      return error.reason === "Transport"
        ? "The model of this client could not be reached; try again later"
        : "The request to the model of this client could not be sent"
    case "HttpResponseError":
      return error.reason === "StatusCode" ? ofStatus(error.response.status) : UNREADABLE
    case "MalformedInput":
      return "The model of this client does not accept these messages"
    case "MalformedOutput":
      return UNREADABLE
    case "UnknownError":
      return "The model of this client failed"
  }
}

const UNREADABLE = "The model of this client gave an answer that could not be read"

const ofStatus = (status: number): string =>
  status === 429
    ? "The model of this client has too many requests at the moment; try again later"
    : status === 401 || status === 402 || status === 403
    ? "This client may not use its model at the moment"
    : status === 408 || status === 504
    ? "The model of this client did not answer in time; try again later"
    : status === 413
    ? "The messages are too long for the model of this client"
    : status < 500
    ? "The model of this client does not accept these messages"
    : "The provider of this client's model has a fault; try again later"
