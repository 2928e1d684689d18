/**
 * Names what a handler serves, in words for the operator: `tool "search"`. `HandlerOutcome`, `Serve`, the modules of `features` and the
 * modules of both protocol eras use these words in error messages and in the log. The names in a request come from the client, so this
 * module shortens them and writes them as JSON strings.
 */
import type { Request } from "../../jsonrpc/Message.js"
import type { JsonObject } from "../../protocol/Json.js"

export const tool = (name: string): string => `tool ${quoted(name)}`

export const prompt = (name: string): string => `prompt ${quoted(name)}`

export const resource = (uri: string): string => `resource ${quoted(uri)}`

export const template = (uriTemplate: string): string => `resource template ${quoted(uriTemplate)}`

export const method = (name: string): string => quoted(name)

/** The name of the handler that completes an argument. `of` is the name of the prompt or resource template that has the argument. */
export const completer = (argument: string, of: string): string => `the completion of ${quoted(argument)} of ${of}`

/** The name of the handler of a request: the tool, prompt, resource or completion that its parameters name, otherwise its method. */
export const of = (
  { method: name, params }: { readonly method: string; readonly params?: Request["params"] | undefined }
): string => {
  switch (name) {
    case "tools/call":
      return tool(textOf(params?.name))
    case "prompts/get":
      return prompt(textOf(params?.name))
    case "resources/read":
      return resource(textOf(params?.uri))
    case "completion/complete": {
      const [argument, ref] = [objectOf(params?.argument), objectOf(params?.ref)]
      return completer(
        textOf(argument.name),
        ref.type === "ref/prompt" ? prompt(textOf(ref.name)) : template(textOf(ref.uri))
      )
    }
    default:
      return method(name)
  }
}

const MAX_NAME = 128

/** A name from a client as a message may repeat it: at most 128 characters. */
export const quotable = (name: string): string => name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name

const quoted = (name: string): string => JSON.stringify(quotable(name))

const textOf = (value: unknown): string => typeof value === "string" ? value : ""

const objectOf = (value: unknown): JsonObject => typeof value === "object" && value !== null ? value as JsonObject : {}
